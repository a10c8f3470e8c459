// The page: reads the model, makes the panels, and connects them with each other and with the keyboard.

import { remember, remembered } from "./address.js";
import { get, post, Refused } from "./api.js";
import { Chart } from "./chart.js";
import { Check } from "./check.js";
import { count, find, make } from "./dom.js";
import { Editor } from "./editor.js";
import { Events } from "./events.js";
import { Graph } from "./graph.js";
import { History } from "./history.js";
import { listen } from "./keys.js";
import { reset } from "./lanes.js";
import { Layout } from "./layout.js";
import { Live } from "./live.js";
import { Net } from "./net.js";
import { Source } from "./source.js";
import { State } from "./state.js";
import { beginTheme, switchTheme } from "./theme.js";
import { Walk } from "./walk.js";

let model = null;

/** Says what happened, to be seen and to be heard. */
function say(...parts) {
  find("said").replaceChildren(...parts);
}

/** Shows what went wrong until something else happens or it is dismissed. */
function complain(text) {
  find("problem-text").textContent = text;
  find("problem").hidden = false;
}

/** Shows an error; one that is not an answer of the server is a mistake of the page, and goes to the console as well. */
function report(error) {
  // A state that is not known any more is one of the model before: then the run is taken along, and nothing is wrong.
  if (error.status === 404 && live.watching) {
    const { version } = live;
    live.look().then(() => live.version === version && complain(error.message), complain);
    return;
  }
  complain(error.message);
  if (!(error instanceof Refused)) console.error(error);
}

const quiet = () => {
  find("problem").hidden = true;
};

const walk = new Walk(report);
const layout = new Layout();
const source = new Source(
  walk,
  async (file, from, count) => (await get(`source/${file}?from=${from}&count=${count}`, true)).lines,
);
const events = new Events(walk, (place, reveal) => source.point(place, reveal));
const state = new State(walk, (place) => {
  layout.show("source");
  source.reveal(place);
});
const shown = (panel) => () => layout.shown(panel);
const history = new History(walk, { shown: shown("history"), say, opened });
const chart = new Chart(walk, shown("chart"));
const graph = new Graph(walk, shown("graph"));
const net = new Net(walk, shown("net"));
const check = new Check({ report, say, opened: (answer) => walk.queue(() => opened(answer)) });
const live = new Live(walk, {
  renew,
  edit: (problem) => edit(problem),
});
const editor = new Editor({
  live,
  say,
  report,
  top: () => (source.file === 0 ? Math.round(source.list.top / 20) + 1 : 1),
  changed: (open) => {
    find("source-list").hidden = open;
    find("source-file").hidden = open || source.files.length < 2;
    if (open) layout.show("source");
  },
});
live.on((status) => {
  find("trial").hidden = !status.trial;
});

/** Opens the editor, at a place if one is given. */
function edit(place) {
  if (find("edit").hidden) return;
  layout.show("source");
  editor.begin(place).catch(report);
}

layout.on("history", () => history.show());
layout.on("chart", () => chart.show());
layout.on("graph", () => graph.show());
layout.on("net", () => net.show());
layout.on("check", () => check.show());
layout.on("source", () => source.list.fill());

/** The server has replayed a run: go to its end. */
async function opened(answer) {
  await walk.open(answer, "trace");
  if (layout.narrow || model.lanes.length) layout.show("chart");
}

/** How many statements the steps of the run are, where that is another number: an atomic sequence is one step. */
function statements() {
  const sum = walk.line.reduce((sum, node) => sum + walk.steps(node).length, 0);
  return sum > walk.position ? ` (${count(sum, "statement")})` : "";
}

/** What happened, in words. */
function words(why) {
  const step = walk.steps(walk.current).at(-1);
  const place = walk.position === 0 ? "initial state" : `step ${walk.position}`;
  const loop = walk.loop;
  const head =
    why === "trace"
      ? `A run of ${count(walk.position, "step")}${statements()}${!loop ? "" : loop.from < loop.to ? `, from step ${loop.from + 1} on again and again` : ", and then nothing more, for ever"}`
      : ({ undo: "Back at ", redo: "Forward to " }[why] ?? "") + place;
  const changes = (step?.changes ?? []).slice(0, 4).map(([name, from, to]) => `${name} ${from} → ${to}`);
  if (step?.changes?.length > 4) changes.push("…");
  return [
    make("strong", {}, head.charAt(0).toUpperCase() + head.slice(1)),
    step
      ? ` · ${step.lane_name && !step.label.startsWith(step.lane_name) ? `${step.lane_name}: ` : ""}${step.label}`
      : "",
    changes.length ? make("span", { class: "changes" }, ` · ${changes.join(", ")}`) : "",
  ];
}

