// The controls under a drawing: what moves its cursor, without the pointer on the drawing.

import { button, element, keys, set, written } from "./cursor.js";

// The controls of a cursor: play, step both ways, a slider and a number box a dimension, speed.
export class Bar {
  constructor(cursor) {
    this.cursor = cursor;
    this.element = element("div", { class: "rnn-bar", role: "group", "aria-label": "Cursor" });
    this.rows = new Map();
  }

  // The bar that a drawing has from now on: the one it had, another one for another cursor, none without dims.
  static kept(bar, cursor, dims) {
    if (bar && (!dims || bar.cursor !== cursor)) bar.element.remove(), (bar = null);
    if (!dims) return null;
    bar ??= new Bar(cursor);
    bar.set(dims);
    return bar;
  }

  // dims: their names, the one that plays first.
  set(dims) {
    if (dims.join() === [...this.rows.keys()].join()) return;
    this.rows.clear();
    this.element.replaceChildren();
    const { cursor } = this;
    dims.forEach((dim, place) => {
      const first = place === 0;
      if (first) {
        this.play = button("▶", "Play", () => (cursor.playing ? cursor.pause() : cursor.play(dim)));
        this.play.classList.add("rnn-play");
        const back = button("‹", "One step back", () => (cursor.pause(), cursor.move(dim, -1)));
        const on = button("›", "One step on", () => (cursor.pause(), cursor.move(dim, 1)));
        this.element.append(this.play, back, on);
      }
      const row = element("span", { class: "rnn-row" });
      const name = element("span", { class: "rnn-dim" });
      const slide = element("input", { type: "range", class: "rnn-slide" });
      const box = element("input", { type: "number", class: "rnn-box" });
      slide.addEventListener("input", () => (cursor.pause(), cursor.choose(dim, Number(slide.value))));
      slide.addEventListener("keydown", (event) => (first || event.key !== " ") && keys(cursor, event, dim));
      box.addEventListener("change", () => {
        const span = cursor.span(dim);
        if (box.value !== "") cursor.pause(), cursor.choose(dim, Number(box.value) / span.factor);
        box.value = written(cursor.chosen[dim], span);
      });
      this.rows.set(dim, { name, slide, box });
      row.append(name, slide, box);
      if (first) this.element.append(this.speeds());
      this.element.append(row);
    });
  }

  speeds() {
    const choice = element("select", { class: "rnn-speed", "aria-label": "Speed" });
    for (const [text, speed] of [["½×", 0.5], ["1×", 1], ["2×", 2]]) {
      const option = element("option", { value: speed });
      option.textContent = text;
      choice.append(option);
    }
    choice.value = this.cursor.speed;
    choice.addEventListener("change", () => (this.cursor.speed = Number(choice.value)));
    return choice;
  }

  // said: what the drawing shows at the cursor, in words, for who does not see it.
  show(said) {
    const { cursor } = this;
    for (const [dim, { name, slide, box }] of this.rows) {
      const span = cursor.span(dim);
      if (!span) continue;
      const { low, high, grid, label } = span;
      const says = written(cursor.chosen[dim], span);
      set(slide, { min: low, max: high, step: grid, "aria-label": label });
      const [least, most, step] = [low, high, grid].map((value) => written(value, span));
      set(box, { min: least, max: most, step, "aria-label": label });
      slide.value = cursor.chosen[dim];
      if (document.activeElement !== box) box.value = says;
      set(slide, { "aria-valuetext": `${label} ${says}${said ? `: ${said}` : ""}` });
      if (name.textContent !== label) name.textContent = label;
    }
    if (!this.play) return;
    const again = cursor.route !== null && cursor.ended(cursor.route.dim);
    const [sign, does] = cursor.playing !== null ? ["❚❚", "Pause"] : again ? ["↻", "Play again"] : ["▶", "Play"];
    if (this.play.textContent === sign) return;
    this.play.textContent = sign;
    set(this.play, { "aria-label": does, title: does });
  }
}
