// The numbers of a drawn cell at a step: which they are, how they are written, and their colours.

import { clamp } from "../cursor.js";
import { digits, raised } from "../numbers.js";

// For a small square: one digit and its power of ten where three do not fit; the sign is always there.
export function tight(value) {
  const text = digits(value);
  if (!/·|,|\d{5}/.test(text)) return value > 0 && Number.isFinite(value) ? `+${text}` : text;
  const [mantissa, power] = Math.abs(value).toExponential(0).split("e");
  return `${value < 0 ? "−" : "+"}${mantissa}·10${raised(Number(power))}`;
}

export const exact = (value) =>
  Number.isFinite(value) ? String(value).replaceAll("-", "−") : `not finite (${String(value).replace("-", "−")})`;

export function short(label, most = 12) {
  const letters = [...label];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : label;
}

// [fill, what is written on it] from the most negative to the most positive; of ink and paper what contrasts more.
export function palette({ signed, ink, paper }, levels = 200) {
  const stops = signed.map(([at, hex]) => [at, channels(hex)]);
  const light = [ink, paper].map((hex) => [hex, luminance(channels(hex))]);
  return Array.from({ length: levels + 1 }, (_, level) => {
    const at = level / levels;
    const next = Math.max(1, stops.findIndex(([stop]) => stop >= at));
    const [[low, from], [high, to]] = [stops[next - 1], stops[next]];
    const mixed = from.map((channel, k) => Math.round(channel + ((to[k] - channel) * (at - low)) / (high - low)));
    const own = luminance(mixed);
    const [[written]] = light.sort((a, b) => contrast(b[1], own) - contrast(a[1], own));
    return [`rgb(${mixed.join(",")})`, written];
  });
}

const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => (c <= 10 ? c / 3294 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function shade(shades, value, scale) {
  const half = (shades.length - 1) / 2;
  return shades[clamp(Math.round(half * (1 + value / scale)), 0, 2 * half)];
}

// The numbers on the lines of unit u at step t, both from 1, by the names of their places.
export function numbers({ kind, values }, t, u) {
  const gate = (name) => values[name][t - 1][u - 1];
  const [h0, h] = [values.h[t - 1][u - 1], values.h[t][u - 1]];
  if (kind === "lstm") {
    const [f, i, g, o] = ["f", "i", "g", "o"].map(gate);
    const [c0, c] = [values.c[t - 1][u - 1], values.c[t][u - 1]];
    return { c0, f, keep: f * c0, i, g, write: i * g, c, tanh: Math.tanh(c), o, h0, h };
  }
  if (kind !== "gru") return { h0, h };
  const [z, r, n] = ["z", "r", "n"].map(gate);
  return { h0, z, stay: 1 - z, keep: (1 - z) * h0, r, reset: r * h0, n, write: z * n, h };
}

// The step in plain words, for the line under the drawing and for who does not see it.
export function readout(model, t, u) {
  const v = Object.fromEntries(Object.entries(numbers(model, t, u)).map(([name, value]) => [name, digits(value)]));
  const start = `step ${t}, unit ${u}: `;
  if (model.kind === "lstm") {
    return `${start}f ${v.f} × c ${v.c0} + i ${v.i} × g ${v.g} = c ${v.c}; o ${v.o} × tanh c ${v.tanh} = h ${v.h}`;
  }
  if (model.kind === "gru") {
    return `${start}(1 − z) ${v.stay} × h ${v.h0} + z ${v.z} × n ${v.n} = h ${v.h}; reset ${model.reset} U, r ${v.r}`;
  }
  return `${start}reads “${short(model.labels[t - 1])}”, h goes from ${v.h0} to ${v.h}`;
}

// The lines of a state: a unit each, or of a strip the means of neighbours.
export function lined(row, lines) {
  const size = Math.ceil(row.length / lines);
  if (size === 1) return row;
  return Float64Array.from({ length: lines }, (_, line) => {
    const part = row.slice(line * size, (line + 1) * size);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
