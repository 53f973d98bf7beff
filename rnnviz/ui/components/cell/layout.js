// Where everything of a drawn cell stands, for a width in screen pixels.

import { clamp } from "../cursor.js";

const NUMBERED = 8; // units that stand as numbers in a column; more are a strip of lines
const LINES = 64; // of a strip at most; a line is then the mean of neighbours
const CHIP = { w: 78, h: 28 };
const WIDE = 720; // from here on a gated cell is drawn wide
export const DEEP = 200; // the height of a strip
const ACROSS = 64; // the width of a column of numbers
const NARROW = 28; // and of a strip

const point = (x, y) => ({ x, y, w: 0, h: 0 });
const op = (x, y, sign) => ({ type: "op", x, y, w: 26, h: 26, sign });
export const chip = (id, x, y, label, side = "above", size = CHIP) => ({ type: "chip", id, x, y, ...size, label, side });
const wire = (d, weight) => ({ type: "wire", d, weight });
const text = (x, y, label, anchor = "middle", weight = "") => ({ type: "text", x, y, label, anchor, weight });
const reads = (x, y, label = "", anchor = "middle") => ({ type: "reads", x, y, label, anchor });

const line = (...points) => `M${points.map((p) => p.join(" ")).join("L")}`;

function arrow(...points) {
  const [[a, b], [x, y]] = points.slice(-2);
  const [dx, dy] = [Math.sign(x - a) * 6, Math.sign(y - b) * 6];
  const [one, other] = [[x - dx - dy / 1.5, y - dy - dx / 1.5], [x - dx + dy / 1.5, y - dy + dx / 1.5]];
  return line(...points) + line(one, [x, y], other);
}

// From the side of one place to the facing side of another; round a corner first up or down, or first across.
function join(a, b, across = false) {
  const [dx, dy] = [Math.sign(b.x - a.x), Math.sign(b.y - a.y)];
  const out = across || !dy ? [a.x + (dx * a.w) / 2, a.y] : [a.x, a.y + (dy * a.h) / 2];
  const into = dy && (across || !dx) ? [b.x, b.y - (dy * b.h) / 2] : [b.x - (dx * b.w) / 2, b.y];
  return wire(dx && dy ? arrow(out, across ? [b.x, a.y] : [a.x, b.y], into) : arrow(out, into));
}

// The units of a state in a line of their own, a column or a row: which is chosen by a click.
export function units(model, x, y, length, down) {
  const lines = Math.min(model.hidden, LINES);
  const count = Math.ceil(model.hidden / Math.ceil(model.hidden / lines));
  const numbered = down && model.hidden <= NUMBERED;
  const each = length / count;
  const size = Math.ceil(model.hidden / count);
  return { x, y, each, lines: count, size, down, numbered, across: numbered ? ACROSS : NARROW };
}

export const TITLES = { folded: "Folded cell", unrolled: "Unrolled cell", lstm: "LSTM cell", gru: "GRU cell" };

// Numbers stand in lines of 28 pixels, of many units closer together.
const high = ({ hidden }) => (hidden <= NUMBERED ? (hidden <= 4 ? 28 : 22) * hidden : DEEP);

export function arrange(model, width) {
  return { folded, unrolled, lstm, gru }[model.kind](model, Math.max(300, Math.floor(width)));
}

