// The chart of every page: one Plotly node that is kept, fed by bytes or by a live run, with the cursor of its group.
//
// Streamlit calls draw() at each change of data or theme. Zoom, hover, pins and switched-off lines outlast it.

import { Bar } from "../bar.js";
import { element, group, keys, set, style } from "../cursor.js";
import { digits, power } from "../numbers.js";
import { unpack } from "../payload.js";
import { annotated, dressed, ink, printed } from "./dress.js";
import { axisName, before, beyond, described, ghost, isLine, table, taken, thin } from "./figure.js";
import { Legend, rich } from "./legend.js";
import { Columns, Stream } from "./live.js";
import { download } from "../picture.js";
import { Pointer } from "./pointer.js";
import { rename, Tools } from "./tools.js";

const TICK = 250; // milliseconds between two drawings of what a live run sends
const SPEECH = 1000; // before a sentence that follows the cursor is spoken

const charts = new WeakMap();
const here = import.meta.url;
let loading = null;
let made = 0;

// Plotly is one copy, asked for after the first paint; it sets its name on the window.
function plotly() {
  loading ??= new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
    .then(() => import(new URL("../plotly.min.js", here).href))
    .then(() => window.Plotly);
  return loading;
}

export function draw({ data, parentElement }) {
  if (!data) return;
  let chart = charts.get(parentElement);
  if (!chart) charts.set(parentElement, (chart = new Chart(parentElement)));
  chart.set(unpack(data));
}

export function leave(parentElement) {
  charts.get(parentElement)?.leave();
  charts.delete(parentElement);
}

const ordered = ([a, b]) => (a < b ? [a, b] : [b, a]);

class Chart {
  constructor(parent) {
    style(here, "../cursor.css");
    style(here, "chart.css");
    this.pins = [];
    this.ranges = {}; // axis -> range, as far as the reader zoomed
    this.build(parent);
  }

  build(parent) {
    this.root = element("div", { class: "rnn-chart" });
    this.legend = new Legend(() => this.paint());
    this.field = element("div", { class: "rnn-field", tabindex: -1 });
    this.plot = element("div", { class: "rnn-plot", role: "img" });
    this.blank = element("p", { class: "rnn-blank" });
    this.words = element("ul", { class: "rnn-words", id: `rnn-words-${++made}`, hidden: "" });
    this.foot = element("div", { class: "rnn-foot" });
    this.verdict = element("p", { class: "verdict" });
    this.status = element("div", { class: "rnn-quiet", role: "status" });
    const scroll = element("div", { class: "rnn-scroll" });
    this.sheet = element("div", { class: "rnn-sheet" });
    this.field.append(this.plot, this.blank);
    scroll.append(this.field);
    this.sheet.append(this.legend.element, scroll, this.foot);
    this.root.append(this.sheet, this.words, this.status);
    this.tools = new Tools({
      zoom: () => this.zoom(),
      whole: () => this.unzoom(),
      pin: () => this.pin(),
      save: (format) => (format === "csv" ? this.saveTable() : this.save(format)),
      words: () => (this.words.hidden = !this.words.hidden),
    });
    this.foot.append(this.tools.element);
    parent.append(this.root);
    this.pointer = new Pointer(this.field, () => (this.drawn ? this.plot._fullLayout : null));
    this.field.addEventListener("keydown", (event) => this.cursor && keys(this.cursor, event, ...this.dims));
    this.sized = new ResizeObserver(() => this.drawn && this.resize());
    this.sized.observe(this.field);
    this.awake = () => !document.hidden && this.late && this.paint();
    document.addEventListener("visibilitychange", this.awake);
  }

  leave() {
    this.gone = true;
    this.out?.();
    this.stream?.close();
    this.sized.disconnect();
    document.removeEventListener("visibilitychange", this.awake);
    clearTimeout(this.ticking);
    clearTimeout(this.speaking);
    if (this.drawn) window.Plotly.purge(this.plot);
    this.root.remove();
  }

  set(spec) {
    const kind = (one) => [...new Set(one?.figure.data.map((trace) => `${trace.type} ${trace.yaxis}`))].sort().join();
    if (spec.cursor?.token !== this.spec?.cursor?.token || kind(spec) !== kind(this.spec)) this.ranges = {}; // another view
    if (kind(spec) !== kind(this.spec)) this.unpin();
    this.spec = spec;
    this.given = spec.figure.layout;
    this.meta = this.given.meta ?? {};
    this.dims = Object.keys(spec.cursor?.dims ?? {});
    this.sheet.style.minHeight = `${spec.height}px`; // legend and foot included: the plot takes what is left
    this.field.style.minWidth = this.meta.least ? `${this.meta.least}px` : "";
    this.listen(spec.live);
    this.join(spec.cursor);
    this.paint();
  }

