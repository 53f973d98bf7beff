// The cursor on a picture: its lines, moved without drawing anything again, and the pointer that chooses it.

import { clamp, element } from "../cursor.js";
import { axisName } from "./figure.js";

const CLICK = 4; // pixels that a click may move
const TWICE = 600; // milliseconds within which two clicks are a double one

export class Pointer {
  // field: the element over which the pointer moves; full(): Plotly's laid-out figure, or null before the first.
  constructor(field, full) {
    this.field = field;
    this.full = full;
    this.lines = element("div", { class: "rnn-lines", "aria-hidden": "true" });
    this.rules = new Map();
    this.zooming = false;
    field.append(this.lines);
    field.addEventListener("pointermove", (event) => this.move(event));
    field.addEventListener("pointerdown", (event) => this.press(event));
    field.addEventListener("pointerleave", () => ((this.last = null), this.cursor?.hover(null)));
  }

  set(cursor, meta) {
    this.cursor = cursor;
    this.axes = Object.entries(meta.cursor ?? {}); // [axis, dimension]
    this.rows = meta.lines; // the line of each unit, where units are sorted
    this.place();
  }

  place() {
    const full = this.full();
    if (!full || !this.cursor) return;
    const used = new Set();
    for (const [id, dim] of this.axes) {
      for (const kind of ["chosen", "hovered"]) {
        const value = this.cursor[kind]?.[dim];
        const box = value === undefined ? null : this.box(id, full);
        const at = box && this.pixel(id, value, full);
        if (at === null || at === undefined) continue;
        const rule = this.rule(id, kind);
        used.add(rule);
        rule.hidden = false;
        rule.dataset.at = value;
        const along = id[0] === "x";
        rule.style[along ? "height" : "width"] = `${along ? box.bottom - box.top : box.right - box.left}px`;
        rule.style.transform = along ? `translate(${at}px, ${box.top}px)` : `translate(${box.left}px, ${at}px)`;
      }
    }
    for (const rule of this.rules.values()) if (!used.has(rule)) rule.hidden = true;
  }

  rule(id, kind) {
    const key = `${id} ${kind}`;
    if (!this.rules.has(key)) {
      const rule = element("div", { class: `rnn-rule rnn-${kind} rnn-${id[0]}` });
      this.rules.set(key, rule);
      this.lines.append(rule);
    }
    return this.rules.get(key);
  }

  // Where a value stands on its axis, or null outside what is zoomed into.
  pixel(id, value, full) {
    const axis = full[axisName(id)];
    const p = axis.l2p(id[0] === "y" && this.rows ? this.rows[value - 1] : value);
    return p < -1 || p > axis._length + 1 ? null : axis._offset + p;
  }

  // The part of the picture that an axis runs through: all strips that share it.
  box(id, full) {
    const axis = full[axisName(id)];
    const mine = id[0] === "x" ? 1 : 2;
    const others = full._subplots.cartesian
      .map((pair) => pair.match(/^(x\d*)(y\d*)$/))
      .filter((pair) => pair?.[mine] === id)
      .map((pair) => full[axisName(pair[3 - mine])]);
    if (!axis || !others.length) return null;
    const across = [Math.min(...others.map((a) => a._offset)), Math.max(...others.map((a) => a._offset + a._length))];
    const along = [axis._offset, axis._offset + axis._length];
    const [[left, right], [top, bottom]] = mine === 1 ? [along, across] : [across, along];
    return { left, right, top, bottom };
  }

  // What of the cursor lies under the pointer, {dimension: value}, or null. loose: also beside the picture.
  under(event, loose = false) {
    const full = this.full();
    if (!full || !this.cursor) return null;
    const edge = this.field.getBoundingClientRect();
    const [px, py] = [event.clientX - edge.left, event.clientY - edge.top];
    const found = {};
    for (const [id, dim] of this.axes) {
      const [box, span] = [this.box(id, full), this.cursor.span(dim)];
      if (!box || !span) continue;
      const along = id[0] === "x";
      const within = px >= box.left && px <= box.right && py >= box.top && py <= box.bottom;
      if (!within && !(loose && along)) continue;
      const axis = full[axisName(id)];
      const raw = Math.round(axis.p2l((along ? px : py) - axis._offset));
      const value = !along && this.rows ? this.rows.indexOf(raw) + 1 : raw;
      if (along || value >= span.low) found[dim] = clamp(value, span.low, span.high);
    }
    return Object.keys(found).length ? found : null;
  }

  move(event) {
    this.last = event;
    const over = this.under(event, this.dragging);
    if (!this.dragging) return this.cursor?.hover(over);
    // A finger that goes up or down scrolls the page.
    const [dx, dy] = [event.clientX - this.from.clientX, event.clientY - this.from.clientY].map(Math.abs);
    if (this.from.pointerType === "touch" && !this.sideways && dx < Math.max(CLICK, dy)) return;
    this.sideways = true;
    for (const [dim, value] of Object.entries(over ?? {})) this.cursor.choose(dim, value);
  }

  press(event) {
    const over = event.button === 0 ? this.under(event) : null;
    if (!over) return;
    this.twice = event.timeStamp - (this.from?.timeStamp ?? -Infinity) < TWICE;
    if (!this.twice) this.before = { ...this.cursor.chosen };
    this.from = event;
    this.sideways = false;
    const choose = () => {
      this.cursor.pause();
      this.cursor.hover(null);
      for (const [dim, value] of Object.entries(over)) this.cursor.choose(dim, value);
      this.field.focus({ preventScroll: true });
    };
    if (this.zooming) {
      // Plotly takes the drag; where nothing was dragged, it was a click
      const still = (end) => Math.hypot(end.clientX - event.clientX, end.clientY - event.clientY) < CLICK;
      window.addEventListener("pointerup", (end) => still(end) && choose(), { once: true });
      return;
    }
    const touch = event.pointerType === "touch";
    if (!touch) choose();
    this.dragging = true;
    this.field.setPointerCapture(event.pointerId);
    const end = ({ type }) => {
      if (!this.dragging) return;
      this.dragging = false;
      if (touch && type === "pointerup" && !this.sideways) choose();
    };
    for (const name of ["pointerup", "pointercancel"]) this.field.addEventListener(name, end, { once: true });
  }

  // A double click is for the picture: the cursor goes back to where it was. Plotly takes one tap for two.
  doubled() {
    if (!this.twice) return false;
    for (const [dim, value] of Object.entries(this.before ?? {})) this.cursor?.choose(dim, value);
    return true;
  }
}
