// One cursor for a group of drawings: what is chosen in one lights up in all, in the browser, without the server.
//
// A cursor has one whole number a dimension ("step", "lag", "unit", "training"). A drawing joins its group with what it
// knows of each dimension, {low, high, stride, at, label}, and is told by show(chosen, hovered), at most once a frame.
// What a reader chose stands in the address as at_step=12, written by the page itself once it rests, and is read from
// there when the page is opened. The token says which view this is: with another one the cursor is that view's own.

const REST = 300; // milliseconds without a move, after which the address is written
const LATER = 2000; // the same where the cursor is missing there: a new view may be on its way that has its own
const PACE = 100; // milliseconds a stride at speed 1
const FRAME = 40; // milliseconds between two looks at the clock of a tour
const CALM = 1000; // with reduced motion, at every speed

const groups = new Map();
const left = new Map(); // of groups that went with their page: what was chosen there, for the way back

export function group(name) {
  if (!groups.has(name)) groups.set(name, new Group(name));
  return groups.get(name);
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// The extent of a dimension over all drawings that know it.
export function spanned(specs) {
  if (!specs.length) return null;
  const low = Math.min(...specs.map((s) => s.low));
  const high = Math.max(...specs.map((s) => s.high));
  const each = Math.max(...specs.map((s) => s.each ?? 1)); // from one value to the next
  const stride = Math.max(each, ...specs.map((s) => s.stride ?? 1)); // of a tick, when it plays
  const at = specs.find((s) => s.at !== null && s.at !== undefined)?.at ?? low;
  const grid = Math.max(...specs.map((s) => s.grid ?? 1)); // where there is nothing between two values
  const { label, factor = 1, decimals = 0 } = specs[0]; // what people read is factor times the whole number
  return { low, high, each, stride, grid, at, label, factor, decimals, open: specs.some((s) => s.open) };
}

// The value of a dimension that is nearest to a number.
export const nearest = (value, { low, high, grid }) => clamp(low + Math.round((value - low) / grid) * grid, low, high);

// A value of a dimension as people read it.
export const written = (value, { factor, decimals }) => (value * factor).toFixed(decimals);

// The whole number that an address gives for a word, or null.
export function addressed(search, word) {
  const text = new URLSearchParams(search).get(word);
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

// Where a route of [[milliseconds, value], ...] is at a time; before its first and after its last point it stands.
export function between(points, time) {
  const next = points.findIndex(([when]) => when > time);
  if (next < 1) return points.at(next)[1];
  const [[since, from], [until, to]] = [points[next - 1], points[next]];
  return from + ((time - since) / (until - since)) * (to - from);
}

class Group {
  constructor(name) {
    this.name = name;
    this.members = new Map(); // drawing -> its dims
    this.chosen = {};
    this.hovered = null;
    this.own = new Set(); // dimensions that the reader chose
    this.awaited = {}; // what the address asks for and is not there yet: a live run will have it
    this.token = undefined;
    this.speed = 1;
    this.playing = null; // the dimension that plays
    this.route = null; // {dim, points}: what its play button begins again at the end of either
    this.touring = false; // along a route
  }

  // spec: {token, dims}; again with every change of the drawing. The answer takes the drawing out.
  join(member, { token, dims }) {
    if (token !== this.token) {
      this.pause();
      clearTimeout(this.writing);
      this.token = token;
      this.chosen = {};
      this.awaited = {};
      this.own.clear();
    }
    this.members.set(member, dims);
    for (const dim of Object.keys(dims)) this.settle(dim);
    this.changed();
    return () => {
      this.members.delete(member);
      if (this.members.size) return;
      left.set(this.name, { token: this.token, chosen: Object.fromEntries([...this.own].map((dim) => [dim, this.chosen[dim]])) });
      groups.delete(this.name);
      this.pause();
      clearTimeout(this.writing);
    };
  }

  // Its word in the address: at_step, of the group "unrolling:lab" at_lab_step, so that two sequences on a page do not
  // overrule each other.
  word(dim) {
    return ["at", ...this.name.split(":").slice(1), dim].join("_");
  }

  addressed(dim) {
    return addressed(window.location.search, this.word(dim));
  }

  // What stands in the address for a dimension, or null; and whether that is no whole number.
  stands(dim) {
    return new URLSearchParams(window.location.search).get(this.word(dim));
  }

  stray(dim) {
    return this.stands(dim) !== null && this.addressed(dim) === null;
  }

  span(dim) {
    return spanned([...this.members.values()].map((dims) => dims[dim]).filter(Boolean));
  }

  // Where the cursor stands: where the reader put it, now or in the address or before the page was left; else where
  // the drawings say. A live run may have still to get there: it is awaited. Any other value goes to the nearest, and
  // the address says what is shown: what is no whole number there is taken out.
  settle(dim) {
    const span = this.span(dim);
    const { high, at, open } = span;
    if (this.chosen[dim] === undefined) {
      const before = left.get(this.name)?.token === this.token ? left.get(this.name).chosen[dim] : undefined;
      this.awaited[dim] = this.addressed(dim) ?? before;
    } else if (this.own.has(dim)) this.awaited[dim] = this.chosen[dim];
    const wanted = this.awaited[dim];
    delete this.awaited[dim];
    if (wanted === undefined || (wanted > high && open)) {
      this.own.delete(dim);
      this.chosen[dim] = nearest(at, span);
      if (wanted !== undefined) this.awaited[dim] = wanted;
      if (this.stray(dim)) this.rest(REST);
      return;
    }
    this.own.add(dim);
    this.chosen[dim] = nearest(wanted, span);
    if (this.stands(dim) !== String(this.chosen[dim])) this.rest(REST);
  }

  choose(dim, value) {
    const span = this.span(dim);
    if (!span || !Number.isFinite(value)) return;
    const next = nearest(value, span);
    this.own.add(dim);
    delete this.awaited[dim];
    if (next === this.chosen[dim]) return;
    this.chosen[dim] = next;
    if (!this.touring) this.rest(REST);
    this.changed();
  }

  // What the pointer is over, {dim: value}, or null; it shows, and chooses nothing.
  hover(over) {
    if (JSON.stringify(over) === JSON.stringify(this.hovered)) return;
    this.hovered = over;
    this.changed();
  }

  move(dim, steps) {
    this.choose(dim, this.chosen[dim] + steps * (this.span(dim)?.each ?? 1));
  }

  play(dim) {
    const calm = window.matchMedia?.("(prefers-reduced-motion: reduce)").matches;
    this.pause();
    if (this.ended(dim)) {
      if (this.route?.dim === dim && !calm) return this.tour(this.route);
      this.choose(dim, this.span(dim).low);
    }
    this.playing = dim;
    const tick = () => {
      this.choose(dim, this.chosen[dim] + (this.span(dim)?.stride ?? 1));
      if (this.chosen[dim] >= (this.span(dim)?.high ?? -Infinity)) this.pause();
      else this.ticking = setTimeout(tick, calm ? CALM : PACE / this.speed);
    };
    this.ticking = setTimeout(tick, calm ? CALM : PACE / this.speed);
    this.changed();
  }

  // Whether there is nothing left to play.
  ended(dim) {
    const { dim: routed, points } = this.route ?? {};
    return this.chosen[dim] >= this.span(dim)?.high || (routed === dim && this.chosen[dim] === points.at(-1)[1]);
  }

  // Along a route in its own time, whatever the speed: pause() ends it, and the address waits for that.
  tour({ dim, points }) {
    this.pause();
    this.playing = dim;
    this.touring = true;
    const start = performance.now();
    const tick = () => {
      const time = performance.now() - start;
      this.choose(dim, between(points, time));
      if (time >= points.at(-1)[0]) this.pause();
      else this.ticking = setTimeout(tick, FRAME);
    };
    tick();
    this.changed();
  }

  pause() {
    clearTimeout(this.ticking);
    if (!this.playing) return;
    this.playing = null;
    if (this.touring) this.rest(REST);
    this.touring = false;
    this.changed();
  }

  changed() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      for (const member of [...this.members.keys()]) member.show(this.chosen, this.hovered);
    });
  }

  // The address says what was chosen, once it rests.
  rest(wait) {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.write(), wait);
  }

  write() {
    const address = new URL(window.location.href);
    for (const dim of Object.keys(this.chosen)) {
      if (this.own.has(dim) && !this.touring) address.searchParams.set(this.word(dim), this.chosen[dim]);
      else if (this.stray(dim)) address.searchParams.delete(this.word(dim));
    }
    if (address.href !== window.location.href) window.history.replaceState(window.history.state, "", address);
  }

  // Somebody else wrote the address: the server, from before the last move, or the Back button.
  readdress(back) {
    for (const dim of Object.keys(this.chosen)) {
      const given = this.addressed(dim);
      if (back && given !== null) this.own.add(dim), (this.chosen[dim] = given), this.settle(dim), this.changed();
      else if (!back && this.own.has(dim) && given !== this.chosen[dim]) this.rest(given === null ? LATER : REST);
      else if (this.stray(dim)) this.rest(REST);
    }
  }
}

