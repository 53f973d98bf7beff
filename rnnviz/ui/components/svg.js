// Nodes of SVG: made, never parsed.

import { set } from "./cursor.js";

export function make(parent, name, attributes = {}, words = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  set(made, attributes);
  if (words !== "") made.textContent = words;
  parent.append(made);
  return made;
}

export const rect = ({ x, y, w, h }) => ({ x, y, width: w, height: h });
