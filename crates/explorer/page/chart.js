// The message sequence chart of the run: a lane for each process, messages as arrows from send to receive. Only the
// rows in sight are drawn, so that a run of any length scrolls.

import { count, draw, find, make } from "./dom.js";
import { badge, colour, known, nameOf } from "./lanes.js";
import { rows } from "./rows.js";
import { HEIGHT, Sheet, TOP } from "./sheet.js";

const HEAD = 30;
const BEYOND = 15;
/** With more lanes than this, those that do nothing are left out. */
const MANY = 6;

/** The panel of the chart; `shown` says whether anybody sees it. */
export class Chart {
  constructor(walk, shown) {
    this.walk = walk;
    this.shown = shown;
    this.unfolded = new Set();
    this.fold = find("chart-fold");
    this.touched = false;
    this.scroller = find("chart-scroll");
    this.heads = make("div", { class: "heads" });
    this.svg = draw("svg", { class: "sheet", role: "group", "aria-label": "Message sequence chart" });
    this.hint = make(
      "p",
      { class: "empty" },
      "Take an event: the run is drawn here, with a lane for each process and messages as arrows.",
    );
    this.content = make("div", { class: "tall" }, this.hint, this.svg);
    this.scroller.append(this.heads, this.content);
    this.unbroken = this.rows = [];
    this.arrows = [];
    this.drawn = null;
    walk.on("moved", () => this.show());
    this.fold.addEventListener("change", () => {
      this.touched = true;
      this.unfolded.clear();
      this.show();
    });
    this.room = { width: 0, height: 0 };
    this.top = 0;
    const scrolled = () => {
      this.top = this.scroller.scrollTop;
      this.fill();
    };
    this.scroller.addEventListener("scroll", scrolled, { passive: true });
    new ResizeObserver(([entry]) => this.resize(entry.contentRect)).observe(this.scroller);
    this.svg.addEventListener("click", (event) => this.click(event));
  }

  /** A model was read. */
  begin() {
    this.touched = false;
    this.unfolded.clear();
  }

  show() {
    if (!this.shown()) return;
    const { walk } = this;
    let chart = rows(walk, this.touched ? this.fold.checked : true, this.unfolded);
    if (!this.touched) {
      this.fold.checked = chart.messages > 0;
      if (chart.messages === 0) chart = rows(walk, false, this.unfolded);
    }
    this.unbroken = this.rows = chart.rows;
    this.arrows = chart.arrows;
    this.loopRows = this.loop();
    // Nothing is drawn behind the words that say what will be drawn.
    this.hint.hidden = this.rows.length > 0;
    this.svg.style.display = this.rows.length > 0 ? "" : "none";
    find("chart-note").textContent =
      walk.line.length < 2 ? "" : `${count(walk.line.length - 1, "step")}, ${count(chart.messages, "message")}`;
    this.place();
    this.drawn = null;
    this.reveal();
    this.fill();
  }

  /** Gives the lanes their places. With many, only those that do something have one. */
  place() {
    const busy = new Set();
    for (const row of this.unbroken) {
      if (row.lane !== null && row.lane !== undefined) busy.add(row.lane);
      for (const lane of row.lanes ?? []) if (lane !== null) busy.add(lane);
      if (row.kind === "rendezvous" && row.to !== undefined) busy.add(row.to);
    }
    const all = known();
    const lanes = all.length > MANY && busy.size ? all.filter((lane) => busy.has(lane)) : all;
    this.sheet = new Sheet(lanes, this.room.width, this.walk.position);
    this.rows = this.sheet.whole(this.unbroken);
    this.content.style.height = `${this.rows.length * HEIGHT + TOP + 24}px`;
    const { at, apart, width } = this.sheet;
    this.content.style.width = this.heads.style.width = `${width}px`;
    this.heads.replaceChildren(
      ...lanes.map((lane) => {
        const head = make(
          "span",
          { class: `head ${colour(lane)}`, title: nameOf(lane) },
          badge(lane),
          make("span", { class: "name" }, nameOf(lane)),
        );
        head.style.left = `${at.get(lane) - apart / 2 + 3}px`;
        head.style.width = `${apart - 6}px`;
        return head;
      }),
    );
    this.heads.hidden = lanes.length === 0;
  }

  resize({ width, height }) {
    const appeared = this.room.height === 0;
    this.room = { width, height };
    this.top = this.scroller.scrollTop;
    if (!this.shown() || height === 0) return;
    this.place();
    this.drawn = null;
    if (appeared) this.reveal();
    this.fill();
  }

  /** The rows between which the loop is. */
  loop() {
    const from = this.rows.findIndex((row) => row.kind === "loop");
    const to = this.rows.findIndex((row) => row.kind === "back");
    return from < 0 || to < 0 ? null : { from, to };
  }

  /** The last row of the current state. */
  current() {
    const { position } = this.walk;
    let found = -1;
    for (const row of this.rows)
      if (row.place <= position && row.kind !== "loop" && row.kind !== "back") found = row.index;
    return found;
  }

  reveal() {
    const room = this.room.height - HEAD;
    if (room <= 0) return;
    const top = Math.max(0, this.current()) * HEIGHT + TOP;
    if (top < this.top) this.scroll(top - room / 3);
    else if (top + HEIGHT * 1.5 > this.top + room) this.scroll(top - room + HEIGHT * 3);
  }

  scroll(top) {
    this.top = Math.max(0, Math.min(top, this.rows.length * HEIGHT + TOP + 24 + HEAD - this.room.height));
    this.scroller.scrollTop = this.top;
  }

  fill() {
    const room = this.room.height;
    if (room === 0 || !this.sheet) return;
    const first = Math.max(0, Math.floor(this.top / HEIGHT) - 1);
    const last = Math.min(this.rows.length, Math.ceil((this.top + room) / HEIGHT));
    if (this.drawn && first >= this.drawn[0] && last <= this.drawn[1]) return;
    const from = Math.max(0, first - BEYOND);
    const until = Math.min(this.rows.length, last + BEYOND);
    this.drawn = [from, until];
    const height = (until - from) * HEIGHT + TOP + 24;
    const offset = from * HEIGHT;
    const { sheet, svg } = this;
    svg.setAttribute("width", sheet.width);
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 ${offset} ${sheet.width} ${height}`);
    svg.style.transform = `translateY(${offset}px)`;
    const arrows = this.arrows.filter((arrow) => arrow.from < until && arrow.until >= from);
    svg.replaceChildren(...sheet.draw(this.rows.slice(from, until), arrows, this.loopRows, offset, offset + height));
  }

  click(event) {
    const index = event.target.closest("[data-row]")?.dataset.row;
    if (index === undefined) return;
    const row = this.rows[Number(index)];
    if (!row) return;
    if (row.kind === "fold") {
      this.unfolded.add(row.key);
      this.show();
    } else this.walk.to(row.node);
  }
}
