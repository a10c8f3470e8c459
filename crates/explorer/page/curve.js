// How a check goes: for states, rate, memory and open states a number and a small curve over time.

import { draw, make } from "./dom.js";

const WIDTH = 240;
const HEIGHT = 56;
const MOST = 600;

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** A number of bytes for people. */
export function bytes(number) {
  let unit = 0;
  for (; number >= 1024 && unit + 1 < UNITS.length; unit++) number /= 1024;
  return `${unit && number < 100 ? number.toFixed(1) : Math.round(number)} ${UNITS[unit]}`;
}

/** A large number for people. */
export const plain = (number) => Math.round(number).toLocaleString("en");

const KINDS = [
  { key: "states", title: "States", text: plain },
  { key: "rate", title: "States a second", text: plain },
  { key: "memory", title: "Memory", text: bytes },
  { key: "open", title: "Open", text: plain },
  { key: "nodes", title: "Nodes of diagrams", text: plain, work: true },
  { key: "clauses", title: "Clauses", text: plain, work: true },
  { key: "depth", title: "Steps of runs", text: plain, work: true },
];

/** The curves of one check. */
export class Curves {
  constructor(element) {
    this.element = element;
    this.clear();
  }

  clear() {
    this.samples = [];
    this.element.replaceChildren();
  }

  /** Adds samples; where there are very many, every other one is dropped. At the end all memory has been given back, which
   * says nothing about the check. */
  add(samples, limit, ended) {
    this.samples.push(...samples);
    const [before, last] = this.samples.slice(-2);
    if (ended && last) last.memory = Math.max(last.memory, before.memory);
    while (this.samples.length > MOST)
      this.samples = this.samples.filter((_, index, all) => index % 2 === 0 || index === all.length - 1);
    if (this.samples.length)
      this.element.replaceChildren(...this.kinds().map((kind) => this.curve(kind, kind.key === "memory" ? limit : null)));
  }

  /** What the engine counts: one that does not visit state by state has something else to show. */
  kinds() {
    const counted = ({ key }) => this.samples.some((sample) => sample[key] > 0);
    return KINDS.filter((kind) => (this.samples.some((sample) => sample.visits > 0) ? !kind.work : counted(kind)));
  }

  curve({ key, title, text }, limit) {
    const points = this.samples.filter((sample) => typeof sample[key] === "number");
    const last = points.at(-1)?.[key] ?? 0;
    const end = Math.max(0.001, points.at(-1)?.seconds ?? 0);
    const top = Math.max(1, ...points.map((sample) => sample[key]));
    const x = (sample) => ((sample.seconds / end) * WIDTH).toFixed(1);
    const y = (value) => (HEIGHT - 3 - (value / top) * (HEIGHT - 8)).toFixed(1);
    const line = points.map((sample) => `${x(sample)},${y(sample[key])}`).join(" ");
    const bound =
      limit && limit <= top * 1.6
        ? draw("line", { class: "limit", x1: 0, x2: WIDTH, y1: y(Math.min(limit, top)), y2: y(Math.min(limit, top)) })
        : null;
    return make(
      "figure",
      { class: "curve", "data-curve": key },
      make(
        "figcaption",
        {},
        make("span", { class: "title" }, title),
        make("span", { class: "now" }, text(last)),
        limit ? make("span", { class: "of" }, `of ${text(limit)}`) : null,
      ),
      draw(
        "svg",
        {
          viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
          preserveAspectRatio: "none",
          role: "img",
          "aria-label": `${title} over time, now ${text(last)}, at most ${text(top)}`,
        },
        draw("polygon", {
          class: "area",
          points: `0,${HEIGHT} ${line} ${points.length ? x(points.at(-1)) : 0},${HEIGHT}`,
        }),
        draw("polyline", { class: "line", points: line }),
        bound,
      ),
      make(
        "div",
        { class: "axis" },
        make("span", {}, `most ${text(top)}`),
        make("span", {}, `${end.toFixed(end < 10 ? 1 : 0)} s`),
      ),
    );
  }
}
