// A page by itself: one run with its states, its source and its chart, gone back and forth by keys.

import { Chart } from "./chart.js";
import { find, make } from "./dom.js";
import { History } from "./history.js";
import { listen } from "./keys.js";
import { reset } from "./lanes.js";
import { Replay } from "./replay.js";
import { Source } from "./source.js";
import { State } from "./state.js";
import { beginTheme, switchTheme } from "./theme.js";
import { judged, saying } from "./walk.js";

const data = JSON.parse(find("data").textContent);
const { model, property } = data;
reset(model.lanes);
const walk = new Replay(data);
const lines = (file, from, count) => Promise.resolve(data.texts[file].slice(from - 1, from - 1 + count));
const source = new Source(walk, lines);
new State(walk, (place) => source.reveal(place));
const always = () => true;
new History(walk, { shown: always, say: always, opened: always });
const chart = new Chart(walk, always);

find("model-name").textContent = model.name.split("/").at(-1);
find("model-name").title = model.name;
find("model-facts").textContent = model.language;
find("steps").textContent = String(walk.line.length - 1);
const about = find("about");
if (property) {
  about.hidden = false;
  about.classList.add(property.verdict === "violated" ? "bad" : "good");
  about.append(
    `${property.verdict === "violated" ? "✗" : "✓"} This run ${judged(property)} `,
    make("strong", {}, saying(property)),
  );
}
if (!model.files.length) find("dock-source").hidden = true;
else source.begin(model);
chart.begin();

/** What the last step was, in words. */
function words() {
  const step = walk.steps(walk.current).at(-1);
  if (!step) return [make("strong", {}, "Initial state")];
  const who = step.lane_name && !step.label.startsWith(step.lane_name) ? `${step.lane_name}: ` : "";
  const changes = (step.changes ?? []).slice(0, 4).map(([name, from, to]) => `${name} ${from} → ${to}`);
  return [
    make("strong", {}, `Step ${walk.position}`),
    ` · ${who}${step.label}`,
    changes.length ? make("span", { class: "changes" }, ` · ${changes.join(", ")}`) : "",
  ];
}

walk.on("moved", () => {
  find("depth").textContent = String(walk.position);
  find("undo").disabled = find("restart").disabled = walk.position === 0;
  find("redo").disabled = find("end").disabled = walk.position === walk.line.length - 1;
  find("said").replaceChildren(...words());
  const place = `#${walk.position}`;
  if (window.location.hash !== place) window.history.replaceState(null, "", place);
});
const press = (id, action) => find(id).addEventListener("click", action);
press("undo", () => walk.along(-1));
press("redo", () => walk.along(1));
press("restart", () => walk.along(-Infinity));
press("end", () => walk.along(Infinity));
press("help-open", () => find("help").showModal());
listen({
  along: (places) => walk.along(places),
  select: (places) => walk.along(places),
  theme: switchTheme,
  help: () => find("help").showModal(),
});
beginTheme();
const asked = window.location.hash.match(/^#(\d{1,6})$/);
walk.go(asked ? Number(asked[1]) : walk.line.length - 1, "start");
document.body.dataset.ready = "true";
