// The pointer on the lanes: it drags the training step, the first number or the marked number itself, and names a cell.

import { digits } from "../numbers.js";

const SIDEWAYS = 5; // pixels that a finger goes before it drags
const EACH = 8; // pixels from one first number to the next, where the number itself is dragged

export function listen(view) {
  const { svg, stage } = view;
  let held = null;
  svg.addEventListener("pointerdown", (event) => {
    const grab = event.target.closest("[data-grab]")?.dataset.grab;
    if (!grab || event.button !== 0) return;
    const finger = event.pointerType === "touch"; // it may be about to scroll
    held = { grab, x: event.clientX, y: event.clientY, number: view.cursor.chosen.number, waits: finger };
    svg.setPointerCapture(event.pointerId);
    if (!finger) drag(view, held, event), stage.focus({ preventScroll: true });
  });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return tell(view, event);
    const [dx, dy] = [Math.abs(event.clientX - held.x), Math.abs(event.clientY - held.y)];
    if (held.waits && dx < Math.max(SIDEWAYS, dy)) return;
    held.waits = false;
    drag(view, held, event);
  });
  svg.addEventListener("pointerup", (event) => {
    if (held?.waits) drag(view, held, event); // a tap
    held = null;
  });
  svg.addEventListener("pointercancel", () => (held = null));
}

const across = ({ svg }, event) => event.clientX - svg.getBoundingClientRect().left;

function drag(view, held, event) {
  const { cursor, layout: { plots: { loss, answers } }, model: { steps, values } } = view;
  cursor.pause();
  if (held.grab === "mark") cursor.choose("number", held.number + (event.clientX - held.x) / EACH);
  else if (held.grab === "number") {
    cursor.choose("number", ((across(view, event) - answers.x) / answers.w) * (values.length - 1));
  } else cursor.choose("training", ((across(view, event) - loss.x) / loss.w) * steps.at(-1));
}

// A cell is too small for its number: it stands in the title of its lane.
function tell(view, event) {
  const lane = view.lanes?.find(({ held }) => held.contains(event.target));
  if (!lane) return;
  const { x, pitch } = view.layout.cells;
  const step = Math.min(Math.max(1, Math.ceil((across(view, event) - x) / pitch)), view.model.T);
  lane.title.textContent = `${lane.name}, step ${step}: ${digits(100 * lane.shares[step - 1])} % left`;
}
