// What can be done with a drawing, folded behind three dots: it takes no room from the picture, and keys reach it.

import { button, element, style } from "./cursor.js";

export class Menu {
  // label: what it is the menu of; title: what it can do.
  constructor(label, title) {
    style(import.meta.url, "menu.css");
    this.element = element("details", { class: "rnn-menu" });
    this.summary = element("summary", { "aria-label": label, title });
    this.summary.textContent = "⋯";
    this.list = element("div", { class: "rnn-tools" });
    this.element.append(this.summary, this.list);
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && (this.close(), this.summary.focus()));
    this.element.addEventListener("focusout", ({ relatedTarget: next }) => next && !this.element.contains(next) && this.close());
  }

  add(text, act) {
    const tool = button(text, text, () => (this.close(), act()));
    this.list.append(tool);
    return tool;
  }

  close() {
    this.element.open = false;
  }
}
