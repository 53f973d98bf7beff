// A step's arithmetic in numbers, a row a unit: W_x x_t + W_h h_{t−1} + b = a_t, h_t = φ(a_t).

import { element, set } from "../cursor.js";
import { digits } from "../numbers.js";
import { exact, short } from "./values.js";

const WHOLE = 4; // units up to which the whole of it stands there; of more, the chosen unit's row

// The numbers of unit u at step t, t from 1, u from 0; of a whole step each product of W_h by itself.
export function terms({ equation: { x, W_x, W_h, b, a }, values: { h } }, t, u, whole) {
  const before = h[t - 1];
  const recurrent = whole ? [...W_h[u], before[u]] : [W_h[u].reduce((sum, w, k) => sum + w * before[k], 0)];
  return [W_x[u][x[t - 1]], ...recurrent, b[u], a[t - 1][u], h[t][u]];
}

export class Equation {
  constructor() {
    this.element = element("div", { class: "rnn-equation", role: "group", "aria-label": "The step in numbers", tabindex: 0 });
  }

  set(model) {
    const { hidden, equation } = model;
    this.model = model;
    this.whole = hidden <= WHOLE;
    this.rows = this.whole ? hidden : 1;
    const table = element("table");
    const phi = equation.phi;
    // name, columns, what stands before it
    const groups = this.whole
      ? [["W_x x", 1, ""], ["W_h", hidden, "+"], ["h_0", 1, "·"], ["b", 1, "+"], ["a", 1, "="], ["h", 1, phi]]
      : [["W_x x", 1, ""], ["W_h h", 1, "+"], ["b", 1, "+"], ["a", 1, "="], ["h", 1, phi]];
    const head = table.createTHead().insertRow();
    this.heads = new Map();
    for (const [name, columns, sign] of groups) {
      if (sign) head.append(element("th", { "aria-hidden": "true" }));
      const cell = element("th", { colspan: columns, scope: "colgroup" });
      if (name.startsWith("W_")) set(cell, { "data-weight": name.slice(0, 3) });
      this.heads.set(name, cell);
      head.append(cell);
    }
    const body = table.createTBody();
    this.cells = Array.from({ length: this.rows }, (_, row) => {
      const line = body.insertRow();
      const cells = [];
      for (const [name, columns, sign] of groups) {
        if (sign && row === 0) line.append(Object.assign(element("td", { rowspan: this.rows, class: "rnn-sign" }), { textContent: sign }));
        for (let k = 0; k < columns; k++) {
          const edge = `${k === 0 ? "rnn-first" : ""}${k === columns - 1 ? " rnn-last" : ""}`;
          const cell = element("td", { class: `rnn-number ${edge}` });
          if (name.startsWith("W_")) set(cell, { "data-weight": name.slice(0, 3) });
          cells.push(cell);
          line.append(cell);
        }
      }
      return cells;
    });
    this.element.replaceChildren(table);
    this.shown = null;
  }

  show(t, unit) {
    const at = `${t} ${unit}`;
    if (at === this.shown) return;
    this.shown = at;
    const letter = short(this.model.labels[t - 1], 3);
    const named = { "W_x x": ["W", "x", ` “${letter}”`], W_h: ["W", "h", ""], "W_h h": ["W", "h", ` h${under(t - 1)}`],
      h_0: ["h", t - 1, ""], b: ["b", "", ""], a: ["a", t, ""], h: ["h", t, ""] };
    for (const [name, cell] of this.heads) {
      const [big, low, more] = named[name];
      cell.replaceChildren(big, Object.assign(element("sub"), { textContent: low }), more);
    }
    this.cells.forEach((cells, row) => {
      const u = this.whole ? row : unit - 1;
      terms(this.model, t, u, this.whole).forEach((value, k) => {
        cells[k].textContent = digits(value);
        set(cells[k], { title: exact(value) });
      });
      set(cells[0].parentElement, { class: u === unit - 1 ? "rnn-chosen" : "" });
    });
  }
}

const under = (n) => [...String(n)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
