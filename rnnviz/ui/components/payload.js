// Reads a message of payload.py: a tree whose arrays are typed arrays over one piece of memory.
// An array of two dimensions is a list of its rows.

const TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u1: Uint8Array };

export function unpack(message) {
  const given = message instanceof ArrayBuffer ? new Uint8Array(message) : message;
  const bytes = given.slice(); // aligned, and ours: what draws it may keep it
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const tree = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return resolve(tree, bytes.buffer, Math.ceil((4 + length) / 8) * 8);
}

function resolve(value, memory, start) {
  if (Array.isArray(value)) return value.map((item) => resolve(item, memory, start));
  if (value === null || typeof value !== "object") return value;
  if (value.$array) return array(value.$array, memory, start);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, memory, start)]));
}

function array([kind, shape, offset], memory, start) {
  const size = shape.reduce((all, n) => all * n, 1);
  const flat = new TYPES[kind](memory, start + offset, size);
  if (shape.length < 2) return flat;
  return Array.from({ length: shape[0] }, (_, row) => flat.subarray(row * shape[1], (row + 1) * shape[1]));
}