globalThis.navigation?.addEventListener("currententrychange", (event) => {
  for (const one of groups.values()) one.readdress(event.navigationType === "traverse");
});

// Keys on a drawing: left and right, home and end, space; up and down where it has a second dimension, whose values
// go down the drawing, or up.
export function keys(cursor, event, along, across, rises = false) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const span = along && cursor.span(along);
  if (!span) return;
  const moves = {
    ArrowLeft: () => cursor.move(along, -1),
    ArrowRight: () => cursor.move(along, 1),
    Home: () => cursor.choose(along, span.low),
    End: () => cursor.choose(along, span.high),
    " ": () => (cursor.playing ? cursor.pause() : cursor.play(along)),
  };
  if (across) {
    moves.ArrowUp = () => cursor.move(across, rises ? 1 : -1);
    moves.ArrowDown = () => cursor.move(across, rises ? -1 : 1);
  }
  if (!moves[event.key]) return;
  if (event.key !== " ") cursor.pause();
  moves[event.key]();
  event.preventDefault();
}

// Elements are made, never parsed: a text stays a text, whatever stands in it.
export function element(name, attributes = {}) {
  const made = document.createElement(name);
  set(made, attributes);
  return made;
}

export function set(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (made.getAttribute(name) !== String(value)) made.setAttribute(name, value);
  }
}

export function button(text, label, act) {
  const made = element("button", { type: "button", "aria-label": label, title: label });
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

// The style sheet that lies beside a script, once.
export function style(script, name) {
  const address = new URL(name, script).href;
  if (document.querySelector(`link[href="${address}"]`)) return;
  document.head.append(element("link", { rel: "stylesheet", href: address }));
}
