// A drawing that can be moved and enlarged: with the wheel, by dragging, with two fingers, with buttons and keys.

import { draw, make } from "./dom.js";

const LEAST = 0.08;
const MOST = 4;
/** What is smaller than this cannot be read; on a small screen, which is held nearer, it can be smaller. */
const READABLE = 0.6;
const READABLE_NEAR = 0.42;
/** A panel that is not wider than this is on a small screen. */
const SMALL = 500;

/** A drawing in a panel; `label` says what it shows to those who cannot see it. */
export class Canvas {
  constructor(panel, label) {
    this.layer = draw("g", {});
    this.svg = draw("svg", { class: "canvas", tabindex: "0", role: "group", "aria-label": label }, this.layer);
    // What moves is in a drawing of its own above, so that the other one need not be drawn anew with every frame.
    this.above = draw("g", {});
    const above = draw("svg", { class: "above", "aria-hidden": "true" }, this.above);
    this.note = make("span", { class: "note-text" });
    const button = (text, title, action) =>
      make("button", { type: "button", title, "aria-label": `${text} ${title}`, onclick: action }, text);
    this.tools = make(
      "div",
      { class: "tools" },
      button("−", "Smaller", () => this.zoom(1 / 1.3)),
      button("+", "Larger", () => this.zoom(1.3)),
      button("Fit", "Show everything (0)", () => this.whole()),
      this.note,
    );
    panel.append(this.tools, make("div", { class: "drawing" }, this.svg, above));
    this.size = { width: 1, height: 1 };
    // How large it is on the page; asking the page for it would make it lay everything out at once.
    this.room = { width: 0, height: 0 };
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    this.moved = false;
    this.box = null;
    this.pointers = new Map();
    this.listen();
  }

  listen() {
    const { svg } = this;
    svg.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), event.offsetX, event.offsetY);
      },
      { passive: false },
    );
    svg.addEventListener("pointerdown", (event) => {
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
      this.dragged = 0;
    });
    svg.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
      svg.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    // A click at the end of a drag is none.
    svg.addEventListener("click", (event) => this.dragged > 6 && event.stopPropagation(), true);
    svg.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(([entry]) => {
      this.room = entry.contentRect;
      if (!this.moved) this.frame(this.box);
    }).observe(svg);
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      const box = this.svg.getBoundingClientRect();
      this.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
    } else {
      this.x += now[0] - before[0];
      this.y += now[1] - before[1];
      this.dragged += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      if (this.dragged > 6) {
        this.moved = true;
        this.svg.setPointerCapture(event.pointerId);
      }
    }
    this.pointers.set(event.pointerId, now);
    this.apply();
  }

  key(event) {
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.defaultPrevented) return;
    if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.whole();
    else if (moves[event.key] && event.target === this.svg) {
      this.x += moves[event.key][0];
      this.y += moves[event.key][1];
      this.moved = true;
      this.apply();
    } else return;
    event.preventDefault();
  }

  apply() {
    for (const layer of [this.layer, this.above])
      layer.setAttribute("transform", `translate(${this.x},${this.y}) scale(${this.scale})`);
  }

  /** Enlarges around a point, the middle if none is given. */
  zoom(factor, x = this.room.width / 2, y = this.room.height / 2) {
    const scale = Math.max(LEAST, Math.min(MOST, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.moved = true;
    this.apply();
  }

  /** Shows everything, but not larger than it is. */
  fit() {
    const { width, height } = this.room;
    if (!width || !height) return;
    this.scale = Math.max(LEAST, Math.min(1.15, (width - 24) / this.size.width, (height - 24) / this.size.height));
    this.x = (width - this.size.width * this.scale) / 2;
    this.y = (height - this.size.height * this.scale) / 2;
    this.moved = false;
    this.apply();
  }

  /** Shows everything because somebody wants it, even where it cannot be read. */
  whole() {
    this.fit();
    this.moved = this.scale < this.readable();
  }

  readable() {
    return this.room.width <= SMALL ? READABLE_NEAR : READABLE;
  }

  /** Shows everything, or where that would be too small to be read, what is around a box, and all of the box if it can be. */
  frame(box) {
    this.box = box;
    this.fit();
    const { width, height } = this.room;
    if (!width || !height || !box || this.scale >= this.readable()) return;
    this.scale = Math.max(this.readable(), Math.min(0.85, (width - 24) / box.width, (height - 24) / box.height));
    this.center(box);
  }

  /** What can be shown of a box at once: all of it, or else its core. */
  within(box) {
    const fits = box.width * this.scale <= this.room.width && box.height * this.scale <= this.room.height;
    return fits ? box : (box.core ?? box);
  }

  /** Moves a box to the middle, but shows no more empty space for it than there must be. */
  center(whole) {
    const box = this.within(whole);
    const place = (room, size, middle) => {
      const wanted = room / 2 - middle * this.scale;
      const least = room - size * this.scale - 12;
      return least > 12 ? (room - size * this.scale) / 2 : Math.max(least, Math.min(12, wanted));
    };
    this.x = place(this.room.width, this.size.width, box.x + box.width / 2);
    this.y = place(this.room.height, this.size.height, box.y + box.height / 2);
    this.apply();
  }

  /** Moves so that a box can be seen, and not at all where it can be seen already. */
  reveal(whole) {
    const box = this.within(whole);
    const left = this.x + box.x * this.scale;
    const top = this.y + box.y * this.scale;
    const right = left + box.width * this.scale;
    const bottom = top + box.height * this.scale;
    const inside = left >= 0 && top >= 0 && right <= this.room.width && bottom <= this.room.height;
    if (!inside) this.center(box);
  }

  /** Shows a drawing of a size. */
  show(size, ...parts) {
    this.size = { width: Math.max(1, size.width), height: Math.max(1, size.height) };
    this.layer.replaceChildren(...parts);
  }
}

/** How far before and behind a corner a line is round. */
const ROUND = 28;

/** A path through points, straight between them and round at its corners: it keeps to where it was laid out, round boxes. */
export function through(points) {
  if (points.length < 2) return "";
  let path = `M${points[0]}`;
  for (let index = 1; index < points.length - 1; index++) {
    const corner = points[index];
    const begin = towards(corner, points[index - 1]);
    path += ` L${begin} Q${corner} ${towards(corner, points[index + 1])}`;
  }
  return `${path} L${points.at(-1)}`;
}

/** A point on the way from a corner to the next one, half way at most. */
function towards([x, y], [toX, toY]) {
  const length = Math.hypot(toX - x, toY - y);
  const share = length > 0 ? Math.min(ROUND, length / 2) / length : 0;
  return [x + (toX - x) * share, y + (toY - y) * share];
}

/** The corners of the head of an arrow at the end of a path through points. */
export function corners(points, size = 8) {
  const [x, y] = points.at(-1);
  let before = points.at(-2);
  for (let index = points.length - 2; index > 0 && Math.hypot(before[0] - x, before[1] - y) < 2; index--)
    before = points[index - 1];
  const angle = Math.atan2(y - before[1], x - before[0]);
  const side = (turn) => `${x - size * Math.cos(angle + turn)},${y - size * Math.sin(angle + turn)}`;
  return [`${x},${y}`, side(0.42), side(-0.42)];
}

/** The head itself. */
export const tip = (points, size) => draw("polygon", { class: "tip", points: corners(points, size).join(" ") });
