// The nodes of the lanes' drawing.

import { make } from "../svg.js";

// A mark that burns.
export function star(parent, x, y, color) {
  make(parent, "circle", { cx: x, cy: y, r: 15, fill: color, class: "rnn-glow" });
  const points = Array.from({ length: 10 }, (_, k) => {
    const [r, angle] = [k % 2 ? 4.4 : 10, (Math.PI * k) / 5];
    return `${(x + r * Math.sin(angle)).toFixed(1)},${(y - r * Math.cos(angle)).toFixed(1)}`;
  });
  make(parent, "polygon", { points: points.join(" "), fill: color });
}

// The cells of a lane, side by side; how high each is, its light says.
export function cells(parent, { x, pitch }, T) {
  const w = Math.max(pitch * 0.76, pitch - 3);
  const place = (k) => ({ x: (x + (k + 0.5) * pitch - w / 2).toFixed(2), width: w.toFixed(2), rx: Math.min(2, w / 3) });
  return Array.from({ length: T }, (_, k) => make(parent, "rect", place(k)));
}
