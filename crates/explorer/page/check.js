// Checking properties from the page: the form, how it goes, the verdicts, and the way to the run that shows them.

import { get, post } from "./api.js";
import { bytes, Curves, plain } from "./curve.js";
import { count, find, make } from "./dom.js";

const PAUSE = 200;

/** What the form offers. What needs expressions besides (the orders by a measure, the sweep-line) is for the command line. */
const OPTIONS = [
  { key: "memory", title: "Memory", hint: "512M" },
  { key: "time", title: "Time", hint: "60s" },
  { key: "threads", title: "Threads", hint: "1", number: true },
  {
    key: "order",
    title: "Order",
    hint: "bfs",
    means: "which state next",
    among: ["bfs", "dfs", "random"],
  },
  {
    key: "store",
    title: "Store",
    hint: "table",
    means: "how states are kept",
    among: ["table", "tree", "collapse", "dfa", "comback", "compact", "bitstate"],
  },
  {
    key: "reduce",
    title: "Reduce",
    hint: "none",
    means: "which events may be skipped",
    among: ["none", "por", "por+sleep", "edge-lean"],
  },
  {
    key: "engine",
    title: "Engine",
    hint: "explicit",
    means: "what does the searching",
    among: ["explicit", "symbolic", "bmc"],
  },
  {
    key: "forget",
    title: "Forget",
    hint: "none",
    means: "which states may be dropped",
    among: ["none", "pseudo-root", "cache"],
  },
  { key: "fair", title: "Fairness", hint: "none", means: "which runs without end count", among: ["weak"] },
];

const WORDS = {
  verified: "verified",
  violated: "violated",
  "no-error-found": "no error found",
  incomplete: "undecided",
  error: "could not be checked",
};

const WHOLE = {
  verified: "Verified: everything asked for holds.",
  violated: "Violated",
  "no-error-found": "No error found, though not every state was certainly visited.",
  incomplete: "Incomplete: the check ended before it could decide.",
  error: "Error: the check could not be done.",
};

/** Why a verdict can be relied on. */
const GUARANTEES = {
  exhaustive: "every state was visited",
  proof: "proved",
  witness: "shown by a run",
  counterexample: "shown by a run",
};

/** Why a check ended early. */
const LIMITS = {
  memory: "the memory was used up",
  time: "the time was up",
  interrupt: "it was stopped",
  cache: "the cache was full",
  visits: "the visits were used up",
  disk: "the disk was full",
  tokens: "a place had too many tokens",
};