walk.on("moved", (why) => {
  quiet();
  remember(walk);
  find("depth").textContent = String(walk.position);
  find("undo").disabled = find("restart").disabled = walk.position === 0;
  find("redo").disabled = walk.position === walk.line.length - 1;
  say(...words(why));
});
walk.on("shown", (view) => {
  find("random").disabled = find("random-many").disabled = view.enabled_total === 0;
});

const random = (steps) => (steps === 1 ? events.takeAny() : walk.random(steps));
find("undo").addEventListener("click", () => walk.along(-1));
find("redo").addEventListener("click", () => walk.along(1));
find("restart").addEventListener("click", () => walk.along(-Infinity));
find("random").addEventListener("click", () => random(1));
find("random-many").addEventListener("click", () => random(20));
find("problem-close").addEventListener("click", quiet);
find("help-open").addEventListener("click", () => find("help").showModal());

listen({
  take: (index) => events.takeAt(index),
  select: (places) => {
    layout.show("events");
    events.step(places);
  },
  along: (places) => walk.along(places),
  random,
  filter: () => {
    layout.show("events");
    find("events-filter").focus();
  },
  panel: (panel) => layout.show(panel, true),
  edit: () => edit(),
  theme: switchTheme,
  enlarge: () => layout.enlarge(),
  help: () => find("help").showModal(),
});

/** Waits until the model is read. */
async function awaited() {
  for (;;) {
    const answer = await get("model");
    if (!answer.loading) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Says what model it is, to everybody. */
function begin() {
  document.title = `${model.name} · Scrimp`;
  const [, folder, file] = model.name.match(/^(.*\/)?([^/]*)$/) ?? [];
  find("model-name").replaceChildren(
    make("span", { class: "folder" }, folder?.length > 30 ? `…${folder.slice(-28)}` : (folder ?? "")),
    file ?? model.name,
  );
  find("model-name").title = model.name;
  find("model-facts").textContent = [
    model.language,
    count(model.variables, model.net ? "place" : "variable"),
    model.events === null ? null : count(model.events, model.net ? "transition" : "event"),
    `${count(model.state_bytes, "byte")} a state`,
  ]
    .filter(Boolean)
    .join(" · ");
  reset(model.lanes);
  layout.offer("net", model.net);
  if (model.language === "Rust") layout.withoutText();
  source.begin(model);
  history.begin(model);
  chart.begin();
  graph.begin();
  net.begin();
  check.begin(model);
  editor.offer(model);
}

/** Reads the model and shows its first state, or the end of a run. */
async function read() {
  model = await awaited();
  if (model.failed) {
    find("model-name").textContent = "The model cannot be read";
    complain(model.failed);
    return;
  }
  begin();
  if (model.net) {
    layout.show(layout.narrow ? "events" : "net");
    if (!layout.narrow) layout.show("graph");
  }
  await walk.begin(model, await found(remembered()));
  live.begin(model);
  if (model.warnings?.length) complain(model.warnings.join(" "));
  for (const button of ["share", "save", "load", "run"]) find(button).disabled = false;
  document.body.dataset.ready = "true";
  performance.mark("ready");
}

/** A place on a run that was remembered, in the model as it is now: that may have become another one meanwhile. */
async function found(before) {
  if (!before) return null;
  try {
    const carried = await post("carry", { node: before.run.node, at: before.current, loop: before.run.loop });
    return { current: carried.at, run: { node: carried.node, loop: carried.loop } };
  } catch (error) {
    if (error.status !== 404) throw error;
    return null;
  }
}

/** The model has become another one; the run was taken along as far as it leads. */
async function renew(carried) {
  model = await awaited();
  begin();
  await walk.begin(model, carried && { current: carried.at, run: { node: carried.node, loop: carried.loop } });
  const lost = carried?.lost;
  say(
    make("strong", {}, "The model has changed"),
    !carried || !carried.of
      ? "; this is its initial state."
      : lost
        ? `; of the run ${count(carried.steps, "step")} of ${carried.of} can still be taken. Not any more: ${lost}`
        : `; the run of ${count(carried.of, "step")} can still be taken.`,
  );
  if (model.warnings?.length) complain(model.warnings.join(" "));
}

beginTheme();
read().catch(report);
