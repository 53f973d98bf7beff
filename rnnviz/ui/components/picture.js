// A drawing as a file: its SVG with the styles that it has on the page written into it, or that as a PNG, twice as large.

import { element } from "./cursor.js";
import { Menu } from "./menu.js";

const LOOK = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
  "paint-order", "font-family", "font-size", "font-weight", "visibility", "opacity"];

export function saver(svg, name) {
  const menu = new Menu("Tools of this drawing", "Save");
  for (const format of ["png", "svg"]) menu.add(`Save ${format.toUpperCase()}`, () => save(svg(), format, name()));
  return menu;
}

async function save(svg, format, name) {
  const text = new Blob([standalone(svg)], { type: "image/svg+xml" });
  download(format === "svg" ? text : await painted(text, svg.clientWidth, svg.clientHeight), `${name}.${format}`);
}

// The drawing without the page: what the style sheets say of it stands in it.
export function standalone(svg) {
  const copy = svg.cloneNode(true);
  const nodes = [copy, ...copy.querySelectorAll("*")];
  [svg, ...svg.querySelectorAll("*")].forEach((node, k) => {
    const style = getComputedStyle(node);
    for (const name of LOOK) nodes[k].style.setProperty(name, style.getPropertyValue(name));
  });
  const ground = getComputedStyle(svg).getPropertyValue("--st-background-color").trim() || "white";
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.style.setProperty("background", ground);
  return new XMLSerializer().serializeToString(copy);
}

function painted(text, width, height) {
  const address = URL.createObjectURL(text);
  return new Promise((done, failed) => {
    const image = new Image();
    image.onload = () => {
      const canvas = element("canvas", { width: 2 * width, height: 2 * height });
      const pen = canvas.getContext("2d");
      pen.drawImage(image, 0, 0, 2 * width, 2 * height);
      URL.revokeObjectURL(address);
      canvas.toBlob(done, "image/png");
    };
    image.onerror = failed;
    image.src = address;
  });
}

export function download(blob, name) {
  const link = element("a", { download: name, href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
