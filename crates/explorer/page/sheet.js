// The drawing of a chart: where the lanes are, and how a row, an arrow and a loop look.

import { draw, shorten } from "./dom.js";
import { colour } from "./lanes.js";

/** How high a row is. */
export const HEIGHT = 28;
/** What is left free above the first row. */
export const TOP = 8;
const MARGIN = 52;
const NARROWEST = 80;
const WIDEST = 300;
/** How wide a letter is. */
const LETTER = 7.3;

/** Lanes beside each other in so many pixels, or in more where they need it; `position` is the place of the current state
 * on the line of steps. */
export class Sheet {
  constructor(lanes, room, position) {
    this.lanes = lanes;
    this.position = position;
    this.room = room;
    this.apart = Math.max(NARROWEST, Math.min(WIDEST, (room - MARGIN) / Math.max(1, lanes.length)));
    this.width = Math.max(room, MARGIN + this.apart * lanes.length);
    this.at = new Map(lanes.map((lane, index) => [lane, MARGIN + this.apart * (index + 0.5)]));
  }

  /** The rows, with what is wrong at the end of the run broken into as many as its text needs: it is what one looks for. */
  whole(rows) {
    const out = [...rows];
    const tail = [];
    while (out.at(-1)?.kind === "note" && ["violated", "shown"].includes(out.at(-1).note.kind)) {
      const row = out.pop();
      const parts = broken(row.note.text, this.letters());
      const wide = parts.length > 1;
      tail.unshift(...parts.map((text) => ({ ...row, wide, title: row.note.text, note: { ...row.note, text } })));
    }
    tail.forEach((row, place) => {
      row.index = out.length + place;
    });
    return [...out, ...tail];
  }

  /** How many letters there is room for beside the numbers. */
  letters() {
    return Math.max(12, Math.floor((Math.min(this.width, this.room) - MARGIN - 12) / LETTER));
  }

  /** Everything between two heights: rows, the arrows that pass there, and the loop. */
  draw(rows, arrows, loop, top, bottom) {
    const line = (lane) => {
      const x = this.at.get(lane);
      return draw("line", { class: colour(lane), x1: x, x2: x, y1: top, y2: bottom });
    };
    const group = (name, parts) => draw("g", { class: name }, parts);
    return [
      group(
        "bands",
        rows.map((row) => this.band(row)),
      ),
      group("lines", this.lanes.map(line)),
      group(
        "arrows",
        arrows.map((arrow) => this.arrow(arrow)),
      ),
      group(
        "rows",
        rows.map((row) => this.row(row)),
      ),
      // The border of a label must not cut the dot of another row.
      group(
        "dots",
        rows.map((row) => this.dot(row)),
      ),
      loop ? this.bracket(loop) : "",
    ];
  }

  middle(index) {
    return TOP + index * HEIGHT + HEIGHT / 2;
  }

  later(row) {
    return row.place > this.position ? " later" : "";
  }

  isNow(row) {
    return row.place === this.position && row.kind !== "loop" && row.kind !== "back";
  }

  band(row) {
    const shape = { x: 0, y: TOP + row.index * HEIGHT, width: this.width, height: HEIGHT };
    return draw("rect", { class: this.isNow(row) ? "band now" : "band", "data-row": row.index, ...shape });
  }

  /** A text beside a lane, on the side that is asked for or where there is room. */
  beside(lane, y, text, kind, wish) {
    const x = this.at.get(lane);
    if (x === undefined) return draw("text", { class: kind, x: MARGIN + 6, y }, shorten(text, 90));
    const room = { left: x - MARGIN - 12, right: this.width - x - 12 };
    const length = text.length * LETTER;
    const last = this.lanes.length > 1 && lane === this.lanes.at(-1);
    let side = wish ?? (last ? "left" : "right");
    if (length > room[side] && room.left > room.right !== (side === "left")) side = side === "left" ? "right" : "left";
    const most = Math.max(10, Math.floor(room[side] / LETTER));
    const left = side === "left";
    // An arrow that comes from this side comes from above.
    const below = wish && wish !== side ? 8 : 0;
    return draw(
      "text",
      { class: kind, x: left ? x - 9 : x + 9, y: y + below, "text-anchor": left ? "end" : "start" },
      shorten(text, most),
    );
  }

  /** The side of a receive that its arrow does not come from. */
  away(row) {
    if (row.kind !== "received" || !row.from) return undefined;
    return (this.at.get(row.from.lane) ?? 0) > (this.at.get(row.lane) ?? 0) ? "left" : "right";
  }

