// The state graph around the current state, as the server has laid it out; states are expanded on demand.

import { get, post } from "./api.js";
import { Canvas, through, tip } from "./canvas.js";
import { Card } from "./card.js";
import { count, draw, find, make, shorten } from "./dom.js";

const MOST = 200;
/** How high a line and how wide a letter of a label is. */
const LINE = 15;
const LETTER = 6.8;
/** How high a line of the names of events is, and how wide a letter of them. */
const NAME = 13;
const NAME_LETTER = 6.3;

/** The panel of the state graph; `shown` says whether anybody sees it. */
export class Graph {
  constructor(walk, shown) {
    this.walk = walk;
    this.shown = shown;
    this.canvas = new Canvas(find("graph"), "State graph; Tab goes from state to state, Enter goes there, + expands");
    this.foot = make("div", { class: "foot", hidden: true });
    find("graph").append(this.foot);
    this.card = new Card(this.canvas.svg.parentElement, (vertex) => this.whole(vertex));
    this.begin();
    walk.on("moved", () => this.show());
    this.canvas.svg.addEventListener("click", (event) => this.click(event));
    this.canvas.svg.addEventListener("dblclick", (event) => {
      const vertex = this.vertexOf(event.target);
      if (vertex && !event.target.closest(".expand")) this.go(vertex);
    });
    this.canvas.svg.addEventListener("keydown", (event) => this.key(event), true);
    this.look();
  }