/** The panel of checks. Of the page it needs a voice (`say`, `report`), and what to do with a run (`opened`). */
export class Check {
  constructor({ report, say, opened }) {
    this.report = report;
    this.say = say;
    this.opened = opened;
    this.curves = new Curves(find("curves"));
    this.watching = 0;
    find("check-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.run().catch((error) => this.fail(error));
    });
    find("stop").addEventListener("click", () => post("check/stop", {}).catch(report));
    find("property").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) find("check-form").requestSubmit();
      else if (event.key === "Escape") find("property").blur();
    });
    document.querySelector("#options .options").replaceChildren(...OPTIONS.map(field), tick());
  }

  /** A model was read: what it asks, and what the command line asked. */
  begin(model) {
    // A trace has every statement of an atomic sequence by itself; on the page such a sequence is one step.
    this.single = model.language === "Promela" ? "statement" : "step";
    const offered = find("offered");
    offered.hidden = model.properties.length === 0;
    offered.replaceChildren(
      make("legend", {}, "What the model asks"),
      ...model.properties.map((text) =>
        make("label", { class: "tick" }, make("input", { type: "checkbox", name: "offered", value: text }), ` ${text}`),
      ),
    );
    // A model without a text has the properties that it was given, and what looks into a text is not for it.
    const textless = model.language === "Rust";
    for (const key of ["property", "option-engine", "option-fair"])
      for (const part of [find(key), document.querySelector(`label[for=${key}]`)]) part.hidden = textless;
    this.version = model.version;
    if (this.begun) return this.age();
    this.begun = true;
    if (model.asked?.length) find("property").value = model.asked.join("\n");
    find("property").rows = Math.max(2, Math.min(8, model.asked?.length ?? 0));
  }

  /** Says whether the answer is one of another model than the one that is shown. */
  age() {
    const old = this.answered !== undefined && this.answered !== this.version;
    find("check-old").hidden = !old;
    find("answer").classList.toggle("old", old);
  }

  /** The panel came into sight: a check may be going on already, as after a page is loaded again. */
  show() {
    if (this.watching === 0) this.watch(true).catch((error) => this.fail(error));
  }

  asked() {
    const ticked = [...document.querySelectorAll("#offered input:checked")].map((input) => input.value);
    const written = find("property")
      .value.split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    return [...ticked, ...written];
  }

  options() {
    const out = {};
    for (const { key, number } of OPTIONS) {
      const value = find(`option-${key}`).value.trim();
      if (value) out[key] = number ? Number(value) : value;
    }
    if (find("option-keep_going").checked) out.keep_going = true;
    return out;
  }

  async run() {
    // Nothing of an earlier check may be taken for an answer of this one.
    this.watching++;
    this.curves.clear();
    this.tell({ running: true });
    try {
      await post("check", { properties: this.asked(), options: this.options() });
    } catch (error) {
      find("answer").hidden = true;
      throw error;
    }
    this.say("The check is running.");
    this.appear = true;
    await this.watch(false);
  }

  fail(error) {
    this.running(false);
    this.report(error);
  }

  running(on) {
    find("run").disabled = on;
    find("stop").disabled = !on;
    find("answer").classList.toggle("running", on);
  }

  /** Follows a check until it ends; `first` when there may be none. */
  async watch(first) {
    const mine = ++this.watching;
    let from = 0;
    this.curves.clear();
    for (;;) {
      const answer = await get(`check?from=${from}`, true);
      if (first && answer.nothing) return;
      if (mine !== this.watching) return;
      first = false;
      from = answer.next ?? from;
      this.running(answer.running);
      this.curves.add(answer.samples ?? [], answer.limit_memory, !answer.running);
      this.tell(answer);
      if (!answer.running) return;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  tell(answer) {
    find("answer").hidden = false;
    this.answered = answer.version ?? this.version;
    this.age();
    if (this.appear) find("answer").scrollIntoView({ block: "nearest" });
    this.appear = false;
    const last = this.curves.samples.at(-1);
    const verdict = find("verdict");
    verdict.className = answer.running ? "running" : (answer.verdict ?? "error");
    verdict.dataset.verdict = answer.running ? "running" : (answer.verdict ?? "error");
    const numbers = answer.running
      ? last && [
          `${plain(last.states)} states`,
          `depth ${plain(last.depth ?? 0)}`,
          `${(answer.seconds ?? 0).toFixed(1)} s`,
        ]
      : [
          LIMITS[answer.limits?.reached] ?? GUARANTEES[answer.guarantee],
          typeof answer.states === "number" && count(answer.states, "state"),
          typeof answer.transitions === "number" && count(answer.transitions, "transition"),
          typeof answer.memory_peak_bytes === "number" && bytes(answer.memory_peak_bytes),
          typeof answer.seconds === "number" && `${answer.seconds.toFixed(2)} s`,
        ];
    verdict.replaceChildren(
      make("strong", {}, answer.running ? "Checking …" : whole(answer)),
      make("span", { class: "numbers" }, ` ${(numbers || []).filter(Boolean).join(" · ")}`),
    );
    find("check-message").hidden = !answer.message;
    find("check-message").textContent = answer.message ?? "";
    find("verdicts").replaceChildren(
      ...(answer.running ? [] : ordered(answer.properties ?? [])).map((property) => this.property(property)),
    );
    find("command-line").replaceChildren(
      ...(answer.command
        ? ["The same on the command line: ", make("code", {}, answer.command)]
        : answer.trial
          ? ["What was checked is a text that is not saved."]
          : []),
    );
    if (!answer.running) this.say(make("strong", {}, answer.verdict ? whole(answer) : (answer.message ?? whole(answer))));
  }

  property(property) {
    const steps = property.steps;
    const has = steps !== null && steps !== undefined;
    const lasso = property.loop !== null && property.loop !== undefined;
    const single = property.single > steps ? ` (${count(property.single, this.single)})` : "";
    const length = `a run of ${count(steps ?? 0, "step")}${single}${lasso ? ", the last of them again and again" : ""}`;
    const vacuous = Array.isArray(property.vacuous) ? property.vacuous.length > 0 : Boolean(property.vacuous);
    return make(
      "li",
      { "data-property": property.number, class: property.verdict },
      make("span", { class: "verdict", "data-verdict": property.verdict }, WORDS[property.verdict] ?? property.verdict),
      make("code", {}, property.name),
      property.fault?.fault ? make("span", { class: "fault" }, faulty(property.fault)) : null,
      property.answer !== null && property.answer !== undefined
        ? make("span", { class: "answer" }, String(property.answer))
        : null,
      vacuous
        ? make("span", { class: "vacuous", title: [property.vacuous].flat().join("\n") }, "holds for a trivial reason")
        : null,
      has
        ? make(
            "span",
            { class: "run" },
            make(
              "button",
              { type: "button", class: "show-run primary", onclick: () => this.load(property.number) },
              "Show the run",
            ),
            ` ${length}`,
          )
        : null,
    );
  }

  async load(number) {
    try {
      await this.opened(await post("check/load", { property: number }));
    } catch (error) {
      this.report(error);
    }
  }
}

/** What came of a check, in words; what is violated is named. */
function whole(answer) {
  const broken = (answer.properties ?? []).filter((property) => property.verdict === "violated");
  if (answer.verdict !== "violated" || !broken.length) return WHOLE[answer.verdict] ?? "The check ended.";
  const [first, ...rest] = broken;
  const fault = first.fault?.fault ? ` — ${faulty(first.fault)}` : "";
  return `${WHOLE.violated}: ${first.name}${fault}${rest.length ? `, and ${rest.length} more` : ""}`;
}

const faulty = ({ fault, line }) => `${fault.replace(/^assertion violated /, "")}${line ? ` (line ${line})` : ""}`;

/** What does not hold comes first. */
const ordered = (properties) => [...properties].sort((a, b) => (b.verdict === "violated") - (a.verdict === "violated"));

function field({ key, title, hint, means, among, number }) {
  const id = `option-${key}`;
  const input = make("input", {
    id,
    type: number ? "number" : "text",
    min: number ? 1 : null,
    placeholder: hint,
    list: among ? `${id}-list` : null,
    autocomplete: "off",
    spellcheck: "false",
  });
  return make(
    "label",
    { class: "field", for: id, title: means },
    title,
    input,
    among
      ? make(
          "datalist",
          { id: `${id}-list` },
          among.map((value) => make("option", { value })),
        )
      : null,
  );
}

const tick = () =>
  make(
    "label",
    { class: "tick" },
    make("input", { type: "checkbox", id: "option-keep_going" }),
    " go on after a violation until everything is decided",
  );