function folded(model, width) {
  const w = Math.min(width, 460);
  const [x, top, deep] = [w / 2, 92, high(model)];
  const [middle, foot] = [top + deep / 2, top + deep + 12];
  const column = units(model, x, top, deep, true);
  // of several units the chosen one
  const one = model.hidden > 1 ? "one unit of " : "";
  const h = chip("h", w - CHIP.w / 2 - 20, middle, `${one}h_t`);
  const [before, out, back] = [chip("h0", x, 38, `${one}h_{t−1}`), x + 62, x - 62];
  const up = line([out, middle], [out, 38], [x + 39, 38]);
  const marks = [
    { type: "box", x: x - 42, y: top - 12, w: 84, h: deep + 24 },
    wire(arrow([x + 42, middle], [h.x - h.w / 2, middle])),
    wire(up + arrow([x - 39, 38], [back, 38], [back, middle], [x - 42, middle]), "W_h"),
    text(back - 8, (38 + middle) / 2, "W_h", "end", "W_h"),
    wire(arrow([x, foot + 44], [x, foot]), "W_x"),
    text(x + 10, foot + 28, "W_x", "start", "W_x"),
    before, h, reads(x, foot + 64), text(x - 42, foot + 62, "x_t", "end"),
    text(x, foot + 94, `h_t = ${model.equation?.phi ?? "φ"}(W_x x_t + W_h h_{t−1} + b)`),
  ];
  return { width: w, height: foot + 104, marks, units: column };
}

function unrolled(model, width) {
  const word = Boolean(model.softmax);
  // over the state of a word its softmax: answer, share, bars, their letters
  const [base, top] = word ? [122, 168] : [0, 58];
  const [deep, edge] = [high(model), word ? 8 : 16];
  const [across, gap] = model.hidden > NUMBERED ? [NARROW, 50] : !word ? [ACROSS, 42] : width < 500 ? [58, 22] : [ACROSS, 30];
  const count = Math.min(model.steps + 1, Math.max(2, Math.floor((width - 2 * edge + 8) / (across + gap))));
  const pitch = Math.min((width - 2 * edge) / count, across + 96);
  const w = Math.round(count * pitch + 2 * edge);
  const [middle, foot, x] = [top + deep / 2, top + deep, pitch / 2];
  const column = { ...units(model, x, top, deep, true), across };
  const slots = word ? model.softmax.which[0].length : 0;
  const reading = word ? foot + 50 : foot + 62;
  const over = [
    { type: "softmax", x, w: Math.min(pitch - 16, 24 * slots), y: base, slots },
    wire(arrow([x, top - 6], [x, base + 20])),
    ...(model.nudge ? [{ type: "meter", x, y: foot + 86 }] : []),
    { type: "twin", x: 3, y: 23, w: pitch - 6, h: foot + 35 },
  ];
  // a column for each state, placed around its own left edge: it moves as one
  const marks = [
    { type: "only", marks: [
      wire(arrow([(across - pitch) / 2, middle], [(pitch - across) / 2, middle]), "W_h"),
      text(0, middle - 14, "W_h", "middle", "W_h"),
      wire(arrow([x, reading - 20], [x, foot + 3]), "W_x"),
      text(x + 8, reading - 27, "W_x", "start", "W_x"),
      reads(x, reading),
      ...(word ? over : []),
    ] },
    { type: "step", x: word ? x + 20 : x, y: top - 12, name: "h" },
    { type: "step", x: word ? x + 26 : x, y: word ? reading : reading + 22, name: "x", only: true },
  ];
  const more = arrow([w - edge - (pitch - across) / 2, middle], [w - 1, middle]);
  const window = { left: edge, pitch, count, total: model.steps + 1, more };
  return { width: w, height: !word ? reading + 32 : foot + (model.nudge ? 122 : 66), marks: [], column: marks, units: column, window };
}

// A unit's row under a gated cell, where there are several.
function underneath(model, layout, name) {
  if (model.hidden === 1) return layout;
  const each = Math.min(48, (layout.width - 16) / Math.min(model.hidden, LINES));
  const row = units(model, 8, layout.height + 24, each * Math.min(model.hidden, LINES), false);
  layout.marks.push(text(8, layout.height + 16, `all units, ${name}_t`, "start"));
  return { ...layout, height: layout.height + 60, units: { ...row, name } };
}

