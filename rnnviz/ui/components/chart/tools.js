// The tools of a chart, folded behind three dots: they take no room from the picture, and keys reach them.

import { button, element, set } from "../cursor.js";

export class Tools {
  // acts: zoom, whole, pin, save(format) and words, what a press does.
  constructor(acts) {
    this.element = element("details", { class: "rnn-menu" });
    this.summary = element("summary", { "aria-label": "Tools of this chart", title: "Zoom, pin, save" });
    this.summary.textContent = "⋯";
    this.list = element("div", { class: "rnn-tools" });
    this.zoom = this.add("Zoom by dragging", acts.zoom);
    this.add("Whole picture", acts.whole);
    this.pin = this.add("Pin these curves", acts.pin);
    for (const format of ["png", "svg", "csv"]) this[format] = this.add(`Save ${format.toUpperCase()}`, () => acts.save(format));
    this.add("In words", acts.words);
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

export function rename(tool, text) {
  tool.textContent = text;
  set(tool, { "aria-label": text, title: text });
}
