// The lanes: what stands where, what is lit, what is said.

import assert from "node:assert/strict";
import test from "node:test";

import { nearest, written } from "../../../rnnviz/ui/components/cursor.js";
import { arrange, down, lines, middle, room } from "../../../rnnviz/ui/components/lanes/layout.js";
import * as values from "../../../rnnviz/ui/components/lanes/values.js";

const single = (...all) => new Float32Array(all);
const T = 100;

function lane(name, title, share) {
  // so much is left of each step's derivative, going back from the last
  const logs = Float32Array.from({ length: T + 1 }, (_, t) => (T - t) * Math.log(share));
  return { cell: name.toLowerCase(), name, title, loss: single(1.11, 0.2, 0.125), reach: new Int32Array([10, 22, -1]),
    log_answer: [logs, logs, logs], answers: [single(-0.001, 1), single(0.125, 0.375), single(0.45, 1.45)] };
}

const model = {
  T, marks: [12, 71], lag: 88, values: [0, 1], second_number: Math.fround(0.45), steps: new Int32Array([0, 20, 3200]),
  lanes: [lane("RNN", "tanh RNN", 0.6), lane("LSTM", "LSTM", 0.96)], baseline: 1 / 6, heard: 0.01,
  colors: { lit: [0.75, 1] },
  says: ["{answer} and {answer_rnn}", "truth {truth}, {other}", "."],
  stages: [{ since: 0, text: "birth" }, { since: 20, text: "flat" }],
  task: "100 numbers come in, one a step. Two are marked, at steps 12 and 71. The answer, their sum, is due at step 100.",
  light: "The answer still hears a lit cell: at least 1 % of ∂answer/∂state is left. Reach: how many steps back the light goes.",
};

test("a cell is lit while one percent is left there, brighter by decade, and its share is that of the last step", () => {
  assert.deepEqual([0, 0.00999, NaN, 0.01, 0.1, 1, 7].map((share) => values.light(share, model)), [0, 0, 0, 0.75, 0.875, 1, 1]);
  const shares = values.left(model.lanes[0].log_answer[0]);
  assert.equal(shares.length, T);
  assert.equal(shares.at(-1), 1);
  assert.deepEqual(shares.map((share) => values.light(share, model) > 0), shares.map((share) => share >= 0.01));
  assert.equal(shares.filter((share) => share >= 0.01).length, 10); // 0.6^9 is above it
});

test("decimals are Python's: a tie to the even digit, no minus at zero", () => {
  assert.deepEqual([0.125, 0.375, -0.125, 0.135, 1.005, -0.001, -0.049].map(values.two), ["0.12", "0.38", "−0.12", "0.14", "1.00", "0.00", "−0.05"]);
  assert.deepEqual([0.0625, 0.1875, 0.0005].map((value) => values.fixed(value, 3)), ["0.062", "0.188", "0.001"]);
});

test("the sentence of a snapshot is its template with the answers of the first number", () => {
  assert.equal(values.verdict(model, 0, 0), "0.00 and 0.00");
  assert.equal(values.verdict(model, 0, 1), "1.00 and 1.00");
  assert.equal(values.verdict(model, 1, 1), "truth 1.45, {other}");
});

test("while it plays the sentence is that of the stage, and the truth says where it comes from", () => {
  assert.deepEqual([0, 1, 2].map((k) => values.stage(model, k)), ["birth", "flat", "flat"]);
  assert.equal(values.truth(values.numbers(model, 0, 1)), "truth 1.45 = 1.00 + 0.45");
});

test("a sentence is folded between words and nothing of it is lost", () => {
  for (const width of [20, 358, 944, 3000]) {
    const folded = lines(model.light, width, 14);
    assert.equal(folded.join(" "), model.light);
    assert.ok(width === 20 || folded.every((line) => line.length * 14 * 0.56 <= width));
  }
  assert.equal(lines(model.light, 944, 14).length, 1);
  assert.equal(lines(model.task, 944, 15).length, 1);
});

test("a training step shows the last look at or before it", () => {
  assert.deepEqual([0, 19, 20, 3199, 3200, 9999].map((step) => values.snapshot(model.steps, step)), [0, 0, 1, 1, 2, 2]);
});

test("in words: ends, extremes and where the light ends", () => {
  const said = values.spoken(model, 2, 1);
  assert.match(said, /^At training step 3,200, first number 1\.00\. tanh RNN: light from step 1 to 100; loss 0\.125, from 1\.110 to 0\.125, least 0\.125; reach all 100, between 10 and all 100; answers 1\.45\./);
  assert.match(values.spoken(model, 0, 0), /light from step 91 to 100/);
});

test("a grid has nothing between its values, and people read a factor of them", () => {
  const training = { low: 0, high: 3200, grid: 20 };
  assert.deepEqual([-5, 9, 10, 911, 9999].map((value) => nearest(value, training)), [0, 0, 20, 920, 3200]);
  assert.equal(written(16, { factor: 0.05, decimals: 2 }), "0.80");
  assert.equal(written(900, { factor: 1, decimals: 0 }), "900");
});

const apart = (a, b) => a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;

test("at every width all stand inside, no text on another, none on a curve, and each is 13 pixels or more", () => {
  for (const width of [358, 390, 560, 639, 640, 760, 944, 1200, 1360, 1500]) {
    const layout = arrange(model, width);
    const { x, w, y, h } = layout.pill;
    const solid = [
      ...layout.texts.filter(({ id }) => id !== "first" && !id?.startsWith("at ")).map((text) => ({ name: text.longest, ...room(text) })),
      { name: "pill", x, y, w, h },
      ...layout.samples.map((sample) => ({ name: "sample", x: sample.x, y: sample.y - 2, w: sample.w, h: 4 })),
    ];
    solid.forEach((one, k) => {
      assert.ok(one.x >= -1 && one.x + one.w <= width + 8 && one.y >= 0 && one.y + one.h <= layout.height, `${one.name} at ${width}`);
      for (const other of solid.slice(k + 1)) assert.ok(apart(one, other), `${one.name} on ${other.name} at ${width}`);
      for (const plot of Object.values(layout.plots)) {
        if (one.name !== "▲ 1.11") assert.ok(apart(one, plot), `${one.name} in a chart at ${width}`);
      }
    });
    assert.ok(layout.texts.every(({ size }) => size >= 13));
    // what marks the edge stands between it and the flat loss, right of where the curves come down
    const { loss, reach, answers } = layout.plots;
    const edge = room(layout.texts.find(({ id }) => id === "edge"));
    assert.ok(edge.y >= loss.y - 1 && edge.y + edge.h < down(loss, 0.19) && edge.x > loss.x + (80 / 3200) * loss.w);
    assert.ok(loss.x === reach.x && loss.w === reach.w); // one training axis
    assert.ok(layout.wide ? answers.x > loss.x + loss.w : answers.y > reach.y + reach.h);
    assert.ok(layout.height <= (layout.wide ? 500 : 810));
    assert.ok(middle(layout.cells, 1) > layout.cells.x && middle(layout.cells, T) < width);
  }
  assert.ok(arrange(model, 1200).height <= 416); // of 720 pixels
  assert.ok(arrange(model, 944).height <= 416); // of 768
});

test("a value beyond a chart stands at its edge", () => {
  const plot = { y: 10, h: 100, low: 0, high: 2 };
  assert.deepEqual([0, 1, 2, 5, -1].map((value) => down(plot, value)), [110, 60, 10, 10, 110]);
});
