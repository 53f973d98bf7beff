// The cell's drawing: numbers, colours, places and window as pure functions, and its nodes on a page of pretence.

import assert from "node:assert/strict";
import test from "node:test";

import * as whole from "../../../rnnviz/ui/components/cell/cell.js";
import { terms } from "../../../rnnviz/ui/components/cell/equation.js";
import * as layout from "../../../rnnviz/ui/components/cell/layout.js";
import * as values from "../../../rnnviz/ui/components/cell/values.js";
import { BARS, level, METER, percent } from "../../../rnnviz/ui/components/cell/word.js";
import * as written from "../../../rnnviz/ui/components/numbers.js";
import { group } from "../../../rnnviz/ui/components/cursor.js";

const cell = { ...written, ...values, ...layout, ...whole };

const colors = {
  signed: [[0, "#E66101"], [0.25, "#FDB863"], [0.5, "#F7F7F7"], [0.75, "#92C5DE"], [1, "#0571B0"]],
  ink: "#1B1F24",
  paper: "#FFFFFF",
  gates: Object.fromEntries([..."ifgozrn"].map((k) => [k, "#009E73"])),
};
const words = Object.fromEntries([..."ifgozrnch"].map((k) => [k, "replace"])); // the longest of them
const NAMES = { lstm: [..."figo"], gru: [..."zrn"], folded: [], unrolled: [] };

const wave = (rows, hidden, shift) =>
  Array.from({ length: rows }, (_, t) => Array.from({ length: hidden }, (_, u) => Math.sin(3 * t + 1.7 * u + shift)));

function model(kind, { steps = 12, hidden = 3, reset = "before", ...rest } = {}) {
  const values = { h: wave(steps + 1, hidden, 0), c: wave(steps + 1, hidden, 1) };
  NAMES[kind].forEach((name, k) => (values[name] = wave(steps, hidden, k + 2)));
  const labels = Array.from({ length: steps }, (_, t) => "HELLO"[t % 5]);
  const cursor = { group: "g", token: "t", at: { step: 2, unit: 1 } };
  return { kind, steps, hidden, reset, values, labels, words, shares: "fiozr", scale: 1, colors, alt: "A cell.", key: "Blue.", ...cursor, ...rest };
}

test("three significant digits as people write them", () => {
  const written = { 0.91: "0.91", "-0.3": "−0.3", 0.0061: "0.0061", 2.178: "2.18", 6700: "6,700", 99999: "1·10⁵", "-0.000028512": "−2.85·10⁻⁵", 0.99999: "1", 0.00123: "0.00123", 1e-300: "1·10⁻³⁰⁰" };
  for (const [value, text] of Object.entries(written)) assert.equal(cell.digits(Number(value)), text);
  assert.equal(cell.digits(-0), "0");
  assert.deepEqual([NaN, Infinity, -Infinity].map(cell.digits), ["not known", "infinite", "minus infinity"]);
  assert.equal(cell.exact(-Infinity), "not finite (−Infinity)");
  assert.equal(cell.exact(-1.5e-7), "−1.5e−7");
});

test("a small square always says the sign, and fits", () => {
  assert.deepEqual([0.5, -0.5, 0, NaN, 1234, -1.26e-9].map(cell.tight), ["+0.5", "−0.5", "0", "not known", "+1·10³", "−1·10⁻⁹"]);
  for (let k = -320; k < 308; k += 0.37) assert.ok([...cell.tight(-(10 ** k))].length <= 9);
});

