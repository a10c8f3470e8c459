// A card beside a state of the graph: the whole state, and what tells it from the one where one is.

import { make } from "./dom.js";
import { badge, colour } from "./lanes.js";

/** How long the pointer rests on a state before its card is shown, and how many values a card has. */
const REST = 180;
const MOST = 60;
/** More values than these stand in two columns. */
const FEW = 8;
const GAP = 10;

/** Cards in a drawing; `ask` has the state of a vertex, or its promise. */
export class Card {
  constructor(drawing, ask) {
    this.drawing = drawing;
    this.ask = ask;
    this.element = make("div", { class: "card", id: "card", role: "tooltip", hidden: true });
    drawing.append(this.element);
    this.of = null;
  }

  /** Shows the card of a vertex beside a box on the page; at once, or when the pointer has rested. */
  show(vertex, box, soon = false) {
    if (this.of === vertex && !this.element.hidden) return;
    this.hide();
    this.of = vertex;
    this.timer = setTimeout(() => this.fill(vertex, box).catch(() => this.hide()), soon ? 0 : REST);
  }

  hide() {
    clearTimeout(this.timer);
    this.of = null;
    this.element.hidden = true;
  }

  async fill(vertex, box) {
    const state = await this.ask(vertex);
    if (this.of !== vertex) return;
    this.element.replaceChildren(...content(state, vertex));
    this.element.hidden = false;
    this.place(box());
  }

  /** Beside the box, or above or below it: where there is room. */
  place(box) {
    const room = this.drawing.getBoundingClientRect();
    const own = this.element.getBoundingClientRect();
    const within = (value, most) => Math.max(0, Math.min(value, most));
    const [left, top] = [box.left - room.left, box.top - room.top];
    const level = within(top, room.height - own.height);
    const upright = within(left + (box.width - own.width) / 2, room.width - own.width);
    const places = [
      [left + box.width + GAP, level],
      [left - GAP - own.width, level],
      [upright, top + box.height + GAP],
      [upright, top - GAP - own.height],
    ];
    const fits = ([x, y]) => x >= 0 && y >= 0 && x + own.width <= room.width && y + own.height <= room.height;
    // Where there is no room anywhere, as far from the middle of the box as it can be.
    const corner = left + box.width / 2 < room.width / 2 ? room.width - own.width : 0;
    const [x, y] = places.find(fits) ?? [Math.max(0, corner), level];
    this.element.style.transform = `translate(${Math.round(x)}px,${Math.round(y)}px)`;
  }
}

function content(state, vertex) {
  const differs = (value) => value.before !== null && value.before !== undefined;
  // What differs comes first: it is seen however many values there are.
  const values = [...state.values].sort((a, b) => differs(b) - differs(a));
  const row = (value) =>
    make(
      "p",
      { class: differs(value) ? "value differs" : "value" },
      make("span", { class: "of" }, value.lane === null ? "" : badge(value.lane), " ", value.short ?? value.name),
      make("strong", {}, value.value),
      differs(value) ? make("span", { class: "here" }, ` here ${value.before}`) : null,
    );
  const left = state.values_total - Math.min(values.length, MOST);
  return [
    make(
      "p",
      { class: "places" },
      state.processes.map((process) =>
        make("span", { class: colour(process.lane) }, badge(process.lane), ` ${process.at ?? process.name}`),
      ),
    ),
    make("div", { class: values.length > FEW ? "values two" : "values" }, values.slice(0, MOST).map(row)),
    make(
      "p",
      { class: "hint" },
      [
        left > 0 ? `and ${left.toLocaleString("en")} more` : "",
        vertex.current ? "you are here" : values.some(differs) ? "marked: other than where you are" : "",
      ]
        .filter(Boolean)
        .join(" · "),
    ),
  ];
}
