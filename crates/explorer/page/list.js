// A list of any length of rows of one height, of which only those in sight are in the document.

import { make } from "./dom.js";

const BEYOND = 12;

/** Rows in a scrolling element; `render` makes the element of a row. */
export class List {
  constructor(scroller, height, render) {
    this.scroller = scroller;
    this.height = height;
    this.render = render;
    this.length = 0;
    this.rows = new Map();
    this.window = make("div", { class: "window" });
    this.content = make("div", { class: "tall" }, this.window);
    scroller.append(this.content);
    scroller.addEventListener("scroll", () => this.fill(), { passive: true });
    new ResizeObserver(() => this.fill()).observe(scroller);
  }

  /** Shows so many rows, all made anew. */
  show(length) {
    this.length = length;
    this.content.style.height = `${length * this.height}px`;
    this.rows.clear();
    this.window.replaceChildren();
    this.fill();
  }

  /** The first row in sight and the one after the last. */
  sight() {
    const top = this.scroller.scrollTop;
    const first = Math.floor(top / this.height);
    return [first, Math.ceil((top + this.scroller.clientHeight) / this.height)];
  }

  fill() {
    if (this.scroller.clientHeight === 0) return;
    const [top, bottom] = this.sight();
    const first = Math.max(0, Math.min(top, this.length) - BEYOND);
    const last = Math.min(this.length, bottom + BEYOND);
    for (const [index, row] of this.rows) {
      if (index < first || index >= last) {
        row.remove();
        this.rows.delete(index);
      }
    }
    let next = this.window.firstChild;
    for (let index = first; index < last; index++) {
      let row = this.rows.get(index);
      if (row) {
        next = row.nextSibling;
        continue;
      }
      row = this.render(index);
      this.rows.set(index, row);
      this.window.insertBefore(row, next);
    }
    this.window.style.transform = `translateY(${first * this.height}px)`;
  }

  /** Scrolls so that a row can be seen, and not at all where it can be seen already. */
  reveal(index) {
    const room = this.scroller.clientHeight;
    const top = index * this.height;
    const margin = Math.min(this.height * 2, room / 4);
    if (top < this.scroller.scrollTop + (index > 0 ? margin / 2 : 0)) {
      this.scroller.scrollTop = Math.max(0, top - room / 3);
    } else if (top + this.height > this.scroller.scrollTop + room - margin / 2) {
      this.scroller.scrollTop = top - (room * 2) / 3;
    }
    this.fill();
  }
}