test("colours run from orange to blue around zero, beyond the scale they stay, and text on them has contrast", () => {
  const shades = cell.palette(colors);
  assert.equal(cell.shade(shades, -1, 1)[0], "rgb(230,97,1)");
  assert.equal(cell.shade(shades, 0, 1)[0], "rgb(247,247,247)");
  assert.deepEqual(cell.shade(shades, 17, 2), ["rgb(5,113,176)", "#FFFFFF"]);
  assert.equal(cell.shade(shades, -1e300, 1e-300), shades[0]);
  const light = (text) => {
    const rgb = text[0] === "#" ? [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16)) : text.match(/\d+/g).map(Number);
    return rgb.map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  };
  for (const [fill, written] of shades) {
    const [low, high] = [light(fill), light(written)].sort((a, b) => a - b);
    assert.ok((high + 0.05) / (low + 0.05) >= 4, `${written} on ${fill}`);
  }
});

test("an LSTM's lines carry the products, and its state is their sum", () => {
  const values = { f: [[0.91]], i: [[0.1]], g: [[-0.3]], o: [[0.5]], c: [[0.42], [0.91 * 0.42 - 0.03]], h: [[0.2], [0.17]] };
  const v = cell.numbers({ kind: "lstm", values }, 1, 1);
  assert.equal(v.keep, 0.91 * 0.42);
  assert.equal(v.write, 0.1 * -0.3);
  assert.equal(v.keep + v.write, v.c);
  assert.equal(v.tanh, Math.tanh(v.c));
  assert.equal(
    cell.readout({ kind: "lstm", values }, 1, 1),
    "step 1, unit 1: f 0.91 × c 0.42 + i 0.1 × g −0.3 = c 0.352; o 0.5 × tanh c 0.338 = h 0.17",
  );
});

test("a GRU keeps by 1 − z and replaces by z; what reads a letter says it", () => {
  const values = { z: [[0.25]], r: [[0.5]], n: [[-0.4]], h: [[0.8], [0.5]] };
  const v = cell.numbers({ kind: "gru", values }, 1, 1);
  assert.deepEqual([v.stay, v.keep, v.write, v.reset], [0.75, 0.75 * 0.8, 0.25 * -0.4, 0.4]);
  assert.ok(Math.abs(v.keep + v.write - 0.5) < 1e-15);
  const said = cell.readout({ kind: "gru", values, reset: "after" }, 1, 1);
  assert.equal(said, "step 1, unit 1: (1 − z) 0.75 × h 0.8 + z 0.25 × n −0.4 = h 0.5; reset after U, r 0.5");
  const chain = { kind: "unrolled", values, labels: ["a".repeat(40)] };
  assert.equal(cell.readout(chain, 1, 1), `step 1, unit 1: reads “${"a".repeat(11)}…”, h goes from 0.8 to 0.5`);
});

test("values that are not finite are said, in all kinds", () => {
  for (const kind of Object.keys(NAMES)) {
    const broken = model(kind);
    for (const rows of Object.values(broken.values)) for (const row of rows) row.fill(NaN);
    assert.match(cell.readout(broken, 3, 2), /not known|infinite/);
  }
});

test("a strip's lines are the means of neighbours, and keep what is not finite", () => {
  assert.deepEqual([...cell.lined([1, 2, 3, 4, 7], 3)], [1.5, 3.5, 7]);
  const row = [1, 2];
  assert.equal(cell.lined(row, 2), row);
  assert.ok(Number.isNaN(cell.lined([1, NaN, 2, 3], 2)[0]));
});

test("the window holds the cursor, moves no more than it must, and ends at the ends", () => {
  for (let shown = 1; shown <= 5; shown++) {
    for (let count = shown; count < 12; count++) {
      for (let start = 0; start <= count - shown; start++) {
        for (let at = 0; at < count; at++) {
          const next = cell.slide(start, shown, count, at, 0);
          assert.ok(next <= at && at < next + shown && next >= 0 && next + shown <= count);
          if (start <= at && at < start + shown) assert.equal(next, start);
        }
      }
    }
  }
  assert.equal(cell.slide(0, 4, 20, 3, 1), 1); // one step ahead stays in sight
  assert.equal(cell.slide(8, 4, 20, 8, 1), 7);
  assert.equal(cell.slide(0, 4, 20, 19, 1), 16);
});

