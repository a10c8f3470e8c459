// A Petri net with its tokens: enabled transitions can be clicked, and tokens move along the arcs when one fires.

import { get } from "./api.js";
import { Canvas, through, tip } from "./canvas.js";
import { draw, find, shorten } from "./dom.js";

const RADIUS = 16;
const LONG = 28;
const THIN = 9;
const MOVING = 320;

const still = window.matchMedia("(prefers-reduced-motion: reduce)");

/** The panel of the net; `shown` says whether anybody sees it. */
export class Net {
  constructor(walk, shown) {
    this.walk = walk;
    this.shown = shown;
    this.canvas = new Canvas(find("net"), "The net; Tab goes from one enabled transition to the next, Enter fires it");
    this.why = "start";
    this.fitted = null;
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

  show() {
    if (!this.shown()) return;
    this.ask().catch((error) => this.walk.report(error));
  }

  async ask() {
    const wanted = this.walk.current;
    if (wanted === undefined) return;
    const net = await get(`net?node=${wanted}`);
    if (wanted !== this.walk.current) return;
    this.node = wanted;
    this.draw(net);
  }

  draw(net) {
    const { canvas } = this;
    canvas.note.textContent = net.whole
      ? `${net.places_total} places, ${net.transitions_total} transitions`
      : `a part of the net around the last step: ${net.places.length} of ${net.places_total.toLocaleString("en")} places, ${net.transitions.length} of ${net.transitions_total.toLocaleString("en")} transitions`;
    const moving = draw("g", { class: "moving", "aria-hidden": "true" });
    canvas.show(
      net,
      draw("g", { class: "arcs" }, net.arcs.map((arc) => this.arc(arc, net))),
      draw("g", { class: "places" }, net.places.map(place)),
      draw("g", { class: "transitions" }, net.transitions.map(transition)),
      moving,
    );
    // The same drawing stays where it was put; another one is shown whole.
    const size = `${net.width} ${net.height}`;
    if (!canvas.moved || (this.fitted !== size && !net.whole)) canvas.fit();
    this.fitted = size;
    if ((this.why === "step" || this.why === "redo") && !still.matches) this.animate(net, moving);
    this.why = "shown";
  }

  arc(arc, net) {
    const points = clipped(arc, net);
    const [x, y] = halfway(points);
    return draw(
      "g",
      { class: "arc" },
      draw("path", { d: through(points) }),
      tip(points, 7),
      arc.weight > 1 ? draw("text", { x: x + 5, y: y - 3, "font-size": 11 }, String(arc.weight)) : null,
    );
  }

  /** Dots run along the arcs of what fired: first those taken, then those given. */
  animate(net, layer) {
    const fired = new Set(net.transitions.filter((transition) => transition.fired).map((transition) => transition.transition));
    for (const arc of net.arcs) {
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

/** The arc between the borders of its place and its transition, not their middles. */
function clipped(arc, net) {
  const points = arc.points.map(([x, y]) => [x, y]);
  const place = net.places.find((place) => place.place === arc.place);
  const transition = net.transitions.find((transition) => transition.transition === arc.transition);
  if (!place || !transition || points.length < 2) return points;
  const cut = (end, next, shape) => {
    const [dx, dy] = [points[next][0] - shape.x, points[next][1] - shape.y];
    const far = Math.hypot(dx, dy) || 1;
    const [wide, high] = shape.upright === undefined ? [0, 0] : shape.upright ? [THIN / 2, LONG / 2] : [LONG / 2, THIN / 2];
    const reach = shape.upright === undefined ? RADIUS : Math.min(wide / Math.abs(dx / far || 1e-9), high / Math.abs(dy / far || 1e-9));
    const inside = Math.hypot(points[end][0] - shape.x, points[end][1] - shape.y) < reach;
    if (inside && far > reach) points[end] = [shape.x + (dx / far) * (reach + 1), shape.y + (dy / far) * (reach + 1)];
  };
  const last = points.length - 1;
  cut(0, 1, arc.out ? transition : place);
  cut(last, last - 1, arc.out ? place : transition);
  return points;
}

function halfway(points) {
  const middle = Math.floor(points.length / 2);
  if (points.length % 2) return points[middle];
  return [(points[middle - 1][0] + points[middle][0]) / 2, (points[middle - 1][1] + points[middle][1]) / 2];
}

function place(place) {
  const changed = place.before !== undefined && place.before !== null;
  return draw(
    "g",
    { class: `place${changed ? " changed" : ""}${place.tokens ? " marked" : ""}`, "data-place": place.place },
    draw("title", {}, `${place.name}: ${place.tokens}${changed ? `, before ${place.before}` : ""}`),
    draw("circle", { class: "ring", cx: place.x, cy: place.y, r: RADIUS }),
    tokens(place),
    draw("text", { class: "name", x: place.x, y: place.y + RADIUS + 12, "font-size": 10.5, "text-anchor": "middle" }, shorten(place.name, 18)),
  );
}

/** Up to five tokens are dots, more are a number. */
function tokens({ x, y, tokens }) {
  const spots = [[], [[0, 0]], [[-5, 0], [5, 0]], [[-5, 4], [5, 4], [0, -5]], [[-5, -5], [5, -5], [-5, 5], [5, 5]], [[-6, -6], [6, -6], [-6, 6], [6, 6], [0, 0]]];
  if (tokens > 5) return draw("text", { class: "number", x, y: y + 4.5, "font-size": tokens > 9999 ? 9 : 13, "text-anchor": "middle" }, String(tokens));
  return spots[tokens].map(([dx, dy]) => draw("circle", { class: "token", cx: x + dx, cy: y + dy, r: 3.6 }));
}

function transition(transition) {
  const { x, y, upright, choice, name } = transition;
  const [width, height] = upright ? [THIN, LONG] : [LONG, THIN];
  const enabled = choice !== null && choice !== undefined;
  return draw(
    "g",
    {
      class: `transition${enabled ? " enabled" : ""}${transition.fired ? " fired" : ""}`,
      "data-transition": transition.transition,
      "data-fire": enabled ? choice : null,
      tabindex: enabled ? "0" : null,
      role: enabled ? "button" : null,
      "aria-label": enabled ? `fire ${name}` : null,
    },
    draw("title", {}, enabled ? `${name}: enabled, click to fire` : `${name}: not enabled`),
    draw("rect", { class: "reach", x: x - LONG / 2, y: y - LONG / 2, width: LONG, height: LONG }),
    draw("rect", { class: "bar", x: x - width / 2, y: y - height / 2, width, height, rx: 2 }),
    draw("text", { class: "name", x, y: y + height / 2 + 12, "font-size": 10.5, "text-anchor": "middle" }, shorten(name, 18)),
  );
}
