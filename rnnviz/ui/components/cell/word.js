// What stands over and under a column of a word that is read: the softmax, before and after training; a nudge.

import { set } from "../cursor.js";
import { digits } from "../numbers.js";
import { make, rect } from "../svg.js";
import { exact } from "./values.js";

export const BARS = 60; // the height of certainty
export const METER = 24; // the height of all of a nudge; 1 % is the floor
const OVER = 1.15; // a nudge that has grown stands a little higher

// A share as people write it; what is too small for a percentage as the number itself.
export const percent = (share) => (share === 0 || share >= 0.001 ? `${digits(100 * share)} %` : digits(share));

export const level = (share) => METER * Math.min(Math.max(1 + Math.log10(Math.max(share, 1e-300)) / 2, 0), OVER);

// The column of a word: its softmax with the base of the bars at y, letters under them, the answer above.
export class Softmax {
  constructor(parent, { x, w, y, slots }, colors) {
    this.colors = colors;
    this.y = y;
    const slot = w / slots;
    this.aim = make(parent, "rect", { ...rect({ x: 0, y: y - BARS, w: slot, h: BARS }), class: "rnn-aim", stroke: colors.right });
    this.slots = Array.from({ length: slots }, (_, k) => {
      const left = x - w / 2 + k * slot;
      const bar = make(parent, "rect", { x: left + 0.1 * slot, width: 0.8 * slot, class: "rnn-bar-now" });
      const before = make(parent, "path", { class: "rnn-before" });
      const name = make(parent, "text", { x: left + slot / 2, y: y + 14, "text-anchor": "middle", class: "rnn-number" });
      return { left, slot, bar, before, name, title: make(bar, "title") };
    });
    this.says = make(parent, "text", { x, y: y - BARS - 24, "text-anchor": "middle", class: "rnn-letter rnn-says" });
    this.share = make(parent, "text", { x, y: y - BARS - 7, "text-anchor": "middle", class: "rnn-number rnn-share" });
  }

  // t from 1
  paint({ letters, which, share, before, target, says }, t) {
    const [shown, aim, said] = [which[t - 1], target[t - 1], says[t - 1]];
    const { right, wrong, grey } = this.colors;
    const slots = [...shown];
    this.slots.forEach(({ left, slot, bar, before: line, name, title }, k) => {
      const [now, then, letter] = [share[t - 1][k], before[t - 1][k], shown[k]];
      const high = Math.max(BARS * now, 1);
      const fill = letter === aim ? right : letter === said && aim >= 0 ? wrong : grey;
      set(bar, { y: this.y - high, height: high, fill });
      set(line, { d: `M${left} ${this.y - BARS * then}h${slot}` });
      name.textContent = letters[letter];
      title.textContent = `${letters[letter]}: ${exact(now)}, untrained ${exact(then)}`;
    });
    const place = slots.indexOf(aim);
    set(this.aim, { visibility: place < 0 ? "hidden" : "inherit", x: this.slots[Math.max(place, 0)].left });
    this.says.textContent = `${letters[said]} ${aim < 0 ? "?" : said === aim ? "✓" : "✗"}`;
    const most = slots.indexOf(said);
    this.share.textContent = percent(share[t - 1][most]);
  }
}

// What is left of a nudge after a step: filled the truth, hollow the derivative, both in numbers under them.
export class Meter {
  constructor(parent, { x, y }, { reach }) {
    this.y = y;
    this.held = make(parent, "g");
    this.floor = make(this.held, "path", { d: `M${x - 30} ${y}h60`, class: "rnn-wire" });
    this.bars = [[x - 22, reach], [x + 4, "none"]].map(([left, fill]) =>
      make(this.held, "rect", { x: left, width: 18, fill, stroke: reach, "stroke-width": 1.5 }));
    this.texts = [15, 31].map((below) =>
      make(this.held, "text", { x, y: y + below, "text-anchor": "middle", class: "rnn-number" }));
    this.titles = this.bars.map((bar) => make(bar, "title"));
    this.gone = make(this.held, "text", { x, y: y - 5, "text-anchor": "middle", class: "rnn-number rnn-gone" }, "▼ < 1 %");
  }

  paint({ step, left, predicted, floor, gone }, t) {
    const after = t - step;
    const there = after >= 0 && after < left.length;
    set(this.held, { visibility: there ? "inherit" : "hidden" });
    if (!there) return;
    [left[after], predicted[after]].forEach((share, k) => {
      const lost = k === 0 && !(share > floor[after]); // a difference this small is rounding
      const high = lost ? 0 : level(share);
      set(this.bars[k], { y: this.y - high, height: high });
      this.texts[k].textContent = `${k ? "□" : "■"} ${lost ? "rounding" : percent(share)}`;
      this.titles[k].textContent = `${k ? "derivative" : "truly left"}: ${exact(share)}`;
    });
    set(this.gone, { visibility: after === gone ? "inherit" : "hidden" });
  }
}
