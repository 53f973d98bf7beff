// A figure, read without a browser: which points to draw, what stands at the cursor, what it is in words and as a table.

import { digits, power } from "../numbers.js";

export const MOST = 2000; // points a line, about two a pixel

// The index of the value of an ascending row that is nearest to v; -1 if the row is empty.
export function nearest(row, v) {
  let low = 0;
  let high = row.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle] < v) low = middle + 1;
    else high = middle;
  }
  return low > 0 && v - row[low - 1] <= row[low] - v ? low - 1 : Math.min(low, row.length - 1);
}

// The index of the last value at or before v, -1 before the first: what holds at v.
export function before(row, v) {
  const k = nearest(row, v);
  return k >= 0 && row[k] > v ? k - 1 : k;
}

// Which points to draw of a line: all, or of each stretch its lowest and highest and one gap. No peak is lost.
// from, to: what is looked at; the points next to it are kept, so that the line leaves the picture.
export function thin(x, y, from = -Infinity, to = Infinity, most = MOST) {
  const n = Math.min(x.length, y.length);
  if (n <= most) return null;
  let first = 0;
  let last = n - 1;
  while (first < last && x[first + 1] < from) first++;
  while (last > first && x[last - 1] > to) last--;
  if (last - first < most) return kept(0, first, last, n - 1);
  const stretches = Math.floor(most / 2);
  const inside = [];
  for (let s = 0; s < stretches; s++) {
    const start = first + Math.floor((s * (last - first + 1)) / stretches);
    const end = first + Math.floor(((s + 1) * (last - first + 1)) / stretches);
    let low = -1;
    let high = -1;
    let gap = -1;
    for (let k = start; k < end; k++) {
      if (!Number.isFinite(y[k])) {
        if (gap < 0) gap = k;
      } else {
        if (low < 0 || y[k] < y[low]) low = k;
        if (high < 0 || y[k] > y[high]) high = k;
      }
    }
    inside.push(...[...new Set([low, high, gap])].filter((k) => k >= 0).sort((a, b) => a - b));
  }
  return [...new Set([0, first, ...inside, last, n - 1])];
}

function kept(start, first, last, end) {
  const rows = Array.from({ length: last - first + 1 }, (_, k) => first + k);
  return [...new Set([start, ...rows, end])];
}

// Where a line leaves the picture: for each stretch beyond the range one mark, at its farthest point.
export function beyond(x, y, [low, high], [from, to], most = 2) {
  const found = [];
  let open = null;
  for (let k = 0; k < Math.min(x.length, y.length); k++) {
    if (x[k] < from || x[k] > to) continue;
    const edge = y[k] < low ? "low" : y[k] > high ? "high" : null;
    if (edge === null || open?.edge !== edge) {
      open = edge && { edge, x: x[k], value: y[k], count: 0 };
      if (open) found.push(open);
    }
    if (!open) continue;
    open.count++;
    if (edge === "low" ? y[k] < open.value : y[k] > open.value) (open.x = x[k]), (open.value = y[k]);
  }
  const longest = (edge) => found.filter((f) => f.edge === edge).sort((a, b) => b.count - a.count).slice(0, most);
  return [...longest("low"), ...longest("high")];
}

export const axisName = (id) => `${id[0]}axis${id.slice(1)}`;
export const isLine = (trace) => (trace.type ?? "scatter") === "scatter" && trace.x && trace.y && !/text/.test(trace.mode ?? "");
export const plain = (text) => String(text ?? "").replace(/<br>/g, " ").replace(/<[^<>]*>/g, "");

// Its name; where several have the same, with what its axis is of.
function named(trace, figure) {
  const several = figure.data.filter((other) => other.name === trace.name).length > 1;
  const axis = several && plain(figure.layout?.[axisName(trace.yaxis ?? "y")]?.title?.text);
  return axis ? `${plain(trace.name)}, ${axis}` : plain(trace.name);
}

// What a trace shows at the cursor, or null if the cursor is none of its axes'.
export function reading(trace, meta, at) {
  const dim = meta.cursor?.[trace.xaxis ?? "x"];
  const value = at[dim];
  if (value === undefined) return null;
  if (trace.type === "heatmap") {
    const across = meta.cursor[trace.yaxis ?? "y"];
    if (across === undefined || !trace.z.length) return null;
    const column = trace.x ? nearest(trace.x, value) : value;
    const line = meta.lines ? meta.lines[at[across] - 1] : trace.y ? nearest(trace.y, at[across]) : at[across];
    return known(trace.z[line]?.[column], digits);
  }
  if (!isLine(trace)) return null;
  const k = before(trace.x, value);
  if (k < 0) return "–";
  // Between two points the earlier one holds; after the last one nothing, but of a run that is still to go on.
  const ended = k === trace.x.length - 1 && value - trace.x[k] >= Math.max(1, trace.x[k] - (trace.x[k - 1] ?? -Infinity));
  if (ended && !trace.meta?.column) return "–";
  if (trace.text?.[k]) return plain(trace.text[k]);
  if (trace.meta?.most !== undefined && trace.y[k] >= trace.meta.most) return "beyond T";
  return known(trace.y[k], (meta.decades ?? []).includes(trace.yaxis ?? "y") ? power : digits);
}

