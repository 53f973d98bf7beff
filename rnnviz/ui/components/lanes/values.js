// What the lanes show at a cursor: numbers and words, as rnnviz/verdicts/home.py writes them.

// So many decimals as Python writes them: a tie, which only a sum of powers of two can be, goes to the even digit.
export function fixed(value, decimals) {
  const scaled = value * 10 ** decimals;
  const tie = Number.isInteger(value * 2 ** (decimals + 1)) && Math.abs(scaled % 1) === 0.5;
  const text = (tie ? (2 * Math.round(scaled / 2)) / 10 ** decimals : value).toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

export const two = (value) => fixed(value, 2);

// The index of the last snapshot at or before a training step.
export function snapshot(steps, step) {
  let k = 0;
  while (k + 1 < steps.length && steps[k + 1] <= step) k++;
  return k;
}

// The share of the answer's derivative that is left at steps 1..T, from its logarithms at 0..T.
export const left = (logs) => Array.from(logs.subarray(1), (log) => Math.exp(log - logs.at(-1)));

// How opaque a cell is, by decade from what is just heard to all; 0 where nothing is heard.
export function light(share, { heard, colors: { lit: [least, most] } }) {
  if (!(share >= heard)) return 0;
  const decades = Math.log10(share / heard) / -Math.log10(heard);
  return Math.round(1000 * (least + (most - least) * Math.min(decades, 1))) / 1000;
}

// A reach in words: the recording writes -1 for one beyond all steps.
export const far = (reach, T) => (reach < 0 ? `all ${T}` : String(reach));

// Everything that stands in the picture as a number at snapshot k, for the first number of index v.
export function numbers(model, k, v) {
  const said = { first: two(model.values[v]), second: two(model.second_number) };
  said.step = model.steps[k].toLocaleString("en");
  said.truth = two(model.values[v] + model.second_number);
  model.lanes.forEach((lane, n) => {
    said[`loss ${n}`] = fixed(lane.loss[k], 3);
    said[`reach ${n}`] = far(lane.reach[k], model.T);
    said[`answer ${n}`] = two(lane.answers[k][v]);
  });
  return said;
}

// The verdict of a snapshot: its template, with what the first number changes.
export function verdict(model, k, v) {
  const said = numbers(model, k, v);
  const parts = { answer: said["answer 1"], answer_rnn: said["answer 0"], truth: said.truth };
  return model.says[k].replace(/\{(\w+)\}/g, (whole, name) => parts[name] ?? whole);
}

// The right answer, and where it comes from.
export const truth = ({ truth, first, second }) => `truth ${truth} = ${first} + ${second}`;

// What is said while it plays: no number of a sentence changes before it can be read.
export const stage = ({ steps, stages }, k) => stages.findLast(({ since }) => since <= steps[k]).text;

// The picture in words: what stands at the cursor, with the ends and extremes of its curves, and where the light ends.
export function spoken(model, k, v) {
  const said = numbers(model, k, v);
  const { T } = model;
  const lanes = model.lanes.map(({ title, loss, reach }, n) => {
    const steps = Array.from(reach, (one) => (one < 0 ? T + 1 : one)); // beyond T counts more than T
    const [low, high] = [Math.min(...steps), Math.max(...steps)].map((one) => far(one > T ? -1 : one, T));
    const ends = `from ${fixed(loss[0], 3)} to ${fixed(loss.at(-1), 3)}, least ${fixed(Math.min(...loss), 3)}`;
    const end = reach[k] < 0 ? 1 : Math.max(1, T - reach[k] + 1);
    return (
      `${title}: light from step ${end} to ${T}; loss ${said[`loss ${n}`]}, ${ends}; ` +
      `reach ${said[`reach ${n}`]}, between ${low} and ${high}; answers ${said[`answer ${n}`]}.`
    );
  });
  return `At training step ${said.step}, first number ${said.first}. ${lanes.join(" ")} The truth is ${said.truth}.`;
}

// A broken line through points, as the path of an SVG.
export function path(xs, ys) {
  let drawn = "";
  for (let k = 0; k < xs.length; k++) drawn += `${k ? "L" : "M"}${xs[k].toFixed(1)} ${ys[k].toFixed(1)}`;
  return drawn;
}
