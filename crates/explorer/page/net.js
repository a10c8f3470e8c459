// A Petri net with its tokens: enabled transitions can be clicked, and tokens move along the arcs when one fires.

import { get } from "./api.js";
import { Canvas, corners, through, tip } from "./canvas.js";
import { draw, find, shorten } from "./dom.js";

const RADIUS = 16;
const LONG = 32;
const THIN = 10;
const MOVING = 320;

const still = window.matchMedia("(prefers-reduced-motion: reduce)");

/** The panel of the net; `shown` says whether anybody sees it. */
export class Net {
  constructor(walk, shown) {
    this.walk = walk;
    this.shown = shown;
    this.canvas = new Canvas(find("net"), "The net; Tab goes from one enabled transition to the next, Enter fires it");
    this.why = "start";
    this.drawn = null;
    walk.on("moved", (why) => {
      this.why = why;
      this.show();
    });
    const fire = (event) => {
      const transition = event.target.closest?.("[data-fire]");
      if (!transition) return;
      event.preventDefault();
      event.stopPropagation();
      this.walk.take(this.node, Number(transition.dataset.fire));
    };
    this.canvas.svg.addEventListener("click", fire);
    this.canvas.svg.addEventListener("keydown", (event) => event.key === "Enter" && fire(event));
  }

  /** Forgets the net: the model may have become another one. */
  begin() {
    this.drawn = null;
  }

  show() {
    if (!this.shown()) return;
    this.ask().catch((error) => this.walk.report(error));
  }

  async ask() {
    const wanted = this.walk.current;
    if (wanted === undefined) return;
    const known = this.drawn ? `&drawing=${this.drawn.drawing}` : "";
    const net = await get(`net?node=${wanted}${known}`);
    if (wanted !== this.walk.current) return;
    // An answer without arcs is for a drawing that is there; by now another one may be.
    if (!net.arcs && net.drawing !== this.drawn.drawing) return this.ask();
    this.node = wanted;
    if (net.arcs) this.draw(net);
    else this.update(net);
    if ((this.why === "step" || this.why === "redo") && !still.matches) this.animate();
    this.why = "shown";
  }

  /** Draws a net that was not drawn before, or another part of it. */
  draw(net) {
    const { canvas } = this;
    const focused = focus();
    canvas.note.textContent = net.whole
      ? `${net.places_total} places, ${net.transitions_total} transitions`
      : `a part of the net around the last step: ${net.places.length} of ${net.places_total.toLocaleString("en")} places, ${net.transitions.length} of ${net.transitions_total.toLocaleString("en")} transitions`;
    canvas.note.title = canvas.note.textContent;
    for (const place of net.places) place.element = ring(place);
    for (const transition of net.transitions) bar(transition);
    canvas.show(
      net,
      draw("g", { class: "arcs" }, arcs(net.arcs)),
      draw(
        "g",
        { class: "places" },
        net.places.map((place) => place.element),
      ),
      draw(
        "g",
        { class: "transitions" },
        net.transitions.map((transition) => transition.element),
      ),
    );
    canvas.above.replaceChildren();
    this.drawn = net;
    const box = busy(net);
    if (canvas.moved) canvas.reveal(box);
    else canvas.frame(box);
    canvas.box = box;
    this.refocus(focused);
  }

  /** What had the focus has it again, if it can still be fired; else the drawing has it. */
  refocus(transition) {
    if (transition === undefined) return;
    const still = this.drawn.transitions.find((other) => String(other.transition) === transition && other.choice !== null);
    (still?.element ?? this.canvas.svg).focus();
  }

  /** The same drawing with other tokens: what is as it was stays, and the drawing stays where it was put. */
  update(net) {
    const { drawn, canvas } = this;
    const focused = focus();
    net.places.forEach(({ tokens, before }, index) => {
      const place = drawn.places[index];
      if (place.tokens === tokens && place.before === before) return;
      Object.assign(place, { tokens, before });
      const element = ring(place);
      place.element.replaceWith(element);
      place.element = element;
    });
    net.transitions.forEach(({ choice, fired }, index) => {
      const transition = drawn.transitions[index];
      if (transition.choice === choice && transition.fired === fired) return;
      Object.assign(transition, { choice, fired });
      tell(transition);
    });
    canvas.box = busy(drawn);
    canvas.reveal(canvas.box);
    this.refocus(focused);
  }

