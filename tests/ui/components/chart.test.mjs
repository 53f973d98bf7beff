// What the chart computes, without a browser.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

import * as read from "../../../rnnviz/ui/components/chart/figure.js";
import * as live from "../../../rnnviz/ui/components/chart/live.js";
import * as numbers from "../../../rnnviz/ui/components/numbers.js";

const chart = { ...read, ...live, ...numbers };

const range = (n, f = (k) => k) => Float64Array.from({ length: n }, (_, k) => f(k));

test("the nearest value of a row", () => {
  const row = [0, 10, 20];
  assert.deepEqual([-5, 0, 4, 5, 6, 15.1, 20, 99].map((v) => chart.nearest(row, v)), [0, 0, 0, 0, 1, 2, 2, 2]);
  assert.equal(chart.nearest([], 1), -1);
  assert.deepEqual([-5, 0, 9, 10, 99].map((v) => chart.before(row, v)), [-1, 0, 0, 1, 2]);
});

test("a line of 10,000 points is thinned and keeps its peaks, its ends and its gaps", () => {
  const x = range(10_000);
  const y = range(10_000, (k) => Math.sin(k / 300));
  y[4321] = 50;
  y[7654] = -50;
  y[5000] = NaN;
  const rows = chart.thin(x, y);
  assert.ok(rows.length <= 3 * (chart.MOST / 2) + 4 && rows.length > 1500, `${rows.length} points`);
  for (const kept of [0, 4321, 5000, 7654, 9999]) assert.ok(rows.includes(kept), `row ${kept}`);
  assert.deepEqual(rows, [...rows].sort((a, b) => a - b));
});

test("a short line is drawn whole, and so is what is zoomed into", () => {
  const x = range(10_000);
  assert.equal(chart.thin(range(2000), range(2000)), null);
  const rows = chart.thin(x, x, 5000, 5100);
  for (let k = 5000; k <= 5100; k++) assert.ok(rows.includes(k));
  assert.ok(rows.includes(0) && rows.includes(9999) && rows.length < 120);
});

test("numbers have three digits and no floats limit a power", () => {
  assert.deepEqual([0, 0.0061, 2.178, 6700, -0.5, 2.8e-5, NaN, Infinity].map(chart.digits), ["0", "0.0061", "2.18", "6,700", "−0.5", "2.8·10⁻⁵", "not known", "infinite"]);
  assert.deepEqual([0, -412, 400.3, -Infinity, -2, NaN].map(chart.power), ["1", "10⁻⁴¹²", "2·10⁴⁰⁰", "0", "0.01", "not known"]);
});

test("what leaves the picture is marked at its edge, once a stretch, at its farthest", () => {
  const y = [0, -5, -9, -5, 0, 7, 0, -Infinity];
  const found = chart.beyond(range(8), y, [-3, 3], [0, 7]);
  assert.deepEqual(found.map(({ edge, x, value }) => [edge, x, value]), [["low", 2, -9], ["low", 7, -Infinity], ["high", 5, 7]]);
  assert.deepEqual(chart.beyond(range(8), y, [-3, 3], [3.5, 4.5]), []);
  assert.deepEqual(chart.beyond([], [], [0, 1], [0, 1]), []);
});

test("a value at the cursor is read from lines, heat maps, and said where there is none", () => {
  const meta = { cursor: { x: "lag", y: "unit" }, decades: ["y"] };
  const line = { x: range(5), y: Float64Array.of(0, -1, -2, -600, -Infinity) };
  assert.deepEqual([2, 3, 4, 9].map((lag) => chart.reading(line, meta, { lag })), ["0.01", "10⁻⁶⁰⁰", "0", "–"]);
  assert.equal(chart.reading(line, { cursor: {} }, { lag: 1 }), null);
  const map = { type: "heatmap", x: [1, 2, 3], z: [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]] };
  assert.equal(chart.reading(map, { ...meta, lines: [1, 0] }, { lag: 3, unit: 1 }), "0.6");
  const seldom = { x: [0, 50, 100], y: [1, 2, 3] };
  const found = [0, 49, 50, 149, 150].map((lag) => chart.reading(seldom, { cursor: { x: "lag" } }, { lag }));
  assert.deepEqual(found, ["1", "1", "2", "3", "–"]);
  assert.equal(chart.reading({ ...seldom, meta: { column: "reach" } }, { cursor: { x: "lag" } }, { lag: 150 }), "3");
  assert.equal(chart.reading({ ...line, meta: { most: -2 } }, meta, { lag: 0 }), "beyond T");
});

