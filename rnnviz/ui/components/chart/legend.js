// The legend of a chart, which is also its readout: a button a line, with the line's value at the cursor.

import { element, set } from "../cursor.js";
import { axisName, plain, reading } from "./figure.js";

export class Legend {
  // changed: a line was switched off or on.
  constructor(changed) {
    this.changed = changed;
    this.element = element("div", { class: "rnn-legend", role: "group", "aria-label": "Lines and their values" });
    this.hidden = new Set(); // names that the reader switched off, kept across figures
    this.entries = [];
  }

  set(figure, meta) {
    this.figure = figure;
    this.meta = meta;
    const names = new Map();
    for (const trace of figure.data) {
      const named = trace.name && trace.hoverinfo !== "skip" && !names.has(trace.name);
      const shown = trace.type === "heatmap" ? meta.cursor : trace.showlegend !== false;
      const quiet = figure.layout.showlegend === false && !meta.cursor; // labels stand in the picture
      if (named && shown && !quiet) names.set(trace.name, trace);
    }
    const key = JSON.stringify([...names].map(([name, { line, fillcolor }]) => [name, line, fillcolor]));
    if (key === this.key) return;
    this.key = key;
    this.entries = [...names].map(([name, trace]) => this.entry(name, trace));
    this.element.replaceChildren(...this.entries.map(({ made }) => made));
    this.element.hidden = !this.entries.length;
  }

  entry(name, trace) {
    const made = element("button", { type: "button", class: "rnn-entry", "aria-pressed": !this.hidden.has(name) });
    const [said, value] = [element("span"), element("span", { class: "rnn-value" })];
    said.append(...rich(name));
    if (trace.type !== "heatmap") made.append(swatch(trace));
    made.append(said, value);
    made.addEventListener("click", () => {
      if (!this.hidden.delete(name)) this.hidden.add(name);
      set(made, { "aria-pressed": !this.hidden.has(name) });
      this.changed();
    });
    return { name, made, value };
  }

  // The values at the cursor, and of the pinned lines beside them; the answer is the same in words.
  read(at, pins) {
    const said = [];
    const titled = (trace) => `${plain(this.figure.layout[axisName(trace.yaxis ?? "y")]?.title?.text)} `;
    for (const { name, value } of this.entries) {
      const mine = this.figure.data.filter((trace) => trace.name === name);
      const read = (trace) => {
        const under = trace.fill === "tonexty" && this.figure.data[this.figure.data.indexOf(trace) - 1];
        const own = reading(trace, this.meta, at);
        return under && own !== null ? `${own} to ${reading(under, this.meta, at)}` : own;
      };
      const values = mine.map((trace) => [mine.length > 1 ? titled(trace) : "", read(trace)]);
      const pinned = pins.filter((pin) => pin.name === name).map((pin) => reading(pin, this.meta, at));
      const now = values.filter(([, text]) => text !== null).map((parts) => parts.join("")).join(", ");
      const text = pinned.length ? `${now} (pinned ${pinned.join(", ")})` : now;
      if (value.textContent !== text) value.textContent = text;
      if (text) said.push(`${plain(name)} ${text}`);
    }
    return said.join("; ");
  }
}

// A text with sub, sup, b and i as Plotly writes them; everything else in it is text.
export function rich(text) {
  const made = [];
  const parts = String(text).split(/<(sub|sup|b|i)>(.*?)<\/\1>/g);
  for (let k = 0; k < parts.length; k += 3) {
    if (parts[k]) made.push(document.createTextNode(entities(parts[k])));
    if (!parts[k + 1]) continue;
    const piece = element(parts[k + 1]);
    piece.textContent = entities(parts[k + 2]);
    made.push(piece);
  }
  return made;
}

const ENTITIES = { lt: "<", gt: ">", quot: '"', "#x27": "'", amp: "&" };
const entities = (text) => text.replace(/&(lt|gt|quot|#x27|amp);/g, (_, name) => ENTITIES[name]);

const DASHES = { dot: "2 3", dash: "7 4", dashdot: "7 3 2 3", longdash: "10 4" };

// A piece of the line as it is drawn: colour, dash, marker or band.
function swatch(trace) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  set(svg, { width: 26, height: 12, "aria-hidden": "true" });
  const marker = typeof trace.marker?.color === "string" ? trace.marker.color : null;
  const color = trace.line?.color ?? marker ?? trace.fillcolor ?? "currentColor";
  const dots = /markers/.test(trace.mode ?? "") && !/lines/.test(trace.mode ?? "");
  const shape = dots || (trace.type ?? "scatter") !== "scatter" ? "circle" : "line";
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", shape);
  if (shape === "circle") {
    const open = /open/.test(trace.marker?.symbol ?? "");
    set(drawn, { cx: 13, cy: 6, r: 4, fill: open ? "none" : color, stroke: color, "stroke-width": 2 });
  } else {
    const band = trace.fill && trace.fill !== "none";
    set(drawn, { x1: 1, x2: 25, y1: 6, y2: 6, stroke: band ? (trace.fillcolor ?? color) : color });
    set(drawn, { "stroke-width": band ? 10 : 3, "stroke-dasharray": DASHES[trace.line?.dash] ?? "none" });
  }
  svg.append(drawn);
  return svg;
}
