// What plays once by itself in a browser's tab, in a view that has no cursor of its own yet.
//
// Its end ends it for good, and so does whatever a reader does, but for leaving: on the way back it plays again.

// What leads to another page, and is not about what plays
const AWAY = "a[href], header button, [data-testid=stSidebar]";

let over = false; // in this tab

export class Tour {
  start(cursor, root) {
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!cursor.route || over || this.touch || calm || document.hidden || cursor.own.size) return;
    this.cursor = cursor;
    this.touch = new AbortController();
    const stop = ({ type, target, key }) => {
      if (target.closest?.(AWAY) && (type === "pointerdown" || key === "Enter")) return;
      // the button and the space key end it themselves: for them it would begin again
      const own = target.closest?.(".rnn-play") || (key === " " && root.contains(target));
      if (!own) cursor.pause();
    };
    for (const touch of ["pointerdown", "keydown"]) {
      document.addEventListener(touch, stop, { capture: true, signal: this.touch.signal });
    }
    cursor.tour(cursor.route);
  }

  // Asked whenever something may have changed: what does not play any more is over.
  look() {
    if (!this.touch || this.cursor.touring) return;
    this.touch.abort();
    this.touch = null;
    over = true;
  }

  // The view goes with its page. What plays is forgotten with it, as if nobody had been here.
  leave() {
    this.look();
    this.touch?.abort();
    if (this.touch) this.cursor.own.clear();
  }
}
