// A live run in the browser: its columns by absolute training step, and the socket that they come through.

import { unpack } from "../payload.js";

// The columns of one network: row k is step k. take() answers where it has to ask again, or null.
export class Columns {
  constructor() {
    this.length = 0;
    this.loss = new Float32Array(1024);
    this.probe_step = [];
    this.probes = { reach: [], listening: [] };
  }

  // A message that starts behind the end leaves a gap and is not taken; one that starts before it replaces.
  take({ first, loss, probe_step, reach, listening }) {
    if (first > this.length) return this.length;
    while (this.loss.length < first + loss.length) {
      const more = new Float32Array(2 * this.loss.length);
      more.set(this.loss);
      this.loss = more;
    }
    this.loss.set(loss, first);
    this.length = first + loss.length;
    let rows = this.probe_step.length;
    while (rows > 0 && this.probe_step[rows - 1] >= first) rows--;
    this.probe_step.splice(rows, Infinity, ...probe_step);
    this.probes.reach.splice(rows, Infinity, ...reach);
    this.probes.listening.splice(rows, Infinity, ...listening);
    return null;
  }

  // The line of a trace: loss, reach (at most the sequence's length), or listening to one of three.
  line(name, most) {
    if (name === "loss") {
      if (this.steps?.length !== this.length) this.steps = Int32Array.from({ length: this.length }, (_, k) => k);
      return { x: this.steps, y: this.loss.subarray(0, this.length) };
    }
    const [kind, which] = name.split(".");
    const y = this.probes[kind].map((value) => (kind === "reach" ? Math.min(value, most) : value[which]));
    return { x: this.probe_step.slice(), y };
  }
}

const SOON = 500; // milliseconds before it is dialled again
const LATE = 5000; // and at most, while nobody answers
const UNKNOWN = 4404; // there is no such run: everything else may pass, a lost network, a server that starts again

export class Stream {
  constructor(path, changed) {
    this.path = path;
    this.changed = changed;
    this.lanes = [];
    this.tries = 0;
    this.dial();
  }

  get length() {
    return Math.max(0, ...this.lanes.map((lane) => lane?.length ?? 0));
  }

  dial() {
    const known = this.lanes.length ? Math.min(...this.lanes.map((lane) => lane.length)) : 0;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}${this.path}?from=${known}`);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      this.tries = 0;
      const message = unpack(data);
      if (message.lane === undefined) return; // the run's state, which the page says
      while (this.lanes.length <= message.lane) this.lanes.push(new Columns());
      const missing = this.lanes[message.lane].take(message);
      if (missing === null) this.changed();
      else socket.send(JSON.stringify({ from: missing }));
    };
    socket.onclose = ({ code }) => {
      if (socket !== this.socket || code === UNKNOWN) return;
      this.redial = setTimeout(() => this.dial(), Math.min(LATE, SOON * 2 ** this.tries++));
    };
  }

  close() {
    clearTimeout(this.redial);
    const { socket } = this;
    this.socket = null;
    socket.close();
  }
}
