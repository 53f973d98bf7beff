// The cursor of a group, and the messages that drawings come in, without a browser.

import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";

import { addressed, between, group, spanned } from "../../../rnnviz/ui/components/cursor.js";
import { unpack } from "../../../rnnviz/ui/components/payload.js";

const frames = [];
globalThis.requestAnimationFrame = (act) => frames.push(act);
const paint = () => frames.splice(0).forEach((act) => act());
globalThis.window = {
  location: new URL("http://here/page"),
  history: { replaceState: (_state, _title, address) => (window.location = new URL(address)) },
};

class Drawing {
  shown = [];
  show(chosen, hovered) {
    this.shown.push({ ...chosen, hovered });
  }
}

const dims = (low, high, at = low, stride = 1) => ({ step: { low, high, at, stride, label: "step" } });
let one, other, cursor, leave;

beforeEach((t) => {
  window.location = new URL("http://here/page?v=1");
  [one, other] = [new Drawing(), new Drawing()];
  cursor = group(t.name);
  leave = [cursor.join(one, { token: "a", dims: dims(0, 50, 7) }), cursor.join(other, { token: "a", dims: dims(1, 90) })];
  paint();
});

test("what is chosen in one drawing is shown in all, once a frame", () => {
  const before = one.shown.length;
  for (let step = 1; step <= 40; step++) cursor.choose("step", step);
  paint();
  assert.equal(one.shown.length, before + 1);
  assert.equal(one.shown.at(-1).step, 40);
  assert.equal(other.shown.at(-1).step, 40);
});

test("it starts where the view says, spans all drawings and stays within", () => {
  assert.equal(cursor.chosen.step, 7);
  cursor.choose("step", 1e9);
  assert.equal(cursor.chosen.step, 90);
  cursor.choose("step", NaN);
  assert.equal(cursor.chosen.step, 90);
  cursor.choose("step", -3);
  assert.equal(cursor.chosen.step, 0);
});

test("the address says what was chosen once it rests, and nothing else changes in it", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  cursor.choose("step", 12);
  t.mock.timers.tick(200);
  cursor.choose("step", 13);
  t.mock.timers.tick(200);
  assert.equal(window.location.search, "?v=1");
  t.mock.timers.tick(200);
  assert.equal(window.location.search, "?v=1&at_step=13");
});

test("an address opens at its step; one that is no step of this view is passed over", () => {
  window.location = new URL("http://here/page?at_step=33");
  cursor.join(one, { token: "b", dims: dims(0, 50, 7) });
  assert.equal(cursor.chosen.step, 33);
  for (const wrong of ["-1", "x", "1e3", "", "99999999999"]) {
    window.location = new URL(`http://here/page?at_step=${wrong}`);
    cursor.join(one, { token: `c${wrong}`, dims: dims(0, 50, 7) });
    assert.equal(cursor.chosen.step, 7, wrong);
  }
  assert.equal(addressed("?at_step=007", "at_step"), 7);
  window.location = new URL("http://here/page?at_step=9999");
  cursor.join(one, { token: "far", dims: dims(0, 50, 7) });
  assert.equal(cursor.chosen.step, 90, "the nearest that there is");
});

test("what is no whole number is taken out of the address, and what is one is written as the page reads it", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const [wrong, right] of [["-50", ""], ["2.5", ""], ["banana", ""], ["007", "&at_step=7"], ["9999", "&at_step=90"]]) {
    window.location = new URL(`http://here/page?v=1&at_step=${wrong}&at_other=x`);
    cursor.join(one, { token: `tidy ${wrong}`, dims: dims(0, 50, 3) });
    t.mock.timers.tick(400);
    assert.equal(window.location.search.replace("&at_other=x", ""), `?v=1${right}`, wrong);
  }
  // the server, which knows the address of before, writes it again
  window.location = new URL("http://here/page?v=1&at_step=2.5");
  cursor.join(one, { token: "again", dims: dims(0, 50, 3) });
  t.mock.timers.tick(400);
  window.location = new URL("http://here/page?v=1&gain=2&at_step=2.5");
  cursor.readdress(false);
  t.mock.timers.tick(400);
  assert.equal(window.location.search, "?v=1&gain=2");
});

test("a route goes from point to point in its own time, and the address waits for its end", (t) => {
  const points = [[0, 10], [100, 20], [1100, 60]];
  assert.deepEqual([-1, 0, 50, 100, 600, 1100, 9999].map((time) => between(points, time)), [10, 10, 15, 20, 40, 60, 60]);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const pass = (milliseconds) => {
    for (const end = now + milliseconds; now < end; ) (now += 20), t.mock.timers.tick(20);
  };
  cursor.route = { dim: "step", points };
  cursor.tour(cursor.route);
  pass(600);
  assert.ok(Math.abs(cursor.chosen.step - 40) <= 2 && cursor.playing === "step");
  assert.equal(window.location.search, "?v=1");
  pass(1000);
  assert.deepEqual([cursor.chosen.step, cursor.playing, window.location.search], [60, null, "?v=1&at_step=60"]);
  // where it ended, and at the very end, it is what plays again; in between the rest is
  for (const end of [60, 90]) {
    cursor.choose("step", end);
    cursor.play("step");
    assert.deepEqual([cursor.chosen.step, cursor.touring], [10, true]);
    cursor.pause();
  }
  cursor.choose("step", 61);
  cursor.play("step");
  assert.deepEqual([cursor.chosen.step, cursor.touring], [61, false]);
  cursor.pause();
});

