// A figure's layout in the page's colours of the moment, light or dark, and in the room that there is.

import { element } from "../cursor.js";
import { axisName, folded } from "./figure.js";

// Streamlit's colours where the chart stands.
export function ink(root) {
  const css = getComputedStyle(root);
  const text = css.getPropertyValue("--st-text-color").trim() || css.color;
  const paper = css.getPropertyValue("--st-background-color").trim() || "#fff";
  const mixed = (share) => readable(root, `color-mix(in srgb, ${text} ${share}%, transparent)`);
  return { text, paper, font: css.fontFamily, grid: mixed(14), line: mixed(45) };
}

// A colour that Plotly can read, from one that only the browser can.
function readable(root, color) {
  const probe = element("span");
  probe.style.color = color;
  root.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  const [red, green, blue, alpha = 1] = computed.match(/[\d.]+/g).map(Number);
  const unit = computed.startsWith("color(") ? 255 : 1;
  return `rgba(${[red, green, blue].map((c) => Math.round(c * unit)).join(",")},${alpha})`;
}

// own: the figure's own layout. zoomed: axis -> range that the reader chose; zooming: a drag zooms, and does not move
// the cursor.
export function dressed(own, { text, paper, font, grid, line }, { width, height, zoomed, zooming }) {
  const given = structuredClone(own); // Plotly writes a zoom into what it is given
  const axis = { gridcolor: grid, zerolinecolor: line, linecolor: line, tickcolor: line };
  const margin = { l: 64, r: 24, t: 28, b: 48, ...given.margin };
  if (given.showlegend !== false) margin.t = Math.min(margin.t, 12); // the legend stands outside
  const axes = {};
  for (const name of Object.keys(given).filter((key) => /^xaxis\d*$/.test(key))) {
    const lines = folded(given[name].title?.text ?? "", (width - margin.l - margin.r) / 8);
    if (lines.length < 2) continue;
    axes[name] = { ...given[name], title: { ...given[name].title, text: lines.join("<br>") } };
    margin.b = Math.max(margin.b, 32 + 20 * lines.length);
  }
  for (const [name, range] of Object.entries(zoomed)) {
    axes[name] = { ...given[name], ...axes[name], range: [...range], autorange: false };
  }
  return {
    ...given,
    ...axes,
    template: { layout: { xaxis: axis, yaxis: axis, hoverlabel: { bgcolor: paper, font: { color: text } } } },
    autosize: false,
    width,
    height,
    margin,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: font, color: text, ...given.font },
    showlegend: false,
    // where there is a cursor the legend reads out
    hovermode: given.hovermode !== "x unified" ? given.hovermode : given.meta?.cursor ? false : "closest",
    dragmode: zooming ? "zoom" : false,
    annotations: given.annotations ?? [],
  };
}

// The same on paper, to be saved: as zoomed as it is seen, with its marks and its cursor.
export function printed(layout, full, colors, { marks, rules, legend }) {
  const axes = axesOf(full).map((name) => [name, { ...layout[name], range: [...full[name].range], autorange: false }]);
  const line = { color: colors.text, width: 1.5 };
  const cursor = rules.map(([id, x]) => ({ type: "line", xref: id, x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line }));
  return {
    ...layout,
    ...Object.fromEntries(axes),
    paper_bgcolor: colors.paper,
    plot_bgcolor: colors.paper,
    showlegend: legend,
    font: { ...layout.font, family: "Arial, sans-serif" }, // a picture on its own has no font of the page
    height: layout.height + 50,
    margin: { ...layout.margin, t: layout.margin.t + 50 },
    annotations: [...layout.annotations, ...marks],
    shapes: [...(layout.shapes ?? []), ...cursor],
  };
}

const axesOf = (full) => Object.keys(full).filter((key) => /^[xy]axis\d*$/.test(key));

// Values beyond the range as annotations at its edge, so that a saved picture has them too; those of one edge stand one
// above the other.
export function annotated(found, full) {
  const rows = {};
  return found.map(({ xaxis, yaxis, color, edge, x, text }) => {
    const low = edge === "low";
    const row = (rows[yaxis + edge] = (rows[yaxis + edge] ?? -1) + 1);
    const [from, to] = full[axisName(xaxis)].range;
    const place = (x - from) / (to - from);
    return {
      name: "edge", x, xref: xaxis, y: low ? 0 : 1, yref: `${yaxis} domain`, text: `${low ? "▼" : "▲"} ${text}`,
      showarrow: false, font: { size: 13, color }, yanchor: low ? "bottom" : "top", yshift: (low ? 17 : -17) * row,
      xanchor: place < 0.1 ? "left" : place > 0.9 ? "right" : "center",
    };
  });
}
