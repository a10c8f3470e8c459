// The message sequence chart of the run: a lane for each process, messages as arrows from send to receive. Only the
// rows in sight are drawn, so that a run of any length scrolls.

import { count, draw, find, make, shorten } from "./dom.js";
import { badge, colour, known, nameOf } from "./lanes.js";
import { rows } from "./rows.js";

const HEIGHT = 28;
const TOP = 8;
const MARGIN = 56;
const HEAD = 30;
const BEYOND = 15;
const NARROWEST = 92;
const WIDEST = 200;
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
    this.svg = draw("svg", { class: "sheet", role: "img", "aria-label": "Message sequence chart" });
    this.hint = make("p", { class: "empty" }, "Take an event: the run is drawn here, with a lane for each process and messages as arrows.");
    this.content = make("div", { class: "tall" }, this.hint, this.svg);
    this.scroller.append(this.heads, this.content);
    this.rows = [];
    this.arrows = [];
    this.drawn = null;
    walk.on("moved", () => this.show());
    this.fold.addEventListener("change", () => {
      this.touched = true;
      this.unfolded.clear();
      this.show();
    });
    this.scroller.addEventListener("scroll", () => this.fill(), { passive: true });
    new ResizeObserver(() => this.resize()).observe(this.scroller);
    this.svg.addEventListener("click", (event) => this.click(event));
  }

  /** A model was read. */
  begin(model) {
    this.net = model.net;
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
    Object.assign(this, chart);
    this.loopRows = this.bracket();
    this.hint.hidden = this.rows.length > 0;
    find("chart-note").textContent = walk.line.length < 2 ? "" : `${count(walk.line.length - 1, "step")}, ${count(chart.messages, "message")}`;
    this.place();
    this.content.style.height = `${this.rows.length * HEIGHT + TOP + 24}px`;
    this.drawn = null;
    this.reveal();
    this.fill();
  }

  /** Gives the lanes their places. With many, only those that do something have one. */
  place() {
    const busy = new Set();
    for (const row of this.rows) {
      if (row.lane !== null && row.lane !== undefined) busy.add(row.lane);
      for (const lane of row.lanes ?? []) if (lane !== null) busy.add(lane);
      if (row.kind === "rendezvous" && row.to !== undefined) busy.add(row.to);
    }
    const all = known();
    const lanes = all.length > MANY && busy.size ? all.filter((lane) => busy.has(lane)) : all;
    const room = this.scroller.clientWidth - MARGIN;
    const apart = Math.max(NARROWEST, Math.min(WIDEST, room / Math.max(1, lanes.length)));
    this.width = Math.max(this.scroller.clientWidth, MARGIN + apart * lanes.length);
    this.apart = apart;
    this.lanes = lanes;
    this.at = new Map(lanes.map((lane, index) => [lane, MARGIN + apart * (index + 0.5)]));
    this.content.style.width = `${this.width}px`;
    this.heads.style.width = `${this.width}px`;
    this.heads.replaceChildren(
      ...lanes.map((lane) => {
        const head = make("span", { class: `head ${colour(lane)}`, title: nameOf(lane) }, badge(lane), make("span", { class: "name" }, nameOf(lane)));
        head.style.left = `${this.at.get(lane) - apart / 2 + 3}px`;
        head.style.width = `${apart - 6}px`;
        return head;
      }),
    );
    this.heads.hidden = lanes.length === 0;
  }

  resize() {
    if (!this.shown() || this.scroller.clientWidth === 0) return;
    this.place();
    this.drawn = null;
    this.fill();
  }

  /** The rows between which the loop is. */
  bracket() {
    const from = this.rows.findIndex((row) => row.kind === "loop");
    return from < 0 ? null : { from, to: this.rows.findIndex((row) => row.kind === "back") };
  }

  /** The last row of the current state. */
  current() {
    const { position } = this.walk;
    let found = -1;
    for (const row of this.rows) if (row.place <= position && row.kind !== "loop" && row.kind !== "back") found = row.index;
    return found;
  }

  reveal() {
    const index = this.current();
    const room = this.scroller.clientHeight - HEAD;
    const top = Math.max(0, index) * HEIGHT + TOP;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = Math.max(0, top - room / 3);
    else if (top + HEIGHT * 1.5 > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room + HEIGHT * 3;
  }

  fill() {
    const room = this.scroller.clientHeight;
    if (room === 0 || !this.at) return;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / HEIGHT));
    const last = Math.min(this.rows.length, Math.ceil((this.scroller.scrollTop + room) / HEIGHT));
    if (this.drawn && first >= this.drawn[0] && last <= this.drawn[1]) return;
    const from = Math.max(0, first - BEYOND);
    const until = Math.min(this.rows.length, last + BEYOND);
    this.drawn = [from, until];
    const height = (until - from) * HEIGHT + TOP + 24;
    const offset = from * HEIGHT;
    this.svg.setAttribute("width", this.width);
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("viewBox", `0 ${offset} ${this.width} ${height}`);
    this.svg.style.transform = `translateY(${offset}px)`;
    const now = this.current();
    const visible = this.rows.slice(from, until);
    const arrows = this.arrows.filter((arrow) => arrow.from < until && arrow.until >= from);
    this.svg.replaceChildren(
      draw("g", { class: "bands" }, visible.map((row) => this.band(row, now))),
      draw("g", { class: "lines" }, this.lanes.map((lane) => draw("line", { class: colour(lane), x1: this.at.get(lane), x2: this.at.get(lane), y1: offset, y2: offset + height }))),
      draw("g", { class: "arrows" }, arrows.map((arrow) => this.arrow(arrow))),
      draw("g", { class: "rows" }, visible.map((row) => this.row(row))),
      this.loopRows ? this.loopMark() : "",
    );
  }

  middle(index) {
    return TOP + index * HEIGHT + HEIGHT / 2;
  }

  later(row) {
    return row.place > this.walk.position ? " later" : "";
  }

  band(row, now) {
    return draw("rect", { class: row.index === now ? "band now" : "band", "data-row": row.index, x: 0, y: TOP + row.index * HEIGHT, width: this.width, height: HEIGHT });
  }

  /** A text beside a lane, on the side where there is room. */
  beside(lane, y, text, kind) {
    const x = this.at.get(lane);
    if (x === undefined) return draw("text", { class: kind, x: MARGIN + 6, y }, shorten(text, 90));
    const left = this.lanes.length > 1 && lane === this.lanes.at(-1);
    const most = Math.max(14, Math.floor(((left ? x - MARGIN : this.width - x) - 16) / 6.4));
    return draw("text", { class: kind, x: left ? x - 9 : x + 9, y, "text-anchor": left ? "end" : "start" }, shorten(text, most));
  }

  row(row) {
    const y = this.middle(row.index);
    const x = this.at.get(row.lane);
    const group = draw("g", { class: `row ${row.kind} ${colour(row.lane)}${this.later(row)}`, "data-node": row.node, "data-row": row.index });
    const number = row.kind === "note" || row.kind === "loop" || row.kind === "back" ? "" : row.kind === "fold" ? `${row.first.place}–${row.place}` : String(row.place);
    group.append(draw("text", { class: "number", x: MARGIN - 14, y: y + 4, "text-anchor": "end" }, number));
    if (row.kind === "loop") group.append(draw("text", { class: "title", x: MARGIN, y: y + 4 }, "↻ again and again"));
    else if (row.kind === "back") group.append(draw("text", { class: "title", x: MARGIN, y: y + 4 }, `↑ back to the state after step ${row.to}`));
    else if (row.kind === "note") group.append(this.beside(row.lane, y + 4, row.note.text, `note ${row.note.kind}`));
    else if (row.kind === "fold") this.folded(row, y, group);
    else {
      if (x !== undefined) group.append(this.dot(row, x, y));
      if (row.kind === "rendezvous") group.append(this.between(row, y));
      else group.append(this.beside(row.lane, row.kind === "sent" || row.kind === "received" ? y - 5 : y + 4, row.label, "label"));
    }
    if (row.title) group.prepend(draw("title", {}, row.title));
    return group;
  }

  dot(row, x, y) {
    const open = row.kind === "sent" && !row.received;
    return draw("circle", { class: open ? "dot open" : "dot", cx: x, cy: y, r: row.kind === "step" ? 3 : 4 });
  }

  folded(row, y, group) {
    for (const lane of row.lanes) {
      const x = this.at.get(lane);
      if (x !== undefined) group.append(draw("line", { class: `folded ${colour(lane)}`, x1: x, x2: x, y1: y - 9, y2: y + 9 }));
    }
    const first = this.at.get(this.lanes.find((lane) => row.lanes.includes(lane)));
    group.append(draw("text", { class: "label", x: (first ?? MARGIN) + 10, y: y + 4 }, `▸ ${count(row.count, "step")}`));
  }

  /** The label of a rendezvous stands in the middle above its arrow. */
  between(row, y) {
    const from = this.at.get(row.lane) ?? MARGIN;
    const to = this.at.get(row.to) ?? from + this.apart;
    return draw("text", { class: "label", x: (from + to) / 2, y: y - 4, "text-anchor": "middle" }, shorten(row.label, Math.max(12, Math.floor(Math.abs(to - from) / 6))));
  }

  arrow(arrow) {
    const from = this.at.get(arrow.lane) ?? MARGIN;
    const to = this.at.get(arrow.to) ?? from + this.apart;
    const y = this.middle(arrow.from);
    const end = this.middle(arrow.until);
    const later = this.later(arrow.row);
    if (from === to) {
      const out = from - Math.min(26, this.apart / 3);
      return draw("g", { class: `arrow ${arrow.kind} ${colour(arrow.lane)}${later}` }, draw("path", { d: `M${from},${y} C${out},${y} ${out},${end} ${from - 5},${end}` }), head(from, end, 0));
    }
    const angle = Math.atan2(end - y, to - from);
    const [x2, y2] = [to - 4 * Math.cos(angle), end - 4 * Math.sin(angle)];
    return draw(
      "g",
      { class: `arrow ${arrow.kind} ${colour(arrow.lane)}${later}` },
      draw("line", { x1: from, y1: y, x2: x2 - 4 * Math.cos(angle), y2: y2 - 4 * Math.sin(angle) }),
      head(x2, y2, angle),
    );
  }

  loopMark() {
    const top = TOP + this.loopRows.from * HEIGHT + 5;
    const bottom = TOP + (this.loopRows.to + 1) * HEIGHT - 5;
    return draw("path", { class: "bracket", d: `M${MARGIN - 3},${bottom - 9} h-7 V${top + 9} h7 m-4,-4 l4,4 l-4,4` });
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

/** The head of an arrow that ends at a point. */
function head(x, y, angle) {
  const side = (turn) => `${x - 9 * Math.cos(angle + turn)},${y - 9 * Math.sin(angle + turn)}`;
  return draw("polygon", { points: `${x},${y} ${side(0.4)} ${side(-0.4)}` });
}
