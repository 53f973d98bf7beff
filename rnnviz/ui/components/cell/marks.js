// The marks of a layout as SVG nodes, and how they are painted: texts and colours change, nodes stay.

import { set } from "../cursor.js";
import { make, rect } from "../svg.js";
import { chip, lineAt } from "./layout.js";
import { exact, lined, shade, tight } from "./values.js";
import { Meter, Softmax } from "./word.js";

// A label of ours with its indices: "h_{t−1}".
function write(node, label) {
  let lowered = false;
  for (const [piece, long, one] of label.matchAll(/_\{([^}]*)\}|_(\S)|[^_]+/g)) {
    const index = long ?? one;
    const dy = index !== undefined ? 4 : lowered ? -4 : 0;
    make(node, "tspan", index !== undefined ? { class: "rnn-sub", dy } : { dy }, index ?? piece);
    lowered = index !== undefined;
  }
  return node;
}

const SIDES = {
  above: ({ x, y, h }) => [x, y - h / 2 - 8, "middle"],
  below: ({ x, y, h }) => [x, y + h / 2 + 17, "middle"],
  right: ({ x, y, w }) => [x + w / 2 + 6, y + 5, "start"],
  left: ({ x, y, w }) => [x - w / 2 - 6, y + 5, "end"],
  aside: ({ x, y, h }) => [x + 8, y - h / 2 - 7, "start"],
  asideleft: ({ x, y, h }) => [x - 8, y - h / 2 - 7, "end"],
};

// A mark of the layout as nodes; what changes with the step is kept in places.
export const MARKS = {
  wire(parent, { d, weight }) {
    const held = make(parent, "g", weight ? { "data-weight": weight } : {});
    make(held, "path", { d, class: "rnn-wire" });
    if (weight) make(held, "path", { d, class: "rnn-reach" }); // as wide as a pointer needs
  },
  box: (parent, box) => make(parent, "rect", { ...rect(box), rx: 10, class: "rnn-body" }),
  op(parent, { x, y, sign }) {
    make(parent, "circle", { cx: x, cy: y, r: 13, class: "rnn-ring" });
    make(parent, "text", { x, y: y + 6, "text-anchor": "middle", class: "rnn-op" }, sign);
  },
  text(parent, { x, y, label, anchor, weight }) {
    write(make(parent, "text", { x, y, "text-anchor": anchor, ...(weight && { "data-weight": weight }) }), label);
  },
  reads(parent, { x, y, label, anchor }, places) {
    const node = write(make(parent, "text", { x, y, "text-anchor": anchor }), label);
    places.set("x", { node: make(node, "tspan"), title: make(node, "title"), alone: !label });
  },
  step(parent, { x, y, name, only }, places) {
    const node = make(parent, "text", { x, y, "text-anchor": "middle" });
    make(node, "tspan", {}, name);
    places.set(`step ${name}`, { node: make(node, "tspan", { class: "rnn-sub", dy: 4 }), all: node, only });
  },
  only(parent, { marks }, places, context) {
    const held = make(parent, "g");
    for (const mark of marks) MARKS[mark.type](held, mark, places, context);
    places.set("only", { node: held });
  },
  softmax: (parent, mark, places, { colors }) => places.set("softmax", new Softmax(parent, mark, colors)),
  meter: (parent, mark, places, { colors }) => places.set("meter", new Meter(parent, mark, colors)),
  twin(parent, box, places, { colors }) {
    places.set("twin", make(parent, "rect", { ...rect(box), rx: 8, class: "rnn-twin", stroke: colors.twin }));
  },
  chip(parent, mark, places, { hatch, colors }) {
    const { id, x, y, w, h, label, side, gate } = mark;
    const held = make(parent, "g");
    const outline = { ...rect({ x: x - w / 2, y: y - h / 2, w, h }), rx: label ? 7 : 3 };
    const plate = make(held, "rect", { ...outline, class: "rnn-plate" });
    if (gate) Object.assign(plate.style, { stroke: colors.gates[gate], strokeWidth: "3.5px" });
    const hatched = make(held, "rect", { ...outline, fill: `url(#${hatch})`, class: "rnn-hatched" });
    const number = make(held, "text", { x, y: y + 5, "text-anchor": "middle", class: "rnn-number" });
    if (label) {
      const [lx, ly, anchor] = SIDES[side](mark);
      write(make(parent, "text", { x: lx, y: ly, "text-anchor": anchor }), label);
    }
    places.set(id, { held, plate, hatched, number, title: make(held, "title") });
  },
};

// A value on its plate; nothing is written that stands there already.
export function paint(place, value, scale, shades, say) {
  if (Object.is(place.value, value)) return;
  place.value = value;
  const lost = !Number.isFinite(value);
  const [fill, ink] = lost ? ["none", ""] : shade(shades, value, scale);
  set(place.held, { class: `${say === tight ? "rnn-small" : ""}${lost ? " rnn-lost" : ""}` });
  set(place.plate, { fill });
  set(place.hatched, { visibility: value < 0 && !lost ? "visible" : "hidden" });
  place.number.style.fill = ink;
  place.number.textContent = say(value);
  place.title.textContent = exact(value);
}

// The units of one state: plates with numbers, or a strip of lines under one hatch.
export class Stack {
  constructor(parent, u, context) {
    this.u = u;
    this.places = new Map();
    this.lines = [];
    for (let k = 0; k < u.lines; k++) {
      const box = lineAt(u, k);
      const middle = chip(k, box.x + box.w / 2, box.y + box.h / 2, "", "", { w: box.w - 4, h: box.h - 2 });
      if (u.numbered) MARKS.chip(parent, middle, this.places, context);
      else this.lines.push(make(parent, "rect", { ...rect(box), ...(u.each >= 6 && { class: "rnn-plate" }) }));
    }
    this.hatched = make(parent, "path", { fill: `url(#${context.hatch})`, class: "rnn-hatched" });
    const [first, last] = [lineAt(u, 0), lineAt(u, u.lines - 1)];
    const whole = { ...first, w: last.x + last.w - first.x, h: last.y + last.h - first.y };
    if (!u.numbered) make(parent, "rect", { ...rect(whole), fill: "none", class: "rnn-plate" });
    this.crossed = make(parent, "path", { class: "rnn-wire" }); // lines that are not finite
    this.title = u.numbered ? null : make(parent, "title");
  }

  paint(row, scale, shades) {
    if (row === this.row) return;
    this.row = row;
    if (this.u.numbered) return row.forEach((value, k) => paint(this.places.get(k), value, scale, shades, tight));
    let [negative, lost] = ["", ""];
    lined(row, this.u.lines).forEach((value, k) => {
      this.lines[k].setAttribute("fill", Number.isFinite(value) ? shade(shades, value, scale)[0] : "none");
      const { x, y, w, h } = lineAt(this.u, k);
      if (!Number.isFinite(value)) lost += `M${x} ${y}l${w} ${h}m${-w} 0l${w} ${-h}`;
      else if (value < 0) negative += `M${x} ${y}h${w}v${h}h${-w}z`;
    });
    set(this.crossed, { d: lost });
    this.hatched.setAttribute("d", negative);
  }

  forget() {
    this.row = null;
    for (const place of this.places.values()) place.value = undefined;
  }
}
