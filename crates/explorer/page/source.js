// The source of the model, with the lines where the processes stand. Files are fetched piece by piece, so that long ones
// cost nothing before they are looked at.

import { pieces } from "./colouring.js";
import { find, make } from "./dom.js";
import { badge, colour } from "./lanes.js";
import { List } from "./list.js";

const PAGE = 500;
const HEIGHT = 20;

/** The panel of the source; `fetch(file, from, count)` has lines of a file, counted from one. */
export class Source {
  constructor(walk, fetch) {
    this.walk = walk;
    this.fetch = fetch;
    this.file = 0;
    this.files = [];
    this.pages = new Map();
    this.pointed = null;
    this.active = new Map();
    this.last = new Set();
    this.scroller = find("source-list");
    this.list = new List(this.scroller, HEIGHT, (index) => this.row(index));
    this.choice = find("source-file");
    this.choice.addEventListener("change", () => this.open(Number(this.choice.value)));
    walk.on("shown", (view) => this.show(view));
  }

  /** A model was read: its files. */
  begin(model) {
    // A model that has become another one is looked at where it was.
    const [file, top] = model.files.length === this.files.length ? [this.file, this.list.top] : [0, 0];
    this.files = model.files;
    this.language = model.language;
    this.pages = new Map();
    this.choice.replaceChildren(...this.files.map((file, index) => make("option", { value: index }, file.name)));
    this.choice.hidden = this.files.length < 2;
    this.scroller.style.setProperty("--digits", String(Math.max(...this.files.map((file) => file.lines), 1)).length);
    this.placed = false;
    this.open(file);
    this.list.scroll(top);
  }

  open(file) {
    this.file = file;
    this.choice.value = String(file);
    this.list.show(this.files[file]?.lines ?? 0);
    this.list.scroll(0);
  }

  show(view) {
    this.active = new Map();
    for (const process of view.processes) {
      for (const place of process.lines ?? []) {
        const key = `${place.file}:${place.line}`;
        if (!this.active.has(key)) this.active.set(key, []);
        this.active.get(key).push(process.lane);
      }
    }
    this.last = new Set(view.steps.filter((step) => step.line).map((step) => `${step.file}:${step.line}`));
    const step = view.steps.findLast((step) => step.line);
    const place = step ?? view.processes.flatMap((process) => process.lines ?? [])[0];
    if (place && (step || !this.placed)) this.reveal(place);
    this.placed = true;
    this.list.show(this.files[this.file]?.lines ?? 0);
  }

  /** Shows a line, and its file. */
  reveal(place) {
    if ((place.file ?? 0) !== this.file && this.files[place.file]) this.open(place.file);
    this.list.reveal(place.line - 1);
  }

  /** Marks the line of an event that somebody looks at; null marks none. */
  point(place, reveal) {
    const before = this.pointed;
    this.pointed = place?.line ? { file: place.file ?? 0, line: place.line } : null;
    if (this.pointed && reveal && this.list.room > 0) this.reveal(this.pointed);
    for (const mark of [before, this.pointed]) {
      if (!mark || mark.file !== this.file) continue;
      this.list.rows.get(mark.line - 1)?.classList.toggle("pointed", mark === this.pointed);
    }
  }

  /** A line if its page has come; otherwise the page is asked for. */
  text(index) {
    const number = Math.floor(index / PAGE);
    const key = `${this.file}:${number}`;
    const page = this.pages.get(key);
    if (page === undefined) {
      this.pages.set(key, null);
      this.load(this.file, number, key);
    }
    return page ? page[index % PAGE] : undefined;
  }

  async load(file, number, key) {
    try {
      const { pages } = this;
      const lines = await this.fetch(file, number * PAGE + 1, PAGE);
      // Meanwhile the model may have become another one.
      if (pages !== this.pages) return;
      let inside = this.pages.get(`${file}:${number - 1}`)?.inside ?? false;
      const page = lines.map((line) => {
        const cut = pieces(line, this.language, inside);
        inside = cut.inside;
        return cut.pieces;
      });
      page.inside = inside;
      this.pages.set(key, page);
      if (file === this.file) this.list.show(this.files[file].lines);
    } catch (error) {
      this.pages.delete(key);
      this.walk.report(error);
    }
  }

  row(index) {
    const key = `${this.file}:${index + 1}`;
    const lanes = this.active.get(key) ?? [];
    const classes = ["code"];
    if (lanes.length) classes.push("active", colour(lanes[0]));
    if (this.last.has(key)) classes.push("last");
    if (this.pointed && this.pointed.file === this.file && this.pointed.line === index + 1) classes.push("pointed");
    const shown = lanes.length > 2 ? lanes.slice(0, 1) : lanes;
    return make(
      "div",
      { class: classes.join(" "), "data-line": index + 1 },
      make(
        "span",
        { class: "gutter" },
        shown.map(badge),
        lanes.length > shown.length
          ? make(
              "span",
              { class: "more", title: `${lanes.length} processes stand here` },
              `+${lanes.length - shown.length}`,
            )
          : null,
      ),
      make("span", { class: "number" }, String(index + 1)),
      make(
        "span",
        { class: "text" },
        (this.text(index) ?? []).map(([kind, text]) => (kind ? make("span", { class: `code-${kind}` }, text) : text)),
      ),
    );
  }
}
