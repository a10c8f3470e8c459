// A list of any length of rows of one height, of which only those in sight are in the document.
//
// What the browser would have to lay out the page for, sizes and how far it is scrolled, is remembered and not asked.

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
    this.room = 0;
    this.top = 0;
    this.wanted = null;
    const scrolled = () => {
      this.top = scroller.scrollTop;
      this.fill();
    };
    scroller.addEventListener("scroll", scrolled, { passive: true });
    new ResizeObserver(([entry]) => {
      this.room = entry.contentRect.height;
      this.top = scroller.scrollTop;
      this.fill();
      if (this.wanted !== null && this.room) this.reveal(this.wanted);
    }).observe(scroller);
  }

  /** Shows so many rows, all made anew. */
  show(length) {
    this.length = length;
    this.content.style.height = `${length * this.height}px`;
    this.rows.clear();
    this.window.replaceChildren();
    this.fill();
  }

  fill() {
    if (this.room === 0) return;
    const top = Math.max(0, Math.min(this.top, this.length * this.height - this.room));
    const first = Math.max(0, Math.floor(top / this.height) - BEYOND);
    const last = Math.min(this.length, Math.ceil((top + this.room) / this.height) + BEYOND);
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
    const { room, height } = this;
    this.wanted = room ? null : index;
    if (!room) return;
    const top = index * height;
    const margin = Math.min(height * 2, room / 5);
    if (top < this.top + margin && this.top > 0) this.scroll(top - room / 3);
    else if (top + height + margin > this.top + room) this.scroll(top - (room * 2) / 3);
  }

  scroll(top) {
    if (!this.room) this.wanted = null;
    this.top = Math.max(0, Math.min(top, this.length * this.height - this.room));
    this.scroller.scrollTop = this.top;
    this.fill();
  }
}