test("the ends say how many steps lie beyond", () => {
  assert.deepEqual(cell.ends(0, { count: 6, total: 6 }), ["", ""]);
  assert.deepEqual(cell.ends(1, { count: 4, total: 6 }), ["‹ start", "1 step ›"]);
  assert.deepEqual(cell.ends(13, { count: 4, total: 201 }), ["‹ 12 steps", "184 steps ›"]);
});

const box = ({ x, y, w, h }) => [x - w / 2, y - h / 2, x + w / 2, y + h / 2];

test("at every width all places lie inside, and no two of them on each other", () => {
  for (const kind of Object.keys(NAMES)) {
    for (const reset of ["before", "after"]) {
      for (const hidden of [1, 3, 8, 9, 100, 256]) {
        for (const width of [340, 358, 500, 719, 720, 1024, 1440, 1920]) {
          const { marks, column = [], ...layout } = cell.arrange(model(kind, { hidden, reset }), width);
          assert.ok(layout.width <= width, `${kind} at ${width} is ${layout.width}`);
          const solid = [...marks, ...column].filter((mark) => ["chip", "op"].includes(mark.type)).map(box);
          solid.forEach(([a, b, c, d], k) => {
            assert.ok(a >= 0 && b >= 0 && c <= layout.width && d <= layout.height, `${kind} at ${width}`);
            for (const [e, f, g, h] of solid.slice(k + 1)) assert.ok(a >= g || e >= c || b >= h || f >= d, `${kind} at ${width}`);
          });
          const u = layout.units;
          if (!u) assert.equal(hidden, 1);
          else assert.ok(u.lines <= 64 && u.lines * u.size >= hidden && (u.lines - 1) * u.size < hidden);
        }
      }
    }
  }
});

test("a narrow chain shows 3 to 5 columns, a wide one all that is readable, a short one all", () => {
  const count = (width, options) => cell.arrange(model("unrolled", options), width).window.count;
  for (const hidden of [1, 8, 9, 256]) {
    const narrow = count(358, { steps: 200, hidden });
    assert.ok(narrow >= 3 && narrow <= 5);
    assert.ok(count(1440, { steps: 200, hidden }) >= 12);
    assert.equal(count(358, { steps: 1, hidden }), 2);
    assert.equal(count(1024, { steps: 5, hidden }), 6);
  }
});

test("a point on the chain is a step and a unit; its ends are the steps beyond", () => {
  const layout = cell.arrange(model("unrolled", { steps: 200, hidden: 4 }), 1024);
  const { left, pitch, count } = layout.window;
  const u = layout.units;
  for (let k = 0; k < count; k++) {
    for (let unit = 0; unit < 4; unit++) {
      const at = cell.under(layout, 20, left + (k + 0.5) * pitch, u.y + (unit + 0.5) * u.each);
      assert.deepEqual(at, { step: 20 + k, unit: unit + 1 });
    }
    assert.deepEqual(cell.under(layout, 20, left + (k + 0.5) * pitch, layout.height - 10), { step: 20 + k });
  }
  assert.deepEqual(cell.under(layout, 0, left + pitch / 2, layout.height - 10), { step: 1 }); // h_0 is no step
  assert.deepEqual(cell.under(layout, 20, 20, 10), { end: 19 });
  assert.deepEqual(cell.under(layout, 20, layout.width - 20, 10), { end: 20 + count });
  assert.deepEqual(cell.under(layout, 20, 2, 100), {});
});

test("a point on a gated cell's row is a unit, of a pooled line its first", () => {
  const { units: u, ...layout } = cell.arrange(model("lstm", { hidden: 256 }), 900);
  assert.deepEqual(cell.under({ units: u, ...layout }, 0, u.x + 2.5 * u.each, u.y + 5), { unit: 9 });
  assert.deepEqual(cell.under({ units: u, ...layout }, 0, u.x + 2.5 * u.each, u.y - 5), {});
  assert.deepEqual(cell.under(cell.arrange(model("gru", { hidden: 1 }), 900), 0, 50, 50), {});
});