  /** Dots run along the arcs of what fired: first those taken, then those given. */
  animate() {
    const layer = this.canvas.above;
    const { arcs, transitions } = this.drawn;
    const fired = new Set(
      transitions.filter((transition) => transition.fired).map((transition) => transition.transition),
    );
    for (const arc of arcs) {
      if (!fired.has(arc.transition) || layer.childElementCount > 60) continue;
      const path = draw("path", { d: through(arc.points) });
      const length = path.getTotalLength();
      const dot = draw("circle", { class: "token", r: 4, visibility: "hidden" });
      layer.append(dot);
      const start = performance.now() + (arc.out ? MOVING : 0);
      const frame = (now) => {
        const part = (now - start) / MOVING;
        if (part >= 1 || !dot.isConnected) return dot.remove();
        if (part >= 0) {
          const point = path.getPointAtLength(length * part);
          dot.setAttribute("cx", point.x);
          dot.setAttribute("cy", point.y);
          dot.setAttribute("visibility", "visible");
        }
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    }
  }
}

/** The number of the transition that has the focus. */
const focus = () => document.activeElement?.closest?.("#net [data-transition]")?.dataset.transition;

/** The part of a net where something has just happened, or else can happen. */
function busy(net) {
  const fired = net.transitions.filter((transition) => transition.fired);
  const near = fired.length
    ? [...fired, ...net.places.filter((place) => place.before !== undefined)]
    : net.transitions.filter((transition) => transition.choice !== null).slice(0, 1);
  const nodes = near.length ? near : net.places.slice(0, 1);
  return { ...around(nodes), core: around(nodes.slice(0, 1)) };
}

/** The box around nodes of the net. */
function around(nodes) {
  const across = nodes.map((node) => node.x);
  const down = nodes.map((node) => node.y);
  const [x, y] = [Math.min(...across) - LONG, Math.min(...down) - LONG];
  return { x, y, width: Math.max(...across) + LONG - x, height: Math.max(...down) + LONG - y };
}

/** The arcs: all that are plain are one path, which is drawn much sooner than a path for each. */
function arcs(arcs) {
  const plain = arcs.filter((arc) => !arc.kind);
  const heads = plain.map(({ points }) => `M${corners(points, 7).join(" L")}Z`);
  return [
    draw("path", { class: "arc", d: plain.map(({ points }) => through(points)).join("") }),
    draw("path", { class: "tip", d: heads.join("") }),
    ...arcs.filter((arc) => arc.kind).map(special),
    ...arcs.filter((arc) => arc.weight > 1).map(weight),
  ];
}

/** An arc that only looks whether a place is empty ends in a ring, one that empties it in two heads. */
function special({ points, kind }) {
  const [x, y] = points.at(-1);
  return draw(
    "g",
    { class: kind },
    draw("path", { class: "arc", d: through(points) }),
    kind === "inhibitor" ? draw("circle", { class: "ring", cx: x, cy: y, r: 4 }) : tip(points, 7),
    kind === "reset" ? tip(points, 13) : null,
  );
}

function weight({ points, weight }) {
  const [x, y] = halfway(points);
  return draw("text", { x: x + 5, y: y - 3, "font-size": 11 }, String(weight));
}

function halfway(points) {
  const middle = Math.floor(points.length / 2);
  if (points.length % 2) return points[middle];
  return [(points[middle - 1][0] + points[middle][0]) / 2, (points[middle - 1][1] + points[middle][1]) / 2];
}

function ring(place) {
  const changed = place.before !== undefined && place.before !== null;
  return draw(
    "g",
    { class: `place${changed ? " changed" : ""}${place.tokens ? " marked" : ""}`, "data-place": place.place },
    draw("title", {}, `${place.name}: ${place.tokens}${changed ? `, before ${place.before}` : ""}`),
    draw("circle", { class: "ring", cx: place.x, cy: place.y, r: RADIUS }),
    tokens(place),
    beside(place, RADIUS, place.name),
  );
}

/** The name of a node: to its right, or below one that stands upright, whose arcs come from both sides. */
function beside({ x, y, upright }, half, name) {
  const place = upright ? { x, y: y + LONG / 2 + 11, "text-anchor": "middle" } : { x: x + half + 4, y: y + 4 };
  return draw("text", { class: "name", ...place, "font-size": 10.5 }, shorten(name, 17));
}

/** Up to five tokens are dots, more are a number. */
function tokens({ x, y, tokens }) {
  const spots = [
    [],
    [[0, 0]],
    [
      [-5, 0],
      [5, 0],
    ],
    [
      [-5, 4],
      [5, 4],
      [0, -5],
    ],
    [
      [-5, -5],
      [5, -5],
      [-5, 5],
      [5, 5],
    ],
    [
      [-6, -6],
      [6, -6],
      [-6, 6],
      [6, 6],
      [0, 0],
    ],
  ];
  if (tokens > 5)
    return draw(
      "text",
      { class: "number", x, y: y + 4.5, "font-size": tokens > 9999 ? 9 : 13, "text-anchor": "middle" },
      String(tokens),
    );
  return spots[tokens].map(([dx, dy]) => draw("circle", { class: "token", cx: x + dx, cy: y + dy, r: 3.6 }));
}

/** Gives a transition its element. */
function bar(transition) {
  const { x, y, upright, name } = transition;
  const [width, height] = upright ? [THIN, LONG] : [LONG, THIN];
  transition.element = draw(
    "g",
    { "data-transition": transition.transition },
    draw("title", {}),
    draw("rect", { class: "reach", x: x - LONG / 2, y: y - LONG / 2, width: LONG, height: LONG }),
    draw("rect", { class: "bar", x: x - width / 2, y: y - height / 2, width, height, rx: 2 }),
    beside(transition, width / 2, name),
  );
  tell(transition);
}

/** Says in its element whether a transition is enabled, and whether it has just fired. */
function tell({ element, choice, fired, name, more }) {
  const enabled = choice !== null;
  const classes = { enabled, partly: more, fired };
  element.setAttribute("class", ["transition", ...Object.keys(classes).filter((word) => classes[word])].join(" "));
  const said = { "data-fire": choice, tabindex: 0, role: "button", "aria-label": `fire ${name}` };
  for (const [attribute, value] of Object.entries(said)) {
    if (enabled) element.setAttribute(attribute, value);
    else element.removeAttribute(attribute);
  }
  const where = more ? `; ${more} more places are not drawn` : "";
  element.firstChild.textContent = `${name}: ${enabled ? "enabled, click to fire" : "not enabled"}${where}`;
}