test("an address may be ahead of a run that has still to get there, unless the reader moves first", () => {
  window.location = new URL("http://here/page?at_step=120");
  const open = (high) => ({ step: { ...dims(0, high, 7).step, open: true } });
  cursor.join(one, { token: "b", dims: open(50) });
  assert.equal(cursor.chosen.step, 7);
  cursor.join(one, { token: "b", dims: open(130) });
  assert.equal(cursor.chosen.step, 120);
  cursor.join(one, { token: "b", dims: open(60) });
  assert.equal(cursor.chosen.step, 7, "what was chosen is awaited again");
  cursor.join(one, { token: "b", dims: open(130) });
  assert.equal(cursor.chosen.step, 120);
  cursor.join(one, { token: "c", dims: open(50) });
  cursor.choose("step", 8);
  cursor.join(one, { token: "c", dims: open(130) });
  assert.equal(cursor.chosen.step, 8);
});

test("another view begins anew, the same view keeps what was chosen", () => {
  cursor.choose("step", 20);
  cursor.join(one, { token: "a", dims: dims(0, 30, 9) });
  assert.equal(cursor.chosen.step, 20);
  cursor.join(other, { token: "next", dims: dims(0, 30, 9) });
  cursor.join(one, { token: "next", dims: dims(0, 30, 9) });
  assert.equal(cursor.chosen.step, 9);
});

test("hovering shows and chooses nothing", () => {
  cursor.hover({ step: 3 });
  paint();
  assert.deepEqual(one.shown.at(-1), { step: 7, hovered: { step: 3 } });
  cursor.hover(null);
  paint();
  assert.deepEqual(one.shown.at(-1), { step: 7, hovered: null });
});

test("it plays a stride at a time at its speed and ends at the last", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  cursor.choose("step", 85);
  cursor.speed = 2;
  cursor.play("step");
  for (let k = 0; k < 2; k++) t.mock.timers.tick(50);
  assert.equal(cursor.chosen.step, 87);
  for (let k = 0; k < 9; k++) t.mock.timers.tick(50);
  assert.equal(cursor.chosen.step, 90);
  assert.equal(cursor.playing, null);
  window.matchMedia = () => ({ matches: true });
  cursor.play("step"); // from the end it starts over, and calmly where less motion is wished
  t.mock.timers.tick(999);
  assert.equal(cursor.chosen.step, 0);
  t.mock.timers.tick(1);
  assert.equal(cursor.chosen.step, 1);
  cursor.pause();
  delete window.matchMedia;
});

test("an address that the server wrote from before the last move is written again; Back is followed", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  cursor.choose("step", 12);
  t.mock.timers.tick(500);
  cursor.choose("step", 14);
  window.location = new URL("http://here/page?v=1&gain=2&at_step=12");
  cursor.readdress(false);
  t.mock.timers.tick(400);
  assert.equal(window.location.search, "?v=1&gain=2&at_step=14");
  window.location = new URL("http://here/page?v=1&at_step=12");
  cursor.readdress(true);
  assert.equal(cursor.chosen.step, 12);
});

test("a group without drawings is gone, and on the way back stands where it was left", () => {
  cursor.choose("step", 30);
  leave.forEach((out) => out());
  const again = group(cursor.name);
  assert.notEqual(again, cursor);
  again.join(one, { token: "a", dims: dims(0, 50, 7) });
  assert.equal(again.chosen.step, 30);
  again.join(one, { token: "another view", dims: dims(0, 50, 7) });
  assert.equal(again.chosen.step, 7);
});

test("keys go from value to value, playing a stride at a time", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  cursor.join(other, { token: "a", dims: { step: { ...dims(0, 4000).step, each: 20, stride: 60 } } });
  cursor.choose("step", 900);
  cursor.move("step", 1);
  assert.equal(cursor.chosen.step, 920);
  cursor.play("step");
  t.mock.timers.tick(100);
  assert.equal(cursor.chosen.step, 980);
  cursor.pause();
});

test("the widest extent and the coarsest stride count", () => {
  assert.equal(spanned([]), null);
  const { low, high, stride } = spanned([dims(2, 9).step, dims(0, 400, 0, 2).step]);
  assert.deepEqual([low, high, stride], [0, 400, 2]);
});

test("a message is read wherever it lies in memory", () => {
  const head = JSON.stringify({ a: { $array: ["f4", [2, 2], 0] }, b: [{ $array: ["i4", [1], 16] }], c: "é" });
  const size = new TextEncoder().encode(head);
  const start = Math.ceil((4 + size.length) / 8) * 8;
  const bytes = new Uint8Array(start + 24);
  new DataView(bytes.buffer).setUint32(0, size.length, true);
  bytes.set(size, 4);
  bytes.set(new Uint8Array(Float32Array.of(1, 2, 3, NaN).buffer), start);
  bytes.set(new Uint8Array(Int32Array.of(-7).buffer), start + 16);
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  const { a, b, c } = unpack(shifted.subarray(3));
  assert.deepEqual(a.map((row) => [...row]), [[1, 2], [3, NaN]]);
  assert.deepEqual([[...b[0]], c], [[-7], "é"]);
});
