// Draws a cell as SVG with live numbers: folded, unrolled, or one unit of an LSTM or a GRU (figures/diagrams.py).
//
// layout.js says what stands where; View keeps the nodes and, at each step of the cursor, changes texts and colours alone.

import { Bar } from "../bar.js";
import { button, clamp, element, group, keys, set, style } from "../cursor.js";
import { digits } from "../numbers.js";
import { unpack } from "../payload.js";
import { saver } from "../picture.js";
import { make, rect } from "../svg.js";
import { Equation } from "./equation.js";
import { arrange, DEEP, ends, lineAt, slide, TITLES, under, units } from "./layout.js";
import { MARKS, paint, Stack } from "./marks.js";
import { exact, numbers, palette, readout, short } from "./values.js";

let drawings = 0;

class View {
  constructor(parent) {
    style(import.meta.url, "cell.css");
    style(import.meta.url, "../cursor.css");
    this.root = element("div", { class: "rnn-cell" });
    this.stage = element("div", { class: "rnn-stage", role: "group", tabindex: 0 });
    this.svg = make(this.stage, "svg", { role: "img" });
    this.said = element("p", { class: "rnn-said", "aria-live": "off" });
    this.key = element("p", { class: "rnn-key" });
    this.weights = element("div", { class: "rnn-weights" });
    this.equation = new Equation();
    this.menu = saver(() => this.svg, () => this.model.name);
    this.foot = element("div", { class: "rnn-foot" });
    this.root.append(this.stage, this.equation.element, this.said, this.key, this.weights, this.foot);
    parent.append(this.root);
    this.listen();
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.root);
  }

  listen() {
    const { svg, stage } = this;
    const choose = ({ end, ...at }) => {
      this.cursor.pause();
      for (const [dim, value] of Object.entries(end === undefined ? at : { step: end })) this.cursor.choose(dim, value);
    };
    stage.addEventListener("keydown", (event) => keys(this.cursor, event, "step", "unit"));
    svg.addEventListener("pointerdown", (event) => {
      const { weight } = event.target.closest("[data-weight]")?.dataset ?? {};
      if (weight) return this.hold(weight);
      this.touched = event.pointerType === "touch" ? this.over(event) : null; // a finger may be about to scroll
      this.pressed = event.button === 0 && !this.touched;
      if (this.pressed) choose(this.over(event));
    });
    svg.addEventListener("pointerup", () => this.touched && choose(this.touched));
    svg.addEventListener("pointermove", (event) => {
      const over = this.over(event);
      this.light(event.target.closest("[data-weight]")?.dataset.weight);
      this.cursor.hover(over.end === undefined && Object.keys(over).length ? over : null);
      if (this.pressed && over.end === undefined) choose(over);
      this.tell(over);
    });
    for (const gone of ["pointerup", "pointercancel", "pointerleave"]) {
      svg.addEventListener(gone, () => {
        this.pressed = false;
        if (gone !== "pointerup") this.light(), this.cursor.hover(null);
      });
    }
    this.weights.append("The same at every step:");
    for (const [weight, reads] of [["x", "input"], ["h", "last state"]]) {
      const one = button("W", `W ${weight}, for the ${reads}: lights up wherever it stands`, () => this.hold(`W_${weight}`));
      const index = element("sub");
      index.textContent = weight;
      one.append(index);
      for (const on of ["pointerenter", "focus"]) one.addEventListener(on, () => this.light(`W_${weight}`));
      for (const off of ["pointerleave", "blur"]) one.addEventListener(off, () => this.light());
      this.weights.append(one);
    }
  }

  over(event) {
    if (!this.layout) return {};
    const box = this.svg.getBoundingClientRect();
    return under(this.layout, this.start, event.clientX - box.left, event.clientY - box.top);
  }

  // A line of a strip is too small for its number: the exact one stands in its title.
  tell({ step = this.shown?.t, unit }) {
    if (!this.layout) return;
    const stack = this.layout.window ? this.columns[step % this.columns.length]?.stack : this.stack;
    if (!stack?.title || !unit || !stack.row) return;
    stack.title.textContent = `unit ${unit}: ${exact(stack.row[unit - 1])}`;
  }

  // A weight that was clicked stays lit, until it is clicked again.
  hold(weight) {
    this.cursor.held = this.cursor.held === weight ? "" : weight;
    this.light();
  }

  // The same weight in all drawings of the group.
  light(weight = this.cursor.held ?? "") {
    for (const one of this.cursor.members.keys()) one.lit?.(weight);
  }

  lit(weight) {
    set(this.root, { "data-lit": weight });
  }

  set(model) {
    this.model = model;
    this.shades = palette(model.colors);
    const { size } = units(model, 0, 0, DEEP, true);
    this.key.textContent = model.key + (size > 1 ? ` A line is the mean of up to ${size} units.` : "");
    this.weights.hidden = !["folded", "unrolled"].includes(model.kind) || Boolean(model.softmax);
    this.said.hidden = Boolean(model.softmax || model.equation); // they say it themselves
    this.equation.element.hidden = !model.equation;
    if (model.equation) this.equation.set(model);
    set(this.stage, { "aria-label": `${TITLES[model.kind]}: arrow keys choose step and unit` });
    const joined = group(model.group);
    if (joined !== this.cursor) this.out?.();
    this.cursor = joined;
    const { step, unit } = model.at;
    this.out = this.cursor.join(this, { token: model.token, dims: {
      step: { low: 1, high: model.steps, stride: 1, at: step, label: "step" },
      unit: { low: 1, high: model.hidden, stride: 1, at: unit, label: "unit" },
    } });
    this.bar = Bar.kept(this.bar, this.cursor, model.bar ? (model.hidden > 1 ? ["step", "unit"] : ["step"]) : null);
    if (this.bar && !this.bar.element.parentElement) this.foot.append(this.bar.element);
    (this.bar || this.weights.hidden ? this.foot : this.weights).append(this.menu.element); // it needs no line of its own
    this.layout = null; // it was the last model's; without a width there is none until there is one
    this.width = 0;
    this.fit();
  }

  fit() {
    const width = this.root.clientWidth;
    if (!this.model || !width || width === this.width) return;
    this.width = width;
    const layout = arrange(this.model, width);
    const drawn = JSON.stringify([layout, this.model.colors]);
    this.layout = layout;
    if (drawn !== this.drawn) this.build(layout);
    // room for the longest readout, so that nothing below moves with the step
    const longest = layout.window || this.model.kind === "folded" ? 60 : 120;
    this.said.style.minHeight = `${1.4 * Math.ceil((longest * 8) / width)}em`;
    this.drawn = drawn;
    for (const place of this.places.values()) place.value = undefined;
    for (const column of this.columns) column.step = null, column.stack.forget();
    this.stack?.forget();
    this.show(this.cursor.chosen, this.cursor.hovered);
  }

  build(layout) {
    const { svg, model } = this;
    const { width, height, marks, units: u, window: shown } = layout;
    this.hatch ??= `rnn-hatch-${++drawings}`;
    const context = { hatch: this.hatch, colors: model.colors };
    svg.replaceChildren();
    set(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    const tile = { width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
    const pattern = make(make(svg, "defs"), "pattern", { id: this.hatch, ...tile });
    make(pattern, "rect", { width: 1.5, height: 6, fill: model.colors.ink, "fill-opacity": 0.3 });
    this.places = new Map();
    for (const mark of marks) MARKS[mark.type](svg, mark, this.places, context);
    this.start = 0;
    this.stack = u && !shown ? new Stack(svg, u, context) : null;
    if (shown) {
      [this.stripe, this.band] = ["rnn-stripe", "rnn-band"].map((name) => make(svg, "rect", { class: name, rx: 6 }));
    }
    this.columns = Array.from({ length: shown?.count ?? 0 }, () => {
      const [held, places] = [make(svg, "g"), new Map()];
      for (const mark of layout.column) MARKS[mark.type](held, mark, places, context);
      return { held, places, stack: new Stack(held, u, context), step: null };
    });
    if (shown) {
      this.ends = [[8, "start"], [width - 8, "end"]].map(([x, anchor]) =>
        make(svg, "text", { x, y: 18, "text-anchor": anchor, class: "rnn-end" }));
      this.more = make(svg, "path", { d: shown.more, class: "rnn-wire" });
      this.around = make(svg, "rect", { class: "rnn-frame", rx: 5 });
    }
    this.frame = u ? make(svg, "rect", { class: "rnn-frame", rx: 3 }) : null;
  }

  show(chosen, hovered) {
    const { model, layout, shades } = this;
    if (!layout) return;
    const at = { ...chosen, ...hovered };
    const t = clamp(at.step, 1, model.steps);
    const unit = clamp(at.unit, 1, model.hidden);
    this.shown = { t, unit };
    for (const [name, value] of Object.entries(numbers(model, t, unit))) {
      const place = this.places.get(name);
      if (place) paint(place, value, name === "stay" || model.shares.includes(name) ? 1 : model.scale, shades, digits);
    }
    this.read(this.places.get("x"), t);
    this.stack?.paint(model.values[layout.units.name ?? "h"][t], model.scale, shades);
    const left = layout.window ? this.follow(t, hovered?.step !== undefined) : 0;
    if (this.frame) this.mark(unit, left);
    if (model.equation) this.equation.show(t, unit);
    const said = readout(model, t, unit);
    if (this.said.textContent !== said) this.said.textContent = said;
    set(this.svg, { "aria-label": `${model.alt} At ${said}.` });
    this.bar?.show(said);
  }

  read(place, t) {
    const label = this.model.labels[t - 1];
    if (!place || place.value === label) return;
    place.value = label;
    if (place.alone) set(place.node, { class: [...label].length > 2 ? "" : "rnn-letter" }); // a number is smaller
    place.node.textContent = short(label);
    place.title.textContent = label;
  }

  // The window goes with the cursor, a column keeps its step as long as it is in it; the answer is where step t stands.
  follow(t, hovered) {
    const { layout, model, columns } = this;
    const { left, pitch, count, total } = layout.window;
    const margin = hovered || this.pressed ? 0 : Math.min(1, Math.floor((count - 1) / 2));
    this.start = slide(this.start, count, total, t, margin);
    for (let step = this.start; step < this.start + count; step++) {
      const column = columns[step % count];
      set(column.held, { transform: `translate(${left + (step - this.start) * pitch})`, "data-step": step });
      if (column.step === step) continue;
      column.step = step;
      set(column.places.get("only").node, { visibility: step ? "visible" : "hidden" });
      for (const name of ["h", "x"]) column.places.get(`step ${name}`).node.textContent = step;
      set(column.places.get("step x").all, { visibility: step ? "visible" : "hidden" });
      if (step) this.read(column.places.get("x"), step);
      column.stack.paint(model.values.h[step], model.scale, this.shades);
      if (step && model.softmax) this.spell(column.places, step);
    }
    ends(this.start, layout.window).forEach((words, k) => (this.ends[k].textContent = words));
    set(this.more, { visibility: this.start + count < total ? "visible" : "hidden" });
    return left + (t - this.start) * pitch;
  }

  spell(places, step) {
    const { softmax, nudge, twins } = this.model;
    places.get("softmax").paint(softmax, step);
    places.get("meter")?.paint(nudge, step);
    set(places.get("twin"), { visibility: twins.includes(step) ? "inherit" : "hidden" });
  }

  // Frames around the chosen step and unit.
  mark(unit, left) {
    const { layout } = this;
    const u = layout.units;
    const box = lineAt(u, Math.floor((unit - 1) / u.size));
    set(this.frame, rect({ ...box, x: box.x + left, h: Math.max(box.h, 4) }));
    if (!layout.window) return;
    const { pitch, count } = layout.window;
    const tall = u.lines * u.each;
    set(this.around, rect({ x: left + (pitch - u.across) / 2 - 4, y: u.y - 4, w: u.across + 8, h: tall + 8 }));
    set(this.stripe, rect({ x: left, y: 24, w: pitch, h: layout.height - 24 }));
    set(this.band, rect({ x: layout.window.left, y: box.y, w: count * pitch, h: Math.max(box.h, 4) }));
  }

  leave() {
    this.observer.disconnect();
    this.out?.();
    this.root.remove();
  }
}

const views = new WeakMap();

// Called again at each change of data or theme. The theme's colours are the style sheet's.
export function draw({ data, parentElement }) {
  const view = views.get(parentElement) ?? new View(parentElement);
  views.set(parentElement, view);
  if (view.data === data) return;
  view.data = data;
  view.set(unpack(data));
}

export function leave(parentElement) {
  views.get(parentElement)?.leave();
  views.delete(parentElement);
}