const known = (value, write) => (value === null || value === undefined || Number.isNaN(value) ? "–" : write(value));

// The chart in words: of each line its ends, its extremes and where it falls below 1 %.
export function described(figure, meta, alt) {
  const said = [alt];
  for (const trace of figure.data) {
    const name = named(trace, figure);
    if (!name || trace.hoverinfo === "skip") continue;
    if (trace.type === "heatmap") {
      const all = trace.z.flatMap((row) => [...row]).filter(Number.isFinite);
      if (!all.length) said.push(`${name}: nothing that is finite.`);
      else said.push(`${name}: ${trace.z.length} rows, from ${digits(extreme(all, Math.min))} to ${digits(extreme(all, Math.max))}.`);
    } else if (isLine(trace)) said.push(`${name}: ${lineInWords(trace, meta)}`);
  }
  return said.filter(Boolean);
}

const extreme = (values, pick) => values.reduce((a, b) => pick(a, b));

function lineInWords(trace, meta) {
  const log = (meta.decades ?? []).includes(trace.yaxis ?? "y");
  const write = log ? power : digits;
  const rows = [];
  for (let k = 0; k < Math.min(trace.x.length, trace.y.length); k++) {
    if (!Number.isNaN(trace.y[k]) && trace.y[k] !== null) rows.push(k);
  }
  if (!rows.length) return "no points.";
  const [first, last] = [rows[0], rows[rows.length - 1]];
  if (first === last) return `one point, ${write(trace.y[first])} at ${digits(trace.x[first])}.`;
  const low = rows.reduce((a, b) => (trace.y[b] < trace.y[a] ? b : a));
  const high = rows.reduce((a, b) => (trace.y[b] > trace.y[a] ? b : a));
  const at = (k) => `${write(trace.y[k])} at ${digits(trace.x[k])}`;
  const quiet = log && meta.heard ? rows.find((k) => trace.y[k] < -2) : undefined;
  const heard = !log || !meta.heard ? "" : quiet === undefined ? ", never below 1 %" : `, below 1 % from ${digits(trace.x[quiet])} on`;
  return `from ${at(first)} to ${at(last)}, lowest ${at(low)}, highest ${at(high)}${heard}.`;
}

// What is drawn, as a table: a row a point, exact digits.
export function table(figure, meta) {
  const rows = [["series", "x", "y", "value"]];
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  for (const trace of figure.data) {
    const name = named(trace, figure) || "unnamed";
    const unit = (line) => (meta.lines ? meta.lines.indexOf(line) + 1 : (trace.y?.[line] ?? line));
    if (trace.type === "heatmap") {
      trace.z.forEach((row, line) => row.forEach((v, k) => rows.push([name, trace.x?.[k] ?? k, unit(line), v])));
    } else if (trace.x && trace.y && trace.hoverinfo !== "skip") {
      const log = (meta.decades ?? []).includes(trace.yaxis ?? "y") ? " (decimal logarithm)" : "";
      for (let k = 0; k < trace.x.length; k++) rows.push([name + log, trace.x[k], trace.y[k], ""]);
    }
  }
  return rows.map((row) => row.map((cell) => quoted(String(cell ?? ""))).join(",")).join("\r\n");
}

// A title in lines of at most so many letters.
export function folded(text, room) {
  return text.split("<br>").flatMap((line) => {
    const lines = [];
    for (const word of line.split(" ")) {
      const last = lines.length - 1;
      if (last >= 0 && plain(lines[last]).length + 1 + plain(word).length <= room) lines[last] += ` ${word}`;
      else lines.push(word);
    }
    return lines;
  });
}

// A line as it stays pinned under what comes after it.
export function ghost(trace) {
  const line = { ...trace.line, width: 1.5, dash: "dot" };
  const kept = { x: trace.x.slice(), y: trace.y.slice(), text: undefined, meta: { ...trace.meta, column: undefined } };
  return { ...trace, ...kept, mode: "lines", line, opacity: 0.5, fill: "none", showlegend: false, hoverinfo: "skip" };
}

// Of a trace what is to be drawn: rows of its points.
export function taken(trace, rows) {
  const cut = { x: rows.map((k) => trace.x[k]), y: rows.map((k) => trace.y[k]) };
  for (const name of ["text", "customdata"]) {
    if (trace[name]?.length === trace.x.length) cut[name] = rows.map((k) => trace[name][k]);
  }
  return cut;
}
