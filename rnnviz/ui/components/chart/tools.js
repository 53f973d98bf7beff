// The tools of a chart in its menu.

import { set } from "../cursor.js";
import { Menu } from "../menu.js";

export class Tools extends Menu {
  // acts: zoom, whole, pin, save(format) and words, what a press does.
  constructor(acts) {
    super("Tools of this chart", "Zoom, pin, save");
    this.zoom = this.add("Zoom by dragging", acts.zoom);
    this.add("Whole picture", acts.whole);
    this.pin = this.add("Pin these curves", acts.pin);
    for (const format of ["png", "svg", "csv"]) this[format] = this.add(`Save ${format.toUpperCase()}`, () => acts.save(format));
    this.add("In words", acts.words);
  }
}

export function rename(tool, text) {
  tool.textContent = text;
  set(tool, { "aria-label": text, title: text });
}