function lstm(model, width) {
  const wide = width >= WIDE;
  const w = Math.min(width, wide ? 960 : 520);
  const X = (x) => (x * w) / (wide ? 800 : 358);
  const at = (across, down, small, low) => (wide ? [X(across), down] : [X(small), low]);
  const gate = (k, place, side) => ({ ...chip(k, ...place, `${model.words[k]} ${k}`, side), gate: k });
  const c0 = chip("c0", ...at(70, 46, 42, 46), "c_{t−1}");
  const keep = chip("keep", ...at(320, 46, 168, 46), "f·c_{t−1}");
  const c = chip("c", ...at(560, 46, 294, 46), "c_t");
  const forget = op(...at(210, 46, 105, 46), "×");
  const plus = op(...at(430, 46, 231, 46), "+");
  const write = chip("write", ...at(430, 102, 231, 104), "i·g", "right");
  const times = op(...at(430, 152, 231, 150), "×");
  const f = gate("f", at(210, 208, 105, 116), wide ? "aside" : "below");
  const i = gate("i", at(340, 208, 160, 206), "aside");
  const g = gate("g", at(520, 208, 294, 206), wide ? "aside" : "asideleft");
  const tanh = chip("tanh", ...at(680, 102, 292, 276), "tanh c_t", wide ? "right" : "below");
  const show = op(...at(680, 152, 224, 276), "×");
  const o = gate("o", at(680, 208, 142, 276), wide ? "aside" : "below");
  const h = chip("h", ...at(756, 152, 224, 332), "h_t", wide ? "above" : "right");
  const h0 = chip("h0", ...at(70, 256, 72, 332), "h_{t−1}", wide ? "above" : "below");
  const branch = point(wide ? tanh.x : w - 8, 46);
  const bus = wide
    ? [
        wire(line([h0.x + 39, h0.y], [o.x, h0.y])),
        wire(line([X(150), h0.y + 36], [X(150), h0.y])),
        reads(X(150) + 8, h0.y + 38, "x_t = ", "start"),
        ...[f, i, g, o].map((k) => join(point(k.x, h0.y), k)),
      ]
    : [
        wire(line([h0.x - 39, h0.y], [12, h0.y])),
        wire(line([12, h0.y + 60], [12, f.y])),
        reads(20, h0.y + 62, "x_t = ", "start"),
        ...[f, i, o].map((k) => join(point(12, k.y), k)),
        join(point(12, 240), g, true),
      ];
  const marks = [
    join(c0, forget), join(forget, keep), join(keep, plus), join(plus, c), join(c, point(w - 2, 46)),
    join(f, forget), join(i, times), join(g, times), join(times, write), join(write, plus),
    join(branch, tanh), join(tanh, show), join(o, show), join(show, h), ...bus,
    c0, keep, c, forget, plus, write, times, f, i, g, tanh, show, o, h, h0,
  ];
  return underneath(model, { width: w, height: wide ? 302 : 408, marks }, "c");
}