  row(row) {
    const y = this.middle(row.index);
    const x = this.at.get(row.lane);
    const group = draw("g", {
      class: `row ${row.kind} ${colour(row.lane)}${this.later(row)}${this.isNow(row) ? " now" : ""}`,
      "data-node": row.node,
      "data-row": row.index,
    });
    const number = row.number ?? "";
    group.append(draw("text", { class: "number", x: MARGIN - 14, y: y + 4, "text-anchor": "end" }, number));
    const title = (text) => draw("text", { class: "title", x: MARGIN, y: y + 4 }, text);
    if (row.kind === "loop") group.append(title(row.still ? "↻ and then nothing more, for ever" : "↻ again and again"));
    else if (row.kind === "back")
      group.append(title(row.to ? `↑ back to the state after step ${row.to}` : "↑ back to the initial state"));
    else if (row.kind === "note")
      group.append(
        this.across(row.wide ? MARGIN + 4 : (x ?? MARGIN) + 9, y + 4, row.note.text, `note ${row.note.kind}`),
      );
    else if (row.kind === "fold") this.folded(row, y, group);
    else {
      if (row.kind === "rendezvous") group.append(this.between(row, y));
      else group.append(this.beside(row.lane, row.kind === "sent" ? y - 5 : y + 4, row.label, "label", this.away(row)));
    }
    const says = row.title ?? row.note?.text;
    if (says) group.prepend(draw("title", {}, says));
    return group;
  }

  dot(row) {
    const x = this.at.get(row.lane);
    if (x === undefined || !["step", "rendezvous", "sent", "received"].includes(row.kind)) return "";
    const open = row.kind === "sent" && !row.received;
    return draw("circle", {
      class: `dot ${open ? "open " : ""}${colour(row.lane)}${this.later(row)}`,
      "data-row": row.index,
      cx: x,
      cy: this.middle(row.index),
      r: row.kind === "step" ? 3 : 4,
    });
  }

  folded(row, y, group) {
    for (const lane of row.lanes) {
      const x = this.at.get(lane);
      if (x !== undefined)
        group.append(draw("line", { class: `folded ${colour(lane)}`, x1: x, x2: x, y1: y - 9, y2: y + 9 }));
    }
    const first = this.lanes.find((lane) => row.lanes.includes(lane));
    group.append(this.beside(first, y + 4, `▸ ${row.says}`, "label"));
  }

  /** The label of a rendezvous stands in the middle above its arrow. */
  between(row, y) {
    const from = this.at.get(row.lane) ?? MARGIN;
    const to = this.at.get(row.to) ?? from + this.apart;
    return this.across((from + to - row.label.length * LETTER) / 2, y - 8, row.label, "label");
  }

  /** A text from a place on, or further left where it would not fit. */
  across(wish, y, text, kind) {
    const label = shorten(text, Math.max(12, Math.floor((this.width - MARGIN - 12) / LETTER)));
    const x = Math.max(MARGIN + 4, Math.min(wish, this.width - 8 - label.length * LETTER));
    return draw("text", { class: kind, x, y }, label);
  }

  arrow(arrow) {
    const from = this.at.get(arrow.lane) ?? MARGIN;
    const to = this.at.get(arrow.to) ?? from + this.apart;
    const y = this.middle(arrow.from);
    const end = this.middle(arrow.until);
    const later = this.later(arrow.row);
    if (from === to) {
      const out = from - Math.min(26, this.apart / 3);
      return draw(
        "g",
        { class: `arrow ${arrow.kind} ${colour(arrow.lane)}${later}` },
        draw("path", { d: `M${from},${y} C${out},${y} ${out},${end} ${from - 5},${end}` }),
        head(from, end, 0),
      );
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

  /** The loop: a bracket from its last row back to its first. */
  bracket(loop) {
    const top = TOP + loop.from * HEIGHT + 5;
    const bottom = TOP + (loop.to + 1) * HEIGHT - 5;
    return draw("path", { class: "bracket", d: `M${MARGIN - 3},${bottom - 9} h-7 V${top + 9} h7 m-4,-4 l4,4 l-4,4` });
  }
}

/** A text in parts of at most so many letters, broken where a word or an operator ends. */
function broken(text, most) {
  const parts = [];
  let rest = text;
  while (rest.length > most) {
    let end = most;
    while (end > most / 3 && !/[\s)|&,;][^)|&,;]/.test(rest.slice(end - 1, end + 1))) end--;
    if (end <= most / 3) end = most;
    parts.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...parts, rest];
}

/** The head of an arrow that ends at a point. */
function head(x, y, angle) {
  const side = (turn) => `${x - 9 * Math.cos(angle + turn)},${y - 9 * Math.sin(angle + turn)}`;
  return draw("polygon", { points: `${x},${y} ${side(0.4)} ${side(-0.4)}` });
}
