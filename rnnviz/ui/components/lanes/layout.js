// Where everything of the lanes stands, for a width in screen pixels: side by side, or on a phone below each other.

const WIDE = 640; // from here on the answers stand beside the training
const ENTRY = 122; // a piece of a lane's line with its name and value
const SAMPLE = 24; // of them the piece of line
const LEVEL = 290; // the name of a level line, with a piece of it
const TRUTH = 188; // the truth with both of its numbers
const LETTER = 0.56; // of a text's size: as wide as a letter may be in any font, on the average
export const LOSS = [0, 0.25]; // 1/6 is two thirds up; what the first steps cost is marked at the edge
export const ANSWERS = [-0.1, 1.65];
const KNOB = 8;

// model: T, marks, steps, lanes with title and name, task and light: sentences.
export function arrange(model, width) {
  const { T, marks, lanes } = model;
  const wide = width >= WIDE;
  const texts = [];
  const samples = [];
  const text = (id, x, y, longest, more = {}) => texts.push({ id, x, y, longest, anchor: "start", size: 14, ...more });

  // ---- the task, and the lanes
  let y = 13;
  for (const words of lines(model.task, width, 15)) text(null, 0, y, words, { words, size: 15 }), (y += 20);
  const top = y - 11;
  const x = wide ? 70 : 2;
  const cells = { x, pitch: (width - x - (wide ? 12 : 2)) / T, half: wide ? 15 : 14, short: 5 };
  const at = (step) => x + (step - 0.5) * cells.pitch;
  const middles = (wide ? [16, 96] : [36, 116]).map((middle) => top + middle);
  const strip = top + (wide ? 56 : 76);
  const foot = top + (wide ? 127 : 148);
  lanes.forEach(({ title }, n) => {
    if (wide) {
      const words = title.split(" ");
      words.forEach((word, k) =>
        text(null, 0, middles[n] + 5 + 17 * (k - (words.length - 1) / 2), word, { words: word, bold: true }));
    } else text(null, x, n ? foot : top + 15, title, { words: title, bold: true });
  });
  if (wide) text(null, x - 10, foot, "step", { words: "step", size: 13, anchor: "end" });
  for (const step of [1, 20, 40, 60, 80, 100].filter((one) => one <= T && (wide || one > 10))) {
    const last = !wide && step === T;
    const words = last ? `step ${step}` : String(step);
    text(null, last ? width : at(step), foot, words, { words, size: 13, anchor: last ? "end" : "middle" });
  }
  const where = (step) => (wide ? `at step ${step}` : `step ${step}`);
  y = foot + (wide ? 21 : 25);
  for (const words of lines(model.light, width, 14)) text(null, 0, y, words, { words }), (y += 18);
  const pill = { x: at(marks[0]) + 20, y: strip - 14, w: 84, h: 28 };
  text("first", pill.x + pill.w / 2, strip + 5, "0.80", { bold: true, anchor: "middle" });
  text(null, pill.x + pill.w + 6, strip + 5, where(marks[0]), { words: where(marks[0]) });
  text("second", at(marks[1]) + 19, strip + 5, "0.45", { bold: true });
  text(null, at(marks[1]) + (wide ? 56 : 54), strip + 5, where(marks[1]), { words: where(marks[1]) });

  // ---- the charts
  const left = wide ? x : 34;
  const inner = width - left - 12;
  const aside = wide ? Math.max(200, Math.round(0.25 * inner)) : inner;
  const across = wide ? inner - aside - 56 : inner;
  const folded = across < 48 + 2 * ENTRY + LEVEL; // the name of the level in a line of its own
  const head = (name, plot, y, entries) => {
    text(null, plot.x, y, name, { words: name, bold: true });
    entries.forEach(([id, lane], k) => {
      const start = plot.x + 50 + k * ENTRY;
      samples.push({ x: start, y: y - 5, w: SAMPLE, lane });
      text(id, start + SAMPLE + 6, y, "LSTM 0.000", { lane });
    });
  };
  const both = (name) => lanes.map((_, n) => [`${name} ${n}`, n]);
  const level = (plot, y, words) => {
    const start = folded ? plot.x : plot.x + across - LEVEL;
    samples.push({ x: start, y: y - 5, w: SAMPLE, lane: null });
    text(null, start + SAMPLE + 6, y, words, { words });
  };
  y += wide ? 7 : 14;
  const charts = y;
  const plots = {};
  const strips = [
    ["loss", wide ? 58 : 64, LOSS, "always answering 1, the mean: 1/6"],
    ["reach", wide ? 70 : 72, [0, 1.08 * T], `the mark at step ${marks[0]}: ${model.lag} back`],
  ];
  for (const [name, h, [low, high], words] of strips) {
    const plot = (plots[name] = { x: left, y: y + (folded ? 28 : 9), w: across, h, low, high });
    head(name, plot, y, both(name));
    level(plot, y + (folded ? 19 : 0), words);
    y = plot.y + h + 22;
  }
  const { loss, reach } = plots;
  const tick = (plot, value, words) =>
    text(null, plot.x - 11, down(plot, value) + 5, words, { words, size: 13, anchor: "end" });
  tick(loss, 0, "0"), tick(loss, model.baseline, "1/6");
  tick(reach, 0, "0"), tick(reach, T, String(T));
  text("edge", loss.x + 30, loss.y + 10, "▲ 1.11", { size: 13 });
  const axis = (plot, values, id, longest, title, span) => {
    const foot = plot.y + plot.h + 2 * KNOB + 14;
    for (const [value, words] of values) {
      text(null, plot.x + (value / span) * plot.w, foot, words, { words, size: 13, anchor: "middle", under: id });
    }
    text(id, null, foot, longest, { bold: true, anchor: "middle" });
    text(null, plot.x + plot.w / 2, foot + 17, title, { words: title, size: 13, anchor: "middle" });
    return foot + 22;
  };
  const end = model.steps[model.steps.length - 1];
  const thousand = (_, k) => [1000 * k, (1000 * k).toLocaleString("en")];
  const thousands = Array.from({ length: Math.floor(end / 1000) + 1 }, thousand);
  let height = axis(reach, thousands, "at training", "0,000", "training step", end);

  const from = wide ? charts : height + 26;
  const answers = { x: wide ? width - 12 - aside : left, w: aside, low: ANSWERS[0], high: ANSWERS[1] };
  const beside = 64 + SAMPLE + 6 + TRUTH <= aside + 12; // else the truth has a line of its own
  const second = beside ? from : from + 19;
  answers.y = second + 30;
  answers.h = wide ? reach.y + reach.h - answers.y : 120;
  plots.answers = answers;
  head("answer", answers, from, []);
  const start = answers.x + (beside ? 64 : 0);
  samples.push({ x: start, y: second - 5, w: SAMPLE, lane: null });
  text("truth", start + SAMPLE + 6, second, "truth 1.25 = 0.80 + 0.45");
  both("answer").forEach(([id, n]) => {
    const start = answers.x + n * (ENTRY - 12);
    samples.push({ x: start, y: second + 14, w: SAMPLE - 2, lane: n });
    text(id, start + SAMPLE + 2, second + 19, "LSTM 0.00", { lane: n });
  });
  tick(answers, 0, "0"), tick(answers, 1, "1");
  const below = axis(answers, [[0, "0"], [1, "1"]], "at number", "0.80", "first number: drag", 1);
  height = Math.ceil(Math.max(height, below));
  return { width, height, wide, cells, middles, strip, pill, plots, texts, samples, knob: KNOB };
}

// The pixel of a value on the vertical axis of a plot; beyond it at its edge.
export function down(plot, value) {
  const share = (value - plot.low) / (plot.high - plot.low);
  return plot.y + plot.h * (1 - Math.min(Math.max(share, 0), 1));
}

// The middle of a cell.
export const middle = ({ x, pitch }, step) => x + (step - 0.5) * pitch;

// A sentence in as many lines as its letters need.
export function lines(sentence, width, size) {
  const most = Math.floor(width / (size * LETTER));
  const folded = [""];
  for (const word of sentence.split(" ")) {
    const longer = folded.at(-1) ? `${folded.at(-1)} ${word}` : word;
    if ([...longer].length <= most || !folded.at(-1)) folded[folded.length - 1] = longer;
    else folded.push(word);
  }
  return folded;
}

// A text's place as {x, y, w, h}, as wide as its longest words may be in any font.
export function room({ x, y, size, longest, anchor, bold }) {
  const w = [...longest].length * size * (bold ? 0.6 : LETTER);
  return { x: x - (anchor === "end" ? w : anchor === "middle" ? w / 2 : 0), y: y - 0.76 * size, w, h: size };
}