  join(given) {
    const cursor = given ? group(given.group) : null;
    if (cursor !== this.cursor) this.out?.(), (this.out = null);
    this.cursor = cursor;
    if (cursor) this.grow(), (this.out = cursor.join(this, given));
    this.pointer.set(cursor, this.meta);
    this.bar = Bar.kept(this.bar, cursor, given?.bar ? this.dims : null);
    if (this.bar && !this.bar.element.parentElement) this.foot.prepend(this.bar.element);
    this.foot.classList.toggle("rnn-alone", !this.bar);
  }

  // ---- the figure as it is drawn

  // All lines with all their points: the figure's, with a live run's columns in place of its empty ones.
  whole() {
    const none = new Columns();
    const data = this.spec.figure.data.map((trace) => {
      if (!this.stream || !trace.meta?.column) return trace;
      return { ...trace, ...(this.stream.lanes[trace.meta.lane] ?? none).line(trace.meta.column, trace.meta.most) };
    });
    return { data, layout: this.given };
  }

  traces() {
    const { hidden } = this.legend;
    const shown = this.figure.data.map((trace) => {
      const visible = hidden.has(trace.name) ? "legendonly" : (trace.visible ?? true);
      const rows = isLine(trace) ? thin(trace.x, trace.y, ...this.looked(trace)) : null;
      return { ...trace, visible, ...(rows && taken(trace, rows)) };
    });
    return [...this.pins.map((pin) => ({ ...pin, visible: !hidden.has(pin.name) })), ...shown];
  }

  // What of its x axis is looked at.
  looked(trace) {
    const name = axisName(trace.xaxis ?? "x");
    return ordered(this.ranges[name] ?? this.given[name]?.range ?? [-Infinity, Infinity]);
  }

  layout(colors) {
    const [width, height] = [this.field.clientWidth, Math.max(this.field.clientHeight, 120)];
    return dressed(this.given, colors, { width, height, zoomed: this.ranges, zooming: this.pointer.zooming });
  }