// ---------------------------------------------------------------- a word

function word(text, hidden = 3, says = text.slice(1) + text[0]) {
  const letters = [...new Set(text)];
  const place = (letter) => letters.indexOf(letter);
  const which = [...text].map(() => letters.map((_, k) => k));
  const share = [...says].map((said) => letters.map((_, k) => (k === place(said) ? 0.75 : 0.25 / (letters.length - 1))));
  const softmax = { letters, which, share, before: share.map((row) => row.map(() => 0.5)), says: [...says].map(place),
    target: [...[...text].slice(1).map(place), -1] };
  const left = [1, 0.5, 1e-12].slice(0, text.length);
  const nudge = { step: 1, left, predicted: [1, 0.4, 0.2], floor: [0, 0, 1e-9], gone: 2 };
  return model("unrolled", { steps: text.length, hidden, labels: [...text], softmax, nudge, twins: [3, 4],
    colors: { ...colors, right: "#0f0", wrong: "#f00", grey: "#888", reach: "#fa0", twin: "#f0f" } });
}

test("shares are percentages, what is too small for one is a number, and a nudge stands from 1 % to all of it", () => {
  assert.deepEqual([1, 0.99894, 0.0922, 0.001, 0.000284, 0].map(percent), ["100 %", "99.9 %", "9.22 %", "0.1 %", "2.84·10⁻⁴", "0 %"]);
  assert.deepEqual([1, 0.1, 0.01, 1e-5, 0].map(level), [METER, METER / 2, 0, 0, 0]);
  assert.ok(level(1e9) <= 1.15 * METER);
});

test("a step's terms are a row of the weights, and add up", () => {
  const equation = { x: [1, 0], W_x: [[0.1, 0.2], [0.3, 0.4]], W_h: [[1, 2], [3, 4]], b: [5, 6], a: [[0, 0], [7, 8]] };
  const given = { equation, values: { h: [[0, 0], [0.5, -0.5], [0.9, 0.8]] } };
  assert.deepEqual(terms(given, 2, 1, true), [0.3, 3, 4, -0.5, 6, 8, 0.8]);
  assert.deepEqual(terms(given, 2, 1, false), [0.3, 3 * 0.5 - 4 * 0.5, 6, 8, 0.8]);
});

test("a word's columns fit: HELLO beside its cell on a tablet, three to five of them on a phone", () => {
  for (const hidden of [1, 3, 8]) {
    assert.ok(cell.arrange(word("HELLO", hidden), 541).window.count >= 5);
    const narrow = cell.arrange(word("HELLOHELLO", hidden), 358).window.count;
    assert.ok(narrow >= 3 && narrow <= 5);
    const { height, column } = cell.arrange(word("HELLO", hidden), 800);
    const [{ marks }] = column;
    const [bars, meter, twin] = ["softmax", "meter", "twin"].map((type) => marks.find((mark) => mark.type === type));
    assert.ok(bars.y - BARS - 24 - 18 >= 0 && meter.y + 31 < height && twin.y + twin.h < meter.y);
  }
});

// ---------------------------------------------------------------- nodes

class Node {
  constructor(name) {
    Object.assign(this, { name, children: [], attributes: {}, style: {}, listeners: {}, own: "", clientWidth: 358 });
    this.classList = { add() {} };
  }
  get textContent() { return this.own + this.children.map((child) => child.textContent ?? child).join(""); }
  set textContent(text) { this.children = []; this.own = String(text); }
  set innerHTML(_) { throw new Error("a text was parsed"); }
  getAttribute(name) { return this.attributes[name] ?? null; }
  setAttribute(name, value) { writes++; this.attributes[name] = String(value); }
  append(...made) { for (const child of made) this.children.push(child), child instanceof Node && (child.parent = this); }
  replaceChildren(...made) { this.children = []; this.append(...made); }
  remove() { this.parent.children = this.parent.children.filter((child) => child !== this); }
  addEventListener(name, act) { this.listeners[name] = act; }
  getBoundingClientRect() { return { left: 0, top: 0 }; }
  closest() { return null; }
  all() { return [this, ...this.children.flatMap((child) => child.all?.() ?? [])]; }
}