const message = (first, n) => ({
  first, loss: Float32Array.from({ length: n }, (_, k) => first + k), probe_step: Int32Array.of(first), reach: Float32Array.of(Infinity),
  listening: [Float32Array.of(1, 2, 3)],
});

test("live columns lose no step and double none", () => {
  const lane = new chart.Columns();
  assert.equal(lane.take(message(0, 1500)), null);
  assert.equal(lane.take(message(1600, 10)), 1500, "a gap is asked for again");
  assert.equal(lane.take(message(1500, 100)), null);
  assert.equal(lane.take(message(1550, 100)), null, "what comes twice replaces");
  const { x, y } = lane.line("loss");
  assert.equal(x.length, 1650);
  assert.ok(x.every((v, k) => v === k) && y.every((v, k) => v === k));
  assert.deepEqual([...lane.line("reach", 30).x], [0, 1500, 1550]);
  assert.deepEqual([...lane.line("reach", 30).y], [30, 30, 30]);
  assert.deepEqual([...lane.line("listening.2").y], [3, 3, 3]);
});

test("a chart in words: ends, extremes, and where it falls below 1 %", () => {
  const data = [
    { name: "kept<sub>k</sub>", x: range(5), y: Float64Array.of(0, -1, -3, -2.5, -1) },
    { name: "nothing", x: [], y: [] },
    { name: "one", x: [3], y: [0] },
    { name: "map", type: "heatmap", z: [[1, NaN], [-2, 0]] },
  ];
  const said = chart.described({ data }, { decades: ["y"], heard: true }, "Alt.");
  assert.deepEqual(said, [
    "Alt.",
    "keptk: from 1 at 0 to 0.1 at 4, lowest 10⁻³ at 2, highest 1 at 0, below 1 % from 2 on.",
    "nothing: no points.",
    "one: one point, 1 at 3.",
    "map: 2 rows, from −2 to 1.",
  ]);
});

test("the table has exact digits, and a comma in a name stays in its cell", () => {
  const data = [{ name: 'a, "b"', x: [1], y: [1 / 3] }, { name: "m", type: "heatmap", z: [[5], [6]] }];
  const rows = ["series,x,y,value", `"a, ""b""",1,${1 / 3},`, "m,0,2,5", "m,0,1,6"]; // of a heat map the units
  assert.equal(chart.table({ data }, { lines: [1, 0] }), rows.join("\r\n"));
  const twice = [{ name: "RNN", x: [1], y: [2] }, { name: "RNN", x: [1], y: [3], yaxis: "y2" }];
  const layout = { yaxis: { title: { text: "loss" } }, yaxis2: { title: { text: "reach" } } };
  assert.match(chart.table({ data: twice, layout }, {}), /"RNN, loss",1,2,\r\n"RNN, reach",1,3,/);
});

test("titles are folded at words", () => {
  assert.deepEqual(chart.folded("a bb ccc<br>d", 4), ["a bb", "ccc", "d"]);
});

test("nothing is ever parsed as markup", () => {
  const folder = new URL("../../../rnnviz/ui/components/", import.meta.url);
  const scripts = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js"));
  assert.ok(scripts.length > 8);
  for (const name of scripts) {
    const code = readFileSync(new URL(name, folder), "utf8");
    assert.doesNotMatch(code, /innerHTML|insertAdjacentHTML|outerHTML|document\.write/);
  }
});