  /** The whole state is shown of what the pointer is on, or the focus. */
  look() {
    const { svg } = this.canvas;
    const show = (event, soon) => {
      const vertex = this.vertexOf(event.target);
      const element = event.target.closest?.("[data-vertex]");
      if (vertex && !event.buttons) this.card.show(vertex, () => element.getBoundingClientRect(), soon);
      else this.card.hide();
    };
    svg.addEventListener("pointerover", (event) => event.pointerType !== "touch" && show(event));
    svg.addEventListener("pointerleave", () => this.card.hide());
    svg.addEventListener("pointerdown", () => this.card.hide());
    svg.addEventListener("wheel", () => this.card.hide(), { passive: true });
    svg.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && show(event, true));
    svg.addEventListener("focusout", () => this.card.hide());
  }

  /** A state in full; it is asked for once for each place where one is. */
  async whole(vertex) {
    const here = this.walk.current;
    if (this.seenFrom !== here) {
      this.seenFrom = here;
      this.seen = new Map();
    }
    if (!this.seen.has(vertex.vertex)) this.seen.set(vertex.vertex, get(`vertex/${vertex.vertex}?node=${here}`, true));
    return this.seen.get(vertex.vertex);
  }

  /** Forgets what was expanded. */
  begin() {
    this.expanded = new Set();
    this.selected = null;
    this.anchor = null;
    this.data = null;
    this.seenFrom = null;
    this.canvas.moved = false;
  }

  vertexOf(target) {
    const number = target.closest?.("[data-vertex]")?.dataset.vertex;
    return this.data?.vertices.find((vertex) => String(vertex.vertex) === number);
  }

  show() {
    if (!this.shown()) return;
    this.ask().catch((error) => this.walk.report(error));
  }

  async ask() {
    const wanted = this.walk.current;
    if (wanted === undefined) return;
    const expanded = [...this.expanded].join(",");
    const data = await get(`graph?node=${wanted}&expanded=${expanded}&most=${MOST}`);
    if (wanted !== this.walk.current || expanded !== [...this.expanded].join(",")) return;
    this.data = data;
    this.draw();
  }

  draw() {
    const { data, canvas } = this;
    this.card.hide();
    const focused = document.activeElement?.closest?.("#graph [data-vertex]")?.dataset.vertex;
    canvas.note.textContent = `${count(data.vertices.length, "state")}, ${count(data.edges.length, "step")}${data.cut ? `; not all are shown, ${MOST} is the most` : ""}${data.edges.some((edge) => !edge.at) ? "; point at a line for its events" : ""}`;
    canvas.note.classList.toggle("cut", Boolean(data.cut));
    canvas.show(
      data,
      draw(
        "g",
        { class: "edges" },
        data.edges.map((edge) => this.edge(edge)),
      ),
      draw(
        "g",
        { class: "vertices" },
        data.vertices.map((vertex) => this.vertex(vertex)),
      ),
    );
    const current = data.vertices.find((vertex) => vertex.current);
    this.keep(current);
    if (!data.vertices.some((vertex) => vertex.vertex === this.selected)) this.selected = null;
    this.select(this.selected);
    if (focused) canvas.svg.querySelector(`[data-vertex="${focused}"]`)?.focus();
  }

  /** Puts the new drawing where it does not surprise: what was unfolded stays in its place. */
  keep(current) {
    const { canvas, anchor } = this;
    const vertex = anchor && this.data.vertices.find((vertex) => vertex.vertex === anchor.vertex);
    this.anchor = null;
    if (vertex) {
      canvas.x = anchor.x - vertex.x * canvas.scale;
      canvas.y = anchor.y - vertex.y * canvas.scale;
      canvas.moved = true;
      canvas.apply();
      if (vertex.expanded) canvas.reveal(this.around(vertex));
    } else if (!canvas.moved) canvas.frame(current && this.around(current));
    else if (current) canvas.reveal(current);
  }

  /** The box around a state and what follows it. */
  around(vertex) {
    const next = new Set(this.data.edges.filter((edge) => edge.from === vertex.vertex).map((edge) => edge.to));
    const boxes = this.data.vertices.filter((other) => other === vertex || next.has(other.vertex));
    const x = Math.min(...boxes.map((box) => box.x));
    const y = Math.min(...boxes.map((box) => box.y));
    const right = Math.max(...boxes.map((box) => box.x + box.width));
    const bottom = Math.max(...boxes.map((box) => box.y + box.height));
    return { x, y, width: right - x, height: bottom - y };
  }

  edge(edge) {
    return draw(
      "g",
      { class: edge.on_path ? "edge on-path" : "edge", "data-from": edge.from, "data-to": edge.to },
      draw("title", {}, edge.label),
      draw("path", { class: "reach", d: through(edge.points) }),
      draw("path", { class: "stroke", d: through(edge.points) }),
      tip(edge.points),
      this.names(edge),
    );
  }

  /** The events of an edge, half way. */
  names({ at, names }) {
    if (!at) return null;
    const first = at[1] - ((names.length - 1) * NAME) / 2 + 3.5;
    const width = Math.max(...names.map((name) => name.length)) * NAME_LETTER + 6;
    const height = names.length * NAME + 2;
    return [
      draw("rect", { class: "behind", x: at[0] - width / 2, y: at[1] - height / 2, width, height }),
      ...names.map((name, index) =>
        draw("text", { class: "event", x: at[0], y: first + index * NAME, "text-anchor": "middle" }, name),
      ),
    ];
  }

  vertex(vertex) {
    const { x, y, width, height } = vertex;
    // The first state that is drawn of the run has none before it that it could be told from.
    const lines = vertex.label.length ? vertex.label : [vertex.initial ? "initial" : "…"];
    const further = !vertex.label.length && !vertex.initial && vertex.on_path && "further back in the run";
    const first = y + height / 2 - ((lines.length - 1) * LINE) / 2 + 4;
    const classes = ["vertex"];
    for (const [name, value] of Object.entries({
      current: vertex.current,
      "on-path": vertex.on_path,
      initial: vertex.initial,
      dead: vertex.dead,
      bad: vertex.bad,
    }))
      if (value) classes.push(name);
    const says = [
      vertex.current ? "current state" : "state",
      vertex.initial && "initial",
      vertex.dead && "no event is enabled",
      vertex.bad && "an error",
      further,
      ...vertex.label,
    ];
    const most = Math.max(4, Math.floor((width - 6) / LETTER));
    const text = lines.map((line, index) =>
      draw("text", { x: x + width / 2, y: first + index * LINE, "text-anchor": "middle" }, shorten(line, most)),
    );
    return draw(
      "g",
      {
        class: classes.join(" "),
        "data-vertex": vertex.vertex,
        tabindex: "0",
        role: "button",
        "aria-label": says.filter(Boolean).join(", "),
      },
      draw("title", {}, further || lines.join("\n")),
      draw("rect", { x, y, width, height, rx: 7 }),
      text,
      this.more(vertex),
    );
  }

  /** The sign that shows or hides what follows a state. */
  more(vertex) {
    if (vertex.current || vertex.dead || vertex.successors === 0) return null;
    const open = vertex.expanded;
    if (open && !this.expanded.has(vertex.vertex)) return null;
    const [x, y] = [vertex.x + vertex.width, vertex.y + vertex.height];
    return draw(
      "g",
      { class: "expand" },
      draw("title", {}, open ? "Hide what follows" : "Show what follows"),
      draw("circle", { cx: x, cy: y, r: 8 }),
      draw("text", { x, y: y + 4, "font-size": 12, "text-anchor": "middle" }, open ? "−" : "+"),
    );
  }

  toggle(vertex) {
    if (this.expanded.has(vertex.vertex)) this.expanded.delete(vertex.vertex);
    else this.expanded.add(vertex.vertex);
    const { x, y, scale } = this.canvas;
    this.anchor = { vertex: vertex.vertex, x: x + vertex.x * scale, y: y + vertex.y * scale };
    this.show();
  }

  go(vertex) {
    if (vertex.current) return;
    this.walk.queue(async () => {
      const answer = await post("go", { node: this.walk.current, vertex: vertex.vertex });
      await this.walk.open({ node: answer.node, loop: null }, "jump");
    });
  }

  /** Marks a state, and says below the drawing what it is and what can be done with it. */
  select(number) {
    this.selected = number;
    const vertex = this.data?.vertices.find((vertex) => vertex.vertex === number);
    for (const element of this.canvas.svg.querySelectorAll(".selected")) element.classList.remove("selected");
    this.foot.hidden = !vertex;
    if (!vertex) return;
    this.canvas.svg.querySelector(`[data-vertex="${number}"]`)?.classList.add("selected");
    const into = this.data.edges.filter((edge) => edge.to === number).slice(0, 3);
    this.foot.replaceChildren(
      make(
        "span",
        { class: "says" },
        [
          vertex.initial ? "initial" : "",
          vertex.dead ? "no event is enabled" : "",
          vertex.bad ? "error" : "",
          vertex.on_path && !vertex.initial && !vertex.label.length ? "further back in the run" : "",
          ...vertex.label,
        ]
          .filter(Boolean)
          .join(", "),
        into.length ? make("span", { class: "via" }, ` by ${into.map((edge) => edge.label).join("; ")}`) : "",
      ),
      vertex.current
        ? make("strong", {}, "you are here")
        : make("button", { type: "button", onclick: () => this.go(vertex) }, "Go there"),
      this.more(vertex)
        ? make("button", { type: "button", onclick: () => this.toggle(vertex) }, vertex.expanded ? "Fold" : "Expand")
        : "",
    );
  }

  click(event) {
    const vertex = this.vertexOf(event.target);
    if (!vertex) this.select(null);
    else if (event.target.closest(".expand")) this.toggle(vertex);
    else this.select(vertex.vertex);
  }

  key(event) {
    const vertex = this.vertexOf(event.target);
    if (!vertex) return;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Escape" && this.card.of) this.card.hide();
    else if (event.key === "Enter") this.go(vertex);
    else if (event.key === "+" || event.key === "-" || event.key === " ") {
      const can = this.more(vertex);
      if (!can || (event.key === "+") === Boolean(vertex.expanded)) return;
      this.toggle(vertex);
    } else if (arrows[event.key]) this.focusNear(vertex, ...arrows[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Moves the focus to the nearest state in a direction. */
  focusNear(from, right, down) {
    const middle = (vertex) => [vertex.x + vertex.width / 2, vertex.y + vertex.height / 2];
    const [x, y] = middle(from);
    let best = null;
    for (const vertex of this.data.vertices) {
      const [dx, dy] = [middle(vertex)[0] - x, middle(vertex)[1] - y];
      const ahead = dx * right + dy * down;
      if (ahead <= 1) continue;
      const cost = ahead + 2.5 * Math.abs(dx * down - dy * right);
      if (!best || cost < best.cost) best = { cost, vertex };
    }
    if (!best) return;
    this.canvas.reveal(best.vertex);
    this.select(best.vertex.vertex);
    this.canvas.svg.querySelector(`[data-vertex="${best.vertex.vertex}"]`)?.focus();
  }
}
