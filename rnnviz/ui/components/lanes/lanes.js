// Draws two networks of a recorded race: lanes of cells with the light that reaches back, loss and reach over training,
// and what both answer (figures/home.py). All snapshots are here: no move of the cursor asks the server for anything.
//
// layout.js says what stands where, values.js what it says; View keeps the nodes and changes texts, colours and places.

import { Bar } from "../bar.js";
import { element, group, keys, set, style } from "../cursor.js";
import { unpack } from "../payload.js";
import { saver } from "../picture.js";
import { make, rect } from "../svg.js";
import { arrange, down, middle } from "./layout.js";
import { cells as row, star } from "./nodes.js";
import { listen } from "./pointer.js";
import { Tour } from "./tour.js";
import { left, light, numbers, path, snapshot, spoken, stage, truth, two, verdict } from "./values.js";

const SPEECH = 1000; // milliseconds of rest, before the sentence that follows the cursor is spoken
const NEAR = 50; // pixels within which a tick makes way for the cursor's own value
const THREAD = "2 5";

let drawings = 0;

class View {
  constructor(parent) {
    style(import.meta.url, "lanes.css");
    style(import.meta.url, "../cursor.css");
    this.root = element("div", { class: "rnn-lanes" });
    this.stage = element("div", { class: "rnn-ground", role: "group", tabindex: 0 });
    set(this.stage, { "aria-label": "Arrow keys: left and right for the training step, up and down for the first number" });
    this.svg = make(this.stage, "svg", { role: "img" });
    this.verdict = element("p", { class: "verdict" });
    this.status = element("div", { class: "rnn-quiet", role: "status" });
    this.foot = element("div", { class: "rnn-foot" });
    this.menu = saver(() => this.svg, () => "home");
    this.root.append(this.stage, this.foot, this.verdict, this.status);
    parent.append(this.root);
    this.gone = new AbortController();
    this.tour = new Tour();
    this.clip = `rnn-clip-${++drawings}`;
    listen(this);
    this.stage.addEventListener("keydown", (event) => keys(this.cursor, event, "training", "number", true));
    for (const come of ["pointerover", "focusin"]) {
      document.addEventListener(come, (event) => this.keep(event), { signal: this.gone.signal });
    }
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.root);
  }

  // Streamlit sends the address as the server last wrote it, so what was chosen since then is told when it is about to
  // be kept: once, as the pointer or the focus comes to Keep.
  keep({ target }) {
    if (!this.cursor?.own.size || !target.closest?.(`.st-key-${this.model.group}_keep`)) return;
    const at = { token: this.model.token, ...this.cursor.chosen };
    if (JSON.stringify(at) === this.kept) return;
    this.kept = JSON.stringify(at);
    this.write?.("at", at);
  }

  set(model) {
    this.model = model;
    const joined = group(model.group);
    if (joined !== this.cursor) this.out?.();
    this.cursor = joined;
    this.out = joined.join(this, { token: model.token, dims: model.dims });
    this.bar = Bar.kept(this.bar, joined, Object.keys(model.dims));
    if (!this.bar.element.parentElement) this.foot.append(this.bar.element, this.menu.element);
    joined.route = model.tour;
    this.width = 0;
    this.fit();
    this.tour.start(joined, this.root);
  }

  fit() {
    const width = this.root.clientWidth;
    if (!this.model || !width || width === this.width) return;
    this.width = width;
    this.layout = arrange(this.model, Math.max(300, Math.floor(width)));
    this.build();
    this.shown = null;
    this.show(this.cursor.chosen);
  }

  build() {
    const { svg, layout, model } = this;
    const { width, height, plots, cells, strip, pill } = layout;
    svg.replaceChildren();
    set(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    const clip = make(make(svg, "defs"), "clipPath", { id: this.clip });
    make(clip, "rect", { x: plots.loss.x, y: plots.loss.y, width: plots.loss.w, height: plots.loss.h });
    this.threads = model.marks.map((step) => layout.middles.map(() =>
      make(svg, "line", { x1: middle(cells, step), x2: middle(cells, step), y1: strip, class: "rnn-thread" })));
    this.lanes = model.lanes.map(({ name }, n) => this.lane(name, layout.middles[n]));
    for (const step of model.marks) star(svg, middle(cells, step), strip, model.colors.reach);
    make(svg, "rect", { ...rect(pill), rx: 14, class: "rnn-pill", stroke: model.colors.reach, "data-grab": "mark" });
    for (const [sign, x] of [["◂", pill.x + 13], ["▸", pill.x + pill.w - 13]]) {
      make(svg, "text", { x, y: strip + 5, "text-anchor": "middle", "font-size": 16 }, sign);
    }
    this.charts();
    this.texts = new Map();
    this.ticks = [];
    for (const one of layout.texts) {
      const attributes = { x: one.x ?? 0, y: one.y, "text-anchor": one.anchor, "font-size": one.size };
      const node = make(svg, "text", { ...attributes, ...(one.bold && { class: "rnn-bold" }) }, one.words ?? "");
      if (one.id) this.texts.set(one.id, node), set(node, { "data-id": one.id });
      if (one.under) this.ticks.push({ ...one, node });
    }
    this.texts.get("edge").textContent = `▲ ${two(Math.max(...model.lanes.map(({ loss }) => loss[0])))}`;
    this.longest();
  }

  lane(name, y) {
    const { x, pitch, half } = this.layout.cells;
    const held = make(this.svg, "g", { class: "rnn-lane", "stroke-width": pitch < 5 ? 0.75 : 1.5 });
    const title = make(held, "title");
    make(held, "rect", { x, y: y - half, width: pitch * this.model.T, height: 2 * half, class: "rnn-hit" });
    const nodes = row(held, this.layout.cells, this.model.T);
    return { name, y, held, title, nodes, lights: [], shares: [] };
  }

  charts() {
    const { svg, model, layout: { plots, samples, knob } } = this;
    const { loss, reach, answers } = plots;
    const { grey } = model.colors;
    const dashes = (lane) => ({ stroke: lane.color, "stroke-dasharray": lane.dashed ? "2 4" : "none" });
    for (const { x, y, w, h } of Object.values(plots)) make(svg, "path", { d: `M${x} ${y}v${h}h${w}`, class: "rnn-axis" });
    for (const [plot, value] of [[loss, model.baseline], [reach, model.lag]]) {
      const y = down(plot, value);
      make(svg, "path", { d: `M${plot.x} ${y}h${plot.w}`, class: "rnn-level", stroke: grey });
    }
    for (const { x, y, w, lane } of samples) {
      const level = { class: "rnn-level", stroke: grey };
      const look = lane === null ? level : { class: "rnn-curve", ...dashes(model.lanes[lane]) };
      make(svg, "path", { d: `M${x} ${y}h${w}`, ...look });
    }
    this.across = {
      training: (step) => loss.x + (step / model.steps.at(-1)) * loss.w,
      number: (v) => answers.x + (v / (model.values.length - 1)) * answers.w,
    };
    const xs = Array.from(model.steps, this.across.training);
    const far = (steps) => (steps < 0 ? model.T : steps);
    // values above the loss's range are cut off, not drawn along its edge
    const free = (value) => loss.y + loss.h * (1 - (value - loss.low) / (loss.high - loss.low));
    const vs = Array.from(model.values, (_, v) => this.across.number(v));
    const truth = Array.from(model.values, (value) => down(answers, value + model.second_number));
    make(svg, "path", { d: path(vs, truth), class: "rnn-level", stroke: grey });
    this.answers = [];
    this.dots = [];
    for (const lane of model.lanes) {
      const look = { class: "rnn-curve", ...dashes(lane) };
      make(svg, "path", { ...look, d: path(xs, Array.from(lane.loss, free)), "clip-path": `url(#${this.clip})` });
      make(svg, "path", { ...look, d: path(xs, Array.from(lane.reach, (steps) => down(reach, far(steps)))) });
      this.answers.push(make(svg, "path", look));
    }
    this.rules = { training: [loss, reach], number: [answers] };
    for (const [dim, strips] of Object.entries(this.rules)) {
      this.rules[dim] = strips.map(({ y, h }) => make(svg, "line", { y1: y, y2: y + h, class: "rnn-at" }));
    }
    this.truth = make(svg, "circle", { r: 5, fill: grey, class: "rnn-dot" });
    model.lanes.forEach(({ color }, n) => { // of two at one place both are seen
      this.dots.push([0, 1, 2].map(() => make(svg, "circle", { r: n ? 5 : 7.5, fill: color, class: "rnn-dot" })));
    });
    this.knobs = {};
    for (const [dim, first, last] of [["training", loss, reach], ["number", answers, answers]]) {
      const bottom = last.y + last.h;
      const room = { x: first.x - 12, y: first.y - 4, width: first.w + 24, height: bottom - first.y + 36 };
      this.knobs[dim] = make(svg, "circle", { cy: bottom + knob, r: knob, class: "rnn-knob" });
      make(svg, "rect", { ...room, class: "rnn-hit", "data-grab": dim });
    }
  }

  // Room for the longest sentence, so that nothing below moves with the cursor.
  longest() {
    const { model } = this;
    const k = model.says.reduce((best, text, n) => (text.length > model.says[best].length ? n : best), 0);
    set(this.verdict, { style: "" });
    this.verdict.textContent = verdict(model, k, 0);
    this.verdict.style.minHeight = `${this.verdict.offsetHeight}px`;
    this.saying = null;
  }

  show(chosen) {
    const { model, layout, cursor } = this;
    if (!layout) return;
    this.tour.look();
    const [k, v] = [snapshot(model.steps, chosen.training), chosen.number];
    if (this.shown?.k !== k) this.light(k);
    if (this.shown?.k !== k || this.shown.v !== v) this.place(k, v);
    this.shown = { k, v };
    this.say(cursor.playing === "training" ? stage(model, k) : verdict(model, k, v));
    this.bar.show(this.short);
  }

  light(k) {
    const { model, layout: { cells, middles, strip } } = this;
    const { reach, grey } = model.colors;
    this.lanes.forEach((lane, n) => {
      lane.shares = left(model.lanes[n].log_answer[k]);
      lane.shares.forEach((share, t) => {
        const lit = light(share, model);
        if (lane.lights[t] === lit) return;
        lane.lights[t] = lit;
        const half = lit ? cells.half : cells.short;
        const dark = { class: "rnn-dark", stroke: grey };
        const look = lit ? { class: "rnn-lit", fill: reach, "fill-opacity": lit } : dark;
        set(lane.nodes[t], { ...look, y: lane.y - half, height: 2 * half });
      });
    });
    model.marks.forEach((step, m) => this.threads[m].forEach((thread, n) => {
      const heard = this.lanes[n].lights[step - 1] > 0;
      const y2 = middles[n] + Math.sign(strip - middles[n]) * (heard ? cells.half : cells.short);
      const look = heard ? { stroke: reach, "stroke-width": 4 } : { stroke: grey, "stroke-width": 2 };
      set(thread, { y2, ...look, "stroke-dasharray": heard ? "none" : THREAD });
    }));
  }

  place(k, v) {
    const { model, layout: { plots, width } } = this;
    const { loss, reach, answers } = plots;
    const said = numbers(model, k, v);
    const write = (id, words) => {
      const node = this.texts.get(id);
      if (node.textContent !== words) node.textContent = words;
      return node;
    };
    const at = { training: this.across.training(model.steps[k]), number: this.across.number(v) };
    for (const [dim, words] of [["training", said.step], ["number", said.first]]) {
      const x = at[dim].toFixed(1);
      for (const rule of this.rules[dim]) set(rule, { x1: x, x2: x });
      set(this.knobs[dim], { cx: x });
      set(write(`at ${dim}`, words), { x: Math.min(at[dim], width - 20) });
      for (const { under, node, x: tick } of this.ticks) {
        if (under === `at ${dim}`) set(node, { visibility: Math.abs(tick - at[dim]) < NEAR ? "hidden" : "visible" });
      }
    }
    write("first", said.first), write("second", said.second), write("truth", truth(said));
    const vs = Array.from(model.values, (_, n) => this.across.number(n));
    model.lanes.forEach((lane, n) => {
      for (const name of ["loss", "reach", "answer"]) write(`${name} ${n}`, `${lane.name} ${said[`${name} ${n}`]}`);
      set(this.answers[n], { d: path(vs, Array.from(lane.answers[k], (value) => down(answers, value))) });
      const far = lane.reach[k] < 0 ? model.T : lane.reach[k];
      const places = [
        [at.training, down(loss, lane.loss[k])],
        [at.training, down(reach, far)],
        [at.number, down(answers, lane.answers[k][v])],
      ];
      places.forEach(([cx, cy], d) => set(this.dots[n][d], { cx: cx.toFixed(1), cy: cy.toFixed(1) }));
    });
    set(this.truth, { cx: at.number.toFixed(1), cy: down(answers, model.values[v] + model.second_number).toFixed(1) });
    set(this.svg, { "aria-label": `${model.alt} ${spoken(model, k, v)}` });
    const short = ({ name }, n) => `${name} reach ${said[`reach ${n}`]}, answers ${said[`answer ${n}`]}`;
    this.short = model.lanes.map(short).join("; ");
  }

  // The sentence of the cursor, or while it plays that of the stage; spoken once it has stood for a while.
  say(text) {
    if (text === this.saying) return;
    this.saying = text;
    this.verdict.textContent = text;
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => (this.status.textContent = text), SPEECH);
  }

  leave() {
    this.gone.abort();
    this.tour.leave();
    clearTimeout(this.speaking);
    this.observer.disconnect();
    this.out?.();
    this.root.remove();
  }
}

const views = new WeakMap();

// Called again at each change of data or theme. The theme's colours are the style sheet's.
export function draw({ data, parentElement, setStateValue }) {
  const view = views.get(parentElement) ?? new View(parentElement);
  views.set(parentElement, view);
  view.write = setStateValue;
  if (view.data === data) return;
  view.data = data;
  view.set(unpack(data));
}

export function leave(parentElement) {
  views.get(parentElement)?.leave();
  views.delete(parentElement);
}
