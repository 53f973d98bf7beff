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
    // name, columns, what stands before it
    const sums = this.whole
      ? [["W_x x", 1, ""], ["W_h", hidden, "+"], ["h_0", 1, "·"], ["b", 1, "+"], ["a", 1, "="]]
      : [["W_x x", 1, ""], ["W_h h", 1, "+"], ["b", 1, "+"], ["a", 1, "="]];
    this.heads = new Map();
    this.cells = Array.from({ length: this.rows }, () => []);
    // the last step stands in a table of its own, which goes under the first where there is no room beside it
    this.element.replaceChildren(this.table(sums), this.table([["h", 1, `${equation.phi} →`]]));
    this.shown = null;
  }

  table(groups) {
    const table = element("table");
    const head = table.createTHead().insertRow();
    const body = table.createTBody();
    const rows = this.cells.map(() => body.insertRow());
    for (const [name, columns, sign] of groups) {
      const weight = name.startsWith("W_") ? { "data-weight": name.slice(0, 3) } : {};
      if (sign) {
        head.append(element("th", { "aria-hidden": "true" }));
        rows[0].append(Object.assign(element("td", { rowspan: this.rows, class: "rnn-sign" }), { textContent: sign }));
      }
      const title = element("th", { colspan: columns, scope: "colgroup", ...weight });
      this.heads.set(name, title);
      head.append(title);
      rows.forEach((row, u) => {
        for (let k = 0; k < columns; k++) {
          const edges = `${k === 0 ? " rnn-first" : ""}${k === columns - 1 ? " rnn-last" : ""}`;
          const cell = element("td", { class: `rnn-number${edges}`, ...weight });
          this.cells[u].push(cell);
          row.append(cell);
        }
      });
    }
    return table;
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
      for (const cell of [cells[0], cells.at(-1)]) set(cell.parentElement, { class: u === unit - 1 ? "rnn-chosen" : "" });
    });
  }
}

const under = (n) => [...String(n)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