let writes = 0;
const frames = [];
Object.assign(globalThis, {
  document: {
    head: new Node("head"),
    createElement: (name) => new Node(name),
    createElementNS: (_, name) => new Node(name),
    querySelector: () => null,
  },
  window: { location: { search: "", href: "http://here/" }, history: { replaceState() {} } },
  ResizeObserver: class { observe() {} disconnect() {} },
  requestAnimationFrame: (act) => frames.push(act),
});
const settle = () => { while (frames.length) frames.shift()(); };

function message(tree) {
  const head = new TextEncoder().encode(JSON.stringify(tree));
  const bytes = new Uint8Array(4 + head.length);
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, 4);
  return bytes;
}

function drawn(tree, parentElement = new Node("div")) {
  cell.draw({ data: message(tree), parentElement });
  settle();
  const [root] = parentElement.children;
  const named = (name) => root.all().filter((node) => node.attributes?.class === name);
  return { parentElement, root, named, svg: root.all().find((node) => node.name === "svg") };
}

test("every kind draws, keeps its nodes when drawn again, and leaves nothing", () => {
  for (const kind of Object.keys(NAMES)) {
    for (const hidden of [1, 8, 256]) {
      const { parentElement, root, svg } = drawn(model(kind, { hidden, bar: true }));
      const before = svg.all();
      const other = model(kind, { hidden, bar: true });
      other.values.h.forEach((row) => row.fill(-0.125));
      drawn(other, parentElement);
      assert.equal(parentElement.children.length, 1);
      // a text's own string is no node, so all of them are the same ones
      assert.ok(svg.all().every((node, k) => node === before[k]) && before.length === svg.all().length);
      assert.ok(kind === "unrolled" || root.textContent.includes("−0.125"));
      cell.leave(parentElement);
      assert.equal(parentElement.children.length, 0);
    }
  }
});

test("a hostile label is a text, and its whole is the title", () => {
  const label = "<img src=x onerror=alert(1)>";
  for (const kind of Object.keys(NAMES)) {
    const tree = model(kind, { labels: Array(12).fill(label) });
    const { parentElement, svg, root } = drawn(tree);
    assert.ok(!root.all().some((node) => node.name === "img"));
    assert.ok(svg.all().some((node) => node.name === "title" && node.textContent === label));
    assert.ok(svg.textContent.includes("<img src=x …"));
    cell.leave(parentElement);
  }
});

test("the drawing is one picture with words; only the group around it takes the focus", () => {
  const { parentElement, svg, named, root } = drawn(model("lstm"));
  const [stage, said] = [named("rnn-stage")[0], named("rnn-said")[0]];
  assert.deepEqual([stage.attributes.role, stage.attributes.tabindex], ["group", "0"]);
  assert.match(stage.attributes["aria-label"], /LSTM cell/);
  assert.equal(svg.attributes.role, "img");
  assert.equal(svg.attributes["aria-label"], `A cell. At ${said.textContent}.`);
  assert.equal(said.attributes["aria-live"], "off");
  assert.ok(!svg.all().some((node) => "tabindex" in node.attributes));
  assert.ok(!root.all().some((node) => node.attributes.class === "rnn-bar"));
  cell.leave(parentElement);
});