  async paint() {
    this.figure = this.whole();
    this.legend.set(this.figure, this.meta);
    this.describe();
    this.cursor?.changed();
    const Plotly = await plotly().catch(() => null);
    if (!Plotly) {
      loading = null; // the next change asks again
      this.blank.textContent = "The connection was lost before this chart could be loaded: reload the page.";
      return;
    }
    if (this.gone || !this.field.clientWidth) return;
    this.late = document.hidden && this.drawn;
    if (this.late) return;
    const config = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false };
    await Plotly.react(this.plot, this.traces(), this.layout(ink(this.root)), config);
    if (this.gone) return;
    if (!this.drawn) {
      this.drawn = true;
      this.plot.on("plotly_relayout", (changes) => this.relaid(changes));
      this.plot.on("plotly_doubleclick", () => this.pointer.doubled() && this.unzoom());
    }
    await this.mark();
    this.pointer.place();
    this.rehover();
  }

  // After a zoom: its range is kept, though the page's changes; other points of long lines, other marks at the edges.
  relaid(changes) {
    const zoomed = Object.keys(changes).map((key) => key.match(/^([xy]axis\d*)\.range/)?.[1]).filter(Boolean);
    if (!zoomed.length) return;
    for (const name of zoomed) this.ranges[name] = [...this.plot._fullLayout[name].range];
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.gone || this.paint(), 60);
  }

  resize() {
    const { width, height } = this.plot._fullLayout;
    const [wide, tall] = [this.field.clientWidth, Math.max(this.field.clientHeight, 120)];
    if (wide && (Math.abs(wide - width) > 1 || Math.abs(tall - height) > 1)) this.paint();
  }

  // Values beyond the range, marked at its edge; what is marked already stays.
  async mark() {
    const full = this.plot._fullLayout;
    const logs = this.meta.decades ?? [];
    const found = [];
    for (const trace of this.figure.data) {
      const [xaxis, yaxis] = [trace.xaxis ?? "x", trace.yaxis ?? "y"];
      if (!(this.meta.edges ?? logs).includes(yaxis) || !isLine(trace) || this.legend.hidden.has(trace.name)) continue;
      const color = trace.line?.color ?? trace.marker?.color;
      const [x, y] = [xaxis, yaxis].map((id) => ordered(full[axisName(id)].range));
      for (const { edge, x: at, value } of beyond(trace.x, trace.y, y, x)) {
        found.push({ xaxis, yaxis, color, edge, x: at, text: logs.includes(yaxis) ? power(value) : digits(value) });
      }
    }
    this.marks = annotated(found, full);
    if (!this.marks.length) return;
    await window.Plotly.relayout(this.plot, { annotations: [...(this.given.annotations ?? []), ...this.marks] });
  }

  // What was under the pointer is still.
  rehover() {
    const { last } = this.pointer;
    if (!last || !this.plot._fullLayout.hovermode) return;
    const { clientX, clientY } = last;
    const target = document.elementFromPoint(clientX, clientY);
    if (this.plot.contains(target)) target.dispatchEvent(new MouseEvent("mousemove", { clientX, clientY, bubbles: true }));
  }

  // ---- the cursor

  // It moved, in this chart or in another of its group.
  show(chosen, hovered) {
    if (!this.figure) return;
    this.pointer.place();
    this.root.classList.toggle("rnn-hovering", Boolean(hovered));
    const said = this.legend.read({ ...chosen, ...hovered }, this.pins);
    this.bar?.show(said);
    this.say(chosen[this.dims[0]]);
  }

  // The sentence of the value at or before the cursor; spoken once the cursor has rested.
  say(at) {
    const { says } = this.spec;
    if (!says) return this.verdict.remove();
    if (!this.verdict.parentElement) this.sheet.after(this.verdict);
    const text = says.texts[Math.max(0, before(says.at, at))];
    if (text === this.saying) return;
    this.saying = text;
    this.verdict.replaceChildren(...rich(text));
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => (this.status.textContent = this.verdict.textContent), SPEECH);
  }

  zoom() {
    this.pointer.zooming = !this.pointer.zooming;
    rename(this.tools.zoom, this.pointer.zooming ? "Drag the cursor again" : "Zoom by dragging");
    this.paint();
  }

  unzoom() {
    this.ranges = {};
    this.paint();
  }

  // The curves as they are now stay as ghosts under what comes next.
  pin() {
    const curve = (trace) => isLine(trace) && /lines/.test(trace.mode ?? "lines") && trace.hoverinfo !== "skip";
    if (this.pins.length) this.unpin();
    else this.pins = this.figure.data.filter(curve).map(ghost), rename(this.tools.pin, "Unpin");
    this.paint();
  }

  unpin() {
    this.pins = [];
    rename(this.tools.pin, "Pin these curves");
  }

  // ---- words and files

  describe() {
    const empty = !this.figure.data.some((trace) => (trace.z ?? trace.y ?? []).length) && !this.given.annotations?.length;
    this.blank.textContent = !empty ? "" : this.stream ? "The first point is on its way." : "Nothing to draw.";
    // A drawing's coordinates are no data: what it shows is among what the page keeps.
    this.tools.csv.hidden = this.given.showlegend === false && !this.meta.cursor;
    const lines = described(this.figure, this.meta, this.spec.alt);
    set(this.plot, { "aria-label": lines[0] ?? "Chart", "aria-describedby": this.words.id });
    if (lines.join() === this.told) return;
    this.told = lines.join();
    this.words.replaceChildren(...lines.map((text) => Object.assign(element("li"), { textContent: text })));
  }

  async save(format) {
    const colors = ink(this.root);
    const full = this.plot._fullLayout;
    const rules = Object.entries(this.meta.cursor ?? {})
      .filter(([id]) => id[0] === "x")
      .map(([id, dim]) => [id, this.cursor.chosen[dim]]);
    const legend = this.given.showlegend ?? true;
    const layout = printed(this.layout(colors), full, colors, { marks: this.marks ?? [], rules, legend });
    const { width, height } = layout;
    const options = { format, width, height, scale: format === "png" ? 2 : 1, filename: this.spec.name };
    await window.Plotly.downloadImage({ data: this.traces(), layout }, options);
  }

  saveTable() {
    download(new Blob([table(this.figure, this.meta)], { type: "text/csv" }), `${this.spec.name}.csv`);
  }

  // ---- a live run

  listen(live) {
    if (live?.path === this.stream?.path) return;
    this.stream?.close();
    this.stream = live ? new Stream(live.path, () => this.tick()) : null;
  }

  tick() {
    this.ticking ??= setTimeout(() => {
      this.ticking = null;
      if (this.cursor) this.join(this.spec.cursor);
      this.paint();
    }, TICK);
  }

  // The training steps are as many as the run has; a cursor that nobody moved goes with them.
  grow() {
    const { training } = this.spec.cursor.dims;
    const last = (this.stream?.length ?? 0) - 1;
    if (!training || !this.stream) return;
    training.open = true;
    if (last <= training.high) return;
    this.spec.cursor.dims.training = { ...training, high: last, at: last, stride: Math.max(1, Math.round(last / 200)) };
  }
}