function gru(model, width) {
  const wide = width >= WIDE;
  const before = model.reset === "before";
  const w = Math.min(width, wide ? 960 : 520);
  const X = (x) => (x * w) / (wide ? 800 : 358);
  const at = (across, down, small, low) => (wide ? [X(across), down] : [X(small), low]);
  const gate = (k, place, side) => ({ ...chip(k, ...place, `${model.words[k]} ${k}`, side), gate: k });
  const h0 = chip("h0", ...at(70, 46, 42, 46), "h_{t−1}");
  const keep = chip("keep", ...at(360, 46, 168, 46), "(1−z)·h_{t−1}");
  const h = chip("h", ...at(650, 46, 294, 46), "h_t");
  const stays = op(...at(230, 46, 105, 46), "×");
  const plus = op(...at(490, 46, 231, 46), "+");
  const stay = chip("stay", ...at(230, 106, 105, 104), "1−z", "right");
  const z = gate("z", at(230, 168, 105, 162), "below");
  const write = chip("write", ...at(490, 106, 231, 104), "z·n", "right");
  const times = op(...at(490, 168, 231, 162), "×");
  const n = gate("n", at(630, 168, 231, 236), wide ? "above" : "left");
  const low = wide ? 262 : 320;
  const [first, second, third] = wide ? [230, 360, 490] : [105, 186, 268];
  const resets = op(X(before ? first : second), low, "×");
  const reset = chip("reset", X(second), low, "r·h_{t−1}", wide ? "above" : "below");
  const U = { type: "box", x: X(before ? third : first) - 19, y: low - 15, w: 38, h: 30 };
  const weight = { x: U.x + 19, y: low, w: 38, h: 30 };
  const r = gate("r", [resets.x, low + 58], "right");
  const [tap, turn] = wide ? [70, 600].map(X) : [12, w - 16];
  const chain = before ? [point(tap, low), resets, reset, weight] : [point(tap, low), weight, resets];
  const last = chain.at(-1);
  const into = wide ? [[turn, low], [turn, n.y + 14]] : [[turn, low], [turn, n.y], [n.x + 39, n.y]];
  const x = wide ? n.x + 18 : n.x;
  const marks = [
    join(h0, stays), join(stays, keep), join(keep, plus), join(plus, h), join(h, point(w - 2, 46)),
    join(z, stay), join(stay, stays), join(z, times), join(n, times), join(times, write), join(write, plus),
    wire(line([tap, 60], [tap, low])), ...chain.slice(1).map((place, k) => join(chain[k], place)),
    wire(arrow([last.x + last.w / 2, low], ...into)), join(r, resets),
    wire(arrow([x, n.y + 42], [x, n.y + 14])), reads(wide ? x - 6 : x, n.y + 58, "x_t = ", wide ? "start" : "middle"),
    U, text(weight.x, low + 5, "U_n"),
    text(z.x, z.y + 50, "of x_t, h_{t−1}"), text(r.x + 45, r.y + 23, "of x_t, h_{t−1}", "start"),
    ...(before ? [reset] : [text(X(third) + (wide ? 0 : 4), low + 26, "r·(U_n h_{t−1} + c_n)")]),
    h0, keep, h, stays, plus, stay, z, write, times, n, resets, r,
  ];
  return underneath(model, { width: w, height: low + 84, marks }, "h");
}

// What is under a point of the drawing: {step, unit}, what there is of them; {end} is a step beyond the window.
export function under({ window: shown, units: u, width }, start, x, y) {
  const at = {};
  let left = 0;
  if (shown) {
    if (y < 28 && x < 110 && start > 0) return { end: start - 1 };
    if (y < 28 && x > width - 110 && start + shown.count < shown.total) return { end: start + shown.count };
    const column = Math.floor((x - shown.left) / shown.pitch);
    if (column < 0 || column >= shown.count) return at;
    at.step = Math.max(1, start + column);
    left = shown.left + column * shown.pitch;
  }
  if (!u) return at;
  const along = u.down ? y - u.y : x - u.x;
  const beside = u.down ? Math.abs(x - left - u.x) <= u.across / 2 : y >= u.y && y <= u.y + u.across;
  const place = Math.floor(along / u.each);
  if (beside && place >= 0 && place < u.lines) at.unit = place * u.size + 1;
  return at;
}

// Where the window over count columns starts, so that column `at` is in it, with a margin where there is room.
export function slide(start, shown, count, at, margin) {
  const low = at + margin - shown + 1;
  return clamp(clamp(start, low, Math.max(low, at - margin)), 0, count - shown);
}

// What the two ends of the window say.
export function ends(start, { count, total }) {
  const steps = (n) => `${n.toLocaleString("en-US")} step${n === 1 ? "" : "s"}`;
  const after = total - start - count;
  return [start > 1 ? `‹ ${steps(start - 1)}` : start ? "‹ start" : "", after > 0 ? `${steps(after)} ›` : ""];
}

export function lineAt(u, k) {
  if (u.down) return { x: u.x - u.across / 2, y: u.y + k * u.each, w: u.across, h: u.each };
  return { x: u.x + k * u.each, y: u.y, w: u.each, h: u.across };
}