test("a step of the cursor writes little, and what is hovered wins while it is there", () => {
  const { parentElement, named } = drawn(model("unrolled", { steps: 200, hidden: 256 }));
  const cursor = group("g");
  cursor.choose("step", 3), settle();
  writes = 0;
  cursor.choose("step", 4), settle();
  assert.ok(writes <= 64 + 40, `${writes} writes`);
  cursor.hover({ step: 9, unit: 2 }), settle();
  assert.match(named("rnn-said")[0].textContent, /^step 9, unit 2:/);
  cursor.hover(null), settle();
  assert.match(named("rnn-said")[0].textContent, /^step 4, unit 1:/);
  cell.leave(parentElement);
});

test("a pointer chooses, the keys move, and one weight lights up in all drawings of the group", () => {
  const first = drawn(model("unrolled", { steps: 12, hidden: 3 }));
  const second = drawn(model("folded", { steps: 12, hidden: 3 }));
  const cursor = group("g");
  const { units: u, window: shown } = cell.arrange(model("unrolled", { steps: 12, hidden: 3 }), 358);
  const at = { button: 0, clientX: shown.left + 1.5 * shown.pitch, clientY: u.y + 1.5 * u.each, target: first.svg };
  first.svg.listeners.pointerdown(at), settle();
  assert.deepEqual([cursor.chosen.unit, /^step \d+, unit 2/.test(first.named("rnn-said")[0].textContent)], [2, true]);
  const step = cursor.chosen.step;
  first.named("rnn-stage")[0].listeners.keydown({ key: "ArrowRight", preventDefault() {} }), settle();
  assert.equal(cursor.chosen.step, step + 1);
  assert.match(second.named("rnn-said")[0].textContent, new RegExp(`^step ${step + 1}, unit 2`));
  second.root.all().filter((node) => node.name === "button")[1].listeners.focus();
  for (const { root } of [first, second]) assert.equal(root.attributes["data-lit"], "W_h");
  const copies = first.svg.all().filter((node) => node.attributes["data-weight"] === "W_h" && node.name === "g");
  assert.equal(copies.length, shown.count);
  for (const { parentElement } of [first, second]) cell.leave(parentElement);
  clearTimeout(cursor.writing);
});

test("numbers that are not finite are drawn as such", () => {
  const tree = model("unrolled", { hidden: 2 });
  tree.values.h[1][0] = null; // as a message without arrays has it
  tree.values.h = tree.values.h.map((row) => Array.from(row, (value) => value ?? NaN));
  const { parentElement, svg } = drawn({ ...tree, token: "another view", values: { h: tree.values.h } });
  assert.ok(svg.all().some((node) => /rnn-lost/.test(node.attributes.class ?? "") && /^(not known|infinite|minus)/.test(node.textContent)));
  cell.leave(parentElement);
  const strip = model("folded", { hidden: 9 });
  strip.values.h.forEach((row) => (row[2] = null));
  const other = drawn(strip);
  const crosses = other.svg.all().filter((node) => node.name === "path" && /l.*m.*l/.test(node.attributes.d ?? ""));
  assert.equal(crosses.length, 1);
  cell.leave(other.parentElement);
});

test("over a column stand its answer and its bars, under it what is left of the nudge, rounding as such", () => {
  const { parentElement, svg, named } = drawn(word("ABBA", 2, "BBAB"));
  const cursor = group("g");
  cursor.choose("step", 4), settle();
  clearTimeout(cursor.writing);
  assert.deepEqual(named("rnn-letter rnn-says").map((node) => node.textContent).sort(), ["A ✓", "B ?", "B ✓", "B ✓"]);
  assert.ok(svg.textContent.includes("■ rounding") && svg.textContent.includes("□ 20 %"));
  const shown = (node) => node.attributes.visibility !== "hidden";
  assert.equal(named("rnn-twin").filter(shown).length, 2);
  assert.equal(named("rnn-number rnn-gone").filter((node) => shown(node) && shown(node.parent)).length, 1);
  assert.equal(named("rnn-aim").filter((node) => !shown(node)).length, 1); // nothing follows the last letter
  cell.leave(parentElement);
});
