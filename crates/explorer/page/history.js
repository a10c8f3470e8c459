// The steps so far: the line as a list, with the branches that were left at their places.

import { get, post } from "./api.js";
import { count, find, make, shorten } from "./dom.js";
import { badge, colour, withoutName } from "./lanes.js";
import { List } from "./list.js";

const HEIGHT = 26;

/** Of several steps the one that says most: one with a message, or one that is more than a jump. */
const telling = (steps) =>
  steps.find((step) => step.row && step.row.kind !== "step") ??
  steps.find((step) => step.text && !/^(\.\(goto\)|\(1\)|skip)$/.test(step.text)) ??
  steps[0];

/** Gives a text to the browser as a file. */
function given(text, type, name) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** The panel of the history. Of the page it needs whether it is seen (`shown`), a voice (`say`), and what to do with the
 * end of a run that was loaded (`opened`). */
export class History {
  constructor(walk, { shown, say, opened }) {
    this.walk = walk;
    this.shown = shown;
    this.say = say;
    this.opened = opened;
    this.rows = [];
    this.list = new List(find("history-list"), HEIGHT, (index) => this.row(this.rows[index]));
    walk.on("moved", () => this.show());
    // A page by itself has no server that could save and load.
    const press = (id, action) => find(id)?.addEventListener("click", () => action().catch((error) => walk.report(error)));
    press("save", () => this.save());
    press("share", () => this.share());
    find("load")?.addEventListener("click", () => find("load-file").click());
    find("load-file")?.addEventListener("change", (event) => this.read(event.target));
    find("initial")?.addEventListener("change", (event) => walk.to(Number(event.target.value)));
  }

  /** A model was read: where one can begin. */
  begin(model) {
    this.model = model;
    find("initial-choice").hidden = model.initial.length < 2;
    find("initial").replaceChildren(
      ...model.initial.map((node, index) =>
        make("option", { value: node }, shorten(model.initial_labels?.[index] || `initial state ${index + 1}`, 60)),
      ),
    );
  }

  show() {
    if (!this.shown()) return;
    const { walk } = this;
    const loop = walk.loop;
    this.rows = [];
    let at = 0;
    walk.line.forEach((node, place) => {
      if (loop && loop.from < loop.to && place === loop.from + 1) this.rows.push({ kind: "loop", node });
      if (place === walk.position) at = this.rows.length;
      this.rows.push({ kind: "step", node, place });
      const parent = walk.tree.get(walk.line[place - 1]);
      if (parent?.children.length > 1) {
        for (const child of parent.children) if (child !== node) this.rows.push({ kind: "branch", node: child, place });
      }
      if (loop && place === loop.to)
        this.rows.push({ kind: loop.from < loop.to ? "back" : "still", node: walk.line[loop.from], place: loop.from });
    });
    const last = walk.tree.get(walk.line.at(-1));
    for (const child of last?.children ?? []) this.rows.push({ kind: "branch", node: child, place: walk.line.length });
    if (find("initial")?.options.length) find("initial").value = String(walk.line[0]);
    const focused = this.list.scroller.contains(document.activeElement);
    this.list.show(this.rows.length);
    this.list.reveal(at);
    if (focused) (this.list.rows.get(at) ?? this.list.scroller).focus({ preventScroll: true });
  }

  row(row) {
    const { walk } = this;
    if (row.kind === "loop") return make("div", { class: "entry loop" }, "from here again and again");
    if (row.kind === "still") return make("div", { class: "entry loop" }, "and then nothing more, for ever");
    if (row.kind === "back") {
      return make(
        "button",
        { type: "button", class: "entry back", onclick: () => walk.to(row.node) },
        row.place ? `and back to step ${row.place}` : "and back to the initial state",
      );
    }
    const steps = walk.steps(row.node);
    const first = telling(steps);
    const branch = row.kind === "branch";
    const current = !branch && row.place === walk.position;
    const classes = ["entry", row.kind, colour(first?.lane)];
    if (!branch && row.place > walk.position) classes.push("later");
    if (steps.some((step) => step.violated)) classes.push("violated");
    const label = first ? withoutName(first.text || first.label, first.lane) : "initial state";
    return make(
      "button",
      {
        type: "button",
        class: classes.join(" "),
        "data-node": row.node,
        "aria-current": current ? "step" : null,
        title: [branch ? "Another branch" : "", ...steps.slice(0, 12).map((step) => step.label)]
          .filter(Boolean)
          .join("\n"),
        onclick: () => walk.to(row.node),
      },
      make("span", { class: "number" }, branch ? "↳" : String(row.place)),
      first && first.lane !== null && first.lane !== undefined ? badge(first.lane) : null,
      make("span", { class: "what" }, label),
      steps.length > 1 ? make("span", { class: "mark", title: `one step of ${steps.length} statements` }, `+${steps.length - 1}`) : null,
      branch ? make("span", { class: "mark" }, "branch") : null,
    );
  }

  /** Gives the run up to the current state to the browser as a file. */
  async save() {
    const { walk } = this;
    const loop = walk.loop;
    const whole = loop && loop.to === walk.position;
    const trace = await get(`trace/${walk.current}${whole ? `?loop=${walk.line[loop.from]}` : ""}`);
    const base = this.model.name
      .split(/[\\/]/)
      .pop()
      .replace(/\.[^.]*$/, "");
    given(`${JSON.stringify(trace, null, 2)}\n`, "application/json", `${base}-trace-${walk.position}.json`);
    this.say(`Saved a trace of ${count(walk.position, "step")}.`);
  }

  /** Gives the whole run to the browser as a page by itself, with what it shows if it is one that a check has found. */
  async share() {
    const { walk } = this;
    const { loop } = walk;
    const end = walk.line.at(-1);
    const page = await post("export", {
      node: end,
      loop: loop && loop.to === walk.line.length - 1 ? walk.line[loop.from] : null,
      property: walk.about.get(end) ?? null,
    });
    given(page.html, "text/html", page.name);
    this.say(`Saved ${page.name}: a page by itself, with this run, its states and its source.`);
  }

  async read(input) {
    const file = input.files[0];
    input.value = "";
    if (!file) return;
    await this.walk.queue(async () => this.opened(await post("trace", await file.text())));
  }
}
