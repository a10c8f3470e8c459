//! The flags. Help texts teach: what a flag does, what it costs, an example.

use super::failure::Failure;
use super::trace::TraceFormat;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use scrimp::report::number::{parse_duration, parse_size};
use scrimp::report::record::Panel;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  scrimp check models/peterson3.dve
  scrimp check lock.dve --property 'invariant: !(P_0@cs && P_1@cs)'
  scrimp check klotski.dve --property 'reach: c[13] == 6'
  scrimp count big.pml --memory 2G --time 10m --threads 4
  scrimp check lock.dve --json > answer.json && scrimp simulate lock.dve --trace answer.json
  scrimp check protocol.pml --chart error.svg
  scrimp check net.pnml --formulas ReachabilityCardinality.xml

Exit codes: 0 verified or counted, 1 violated, 2 wrong usage or wrong model,
3 incomplete (a limit was reached), 4 no error found but the method is not exhaustive.";

/// Decides properties of finite-state models inside the memory you give it.
#[derive(Debug, Parser)]
#[command(name = "scrimp", version, about, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check every property of a model: deadlock, run-time faults, its assertions, or those you name
    ///
    /// Once every state was visited, what of the model is never executed is listed too: statements, transitions, places, labels.
    Check(CheckArgs),
    /// Visit the whole state space and say how large it is and what shape it has
    Count(CountArgs),
    /// Check or count by several processes, on this machine or on several hosts
    ///
    /// `scrimp cluster -n 4 check MODEL` starts four processes here. `scrimp cluster --hosts FILE --index I check MODEL` is started on each host,
    /// with its number; host 0 reads the model, the others need only this program. docs/cluster.md has the details.
    Cluster(super::cluster::ClusterArgs),
    /// Say what a check or count with these options would do, and why, without doing it
    #[command(mut_arg("model", |model| model.required(false).default_value(NO_MODEL)))]
    Plan(PlanArgs),
    /// Run through a model step by step: at random, interactively, or along a trace; or look for errors by many random walks
    ///
    /// `--walks N` makes N random walks on all cores and ends with the first error that one of them meets.
    ///
    /// A Promela model is shown as `spin -p -g -l` shows it: number, process, place, statement, changed values, and what
    /// `printf` prints.
    Simulate(super::simulate::SimulateArgs),
    /// Look at a model in the browser: step through it, see its source, charts and states, check it
    ///
    /// Prints an address on this machine and opens it.
    Explore(super::explore::ExploreArgs),
    /// Play a game about a formula of branching time, which shows why it holds or does not
    ///
    /// You try to prove `ctl: FORMULA`, or to refute it, and the checker answers each move. Unless you say which, you try
    /// what cannot be done: the checker wins, and shows with its moves why.
    Explain(super::explain::ExplainArgs),
    /// Print the runs that break a property as an automaton in the Hanoi format (HOA)
    ///
    /// Of the formulas named, or of those that the model has. Such a file, from here or from another tool, is checked with
    /// `scrimp check MODEL --property 'hoa: FILE'`.
    Automaton(super::automaton::AutomatonArgs),
    /// Run a suite: a table of models and configurations, with expected and published values
    Bench(super::bench::BenchArgs),
    /// Hold two results files of `scrimp bench` against each other
    Compare(super::compare::CompareArgs),
    /// Hold models against what their comments declare: every model of a folder is a test
    Test(super::test::TestArgs),
    /// Print completions for a shell, e.g. `scrimp completions bash > /etc/bash_completion.d/scrimp`
    Completions { shell: clap_complete::Shell },
}

#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// The model: DVE (.dve), Promela (.pml), a Petri net (.pnml), a labelled transition system (.aut) or a network of
    /// these (.network), also compressed (.gz)
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,

    /// A property to check, instead of those of the model; may be given several times
    ///
    /// `deadlock`: every state has a successor (in Promela: or is a valid end state). `faults`: no division by zero, no
    /// index out of range. `assertions`: those in the model. `invariant: EXPR`: EXPR holds in every reachable state.
    /// `reach: EXPR`: EXPR holds in some reachable state. `ltl: FORMULA` holds on every run, `ctl: FORMULA` in every initial
    /// state: `ltl: [] (P@try -> <> P@cs)`, `ctl: AG EF P@idle`. `accepting`: no run visits accepting states infinitely often (no acceptance cycle).
    /// `progress`: no infinite run makes no progress (no non-progress cycle). `hoa: FILE`: no run is as that automaton says. What the model
    /// itself asks has a name, which reports show: `ltl NAME`, `assertion: NAME`; `claim` is its never claim or property process. Of nets also `bound: SUM`, `bounded`, `one-safe`,
    /// `stable-marking`, `quasi-live`, `live`. In EXPR, `P@cs` says that process P is at cs, `P.x` is its
    /// variable x, `a[2]` an element; operators are those of C, and `and`, `or`, `not`, `imply`.
    #[arg(short, long, value_name = "TEXT")]
    pub property: Vec<String>,

    /// A file with one property on each line (# begins a comment)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub property_file: Option<PathBuf>,

    /// A file of the Model Checking Contest with formulas about a Petri net; each is answered on its own
    ///
    /// StateSpace, Reachability…, UpperBounds, global properties, LTL… and CTL….
    #[arg(long, value_name = "FILE.xml", value_hint = ValueHint::FilePath)]
    pub formulas: Vec<PathBuf>,

    /// Go on after a violation until every property is decided
    #[arg(short, long)]
    pub keep_going: bool,

    /// Draw the first run that is found as a message sequence chart: a picture (FILE.svg), or text (any other name, or -)
    ///
    /// Processes stand side by side, messages are arrows between them. Where the run passes no messages, every step is
    /// shown.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub chart: Option<PathBuf>,

    /// Write the first run that is found to a file, in --trace-format or the form that its name says: .json, .itf.json,
    /// .mmd, or else text
    ///
    /// `scrimp simulate MODEL --trace FILE.json` replays it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,

    /// How runs are written: text, json, table, mermaid, itf [default: text]
    ///
    /// Without --trace this is about standard output: text and table are parts of the report; json, mermaid and itf are the first
    /// run alone, and the report goes to standard error. `scrimp check lock.dve --trace-format itf > lock.itf.json`
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub trace_format: Option<TraceFormat>,

    #[command(flatten)]
    pub search: SearchArgs,
}

/// Where no model is named.
pub const NO_MODEL: &str = "-";

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Print what combines with what, as tables, and look at no model
    #[arg(long, exclusive = true)]
    pub combinations: bool,

    #[command(flatten)]
    pub check: CheckArgs,
}

#[derive(Debug, Args)]
pub struct CountArgs {
    /// The model: DVE (.dve), Promela (.pml), a Petri net (.pnml), a labelled transition system (.aut) or a network of
    /// these (.network), also compressed (.gz)
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,

    /// Find the largest in-degree of large models too (4 bytes a state, one thread); small ones always have it
    #[arg(long)]
    pub in_degrees: bool,

    #[command(flatten)]
    pub search: SearchArgs,
}

#[derive(Debug, Clone, Args)]
pub struct SearchArgs {
    /// Define a macro of a Promela model before it is read, as `spin -DN=3` does; may be given several times
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = definition)]
    pub define: Vec<(String, String)>,

    /// Which state next: bfs, dfs, bbfs:WIDTH, alt:BREADTH,DEPTH, progress, best[:astar], random, release
    ///
    /// `bfs` goes level by level and finds shortest traces; `dfs` follows one path, one event at a time, so that few states
    /// are open. Between them, `bbfs:16` has levels of at most 16 states, and `alt:4,8` takes turns: 4 levels
    /// breadth-first, 8 depth-first. `progress` expands low --progress first, `best` low --heuristic (`best:astar` adds the
    /// depth), `random` any open state. `release` goes with --forget pseudo-root. [default: bfs]
    #[arg(long, value_name = "ORDER")]
    pub order: Option<String>,

    /// How states are kept: table, tree, collapse, dfa, dfa+collapse, comback, compact[:BITS], bitstate[:MIB], disk[:DIR]
    ///
    /// Exact: `table` keeps states in full and is fastest; `tree` keeps halves of states once each, a few bytes a state;
    /// `collapse` keeps what each process can look like once; `dfa` is a minimized automaton, smallest where states are
    /// alike, and slow; `comback` keeps a hash and how each state was found; `disk` keeps sorted files. Not exact, so that
    /// the best answer is `no error found`: `compact:40` keeps 40 bits of a hash of each state, `bitstate:256` sets a few
    /// bits in 256 MiB. [default: table, and by itself a smaller one when --memory is used up]
    #[arg(long, value_name = "STORE")]
    pub store: Option<String>,

    /// The order of the layers of --store dfa: best, layout, reversed, by-change, linked, or bytes such as 3,1,2
    ///
    /// The size of the automaton depends on it. `best` tries the others on a sample of the states; bytes that are not named
    /// follow in the order of the layout.
    #[arg(long, default_value = "best", value_name = "ORDER")]
    pub layers: String,

    /// Save the search to a file now and then, and when it is stopped, so that it can be taken up again
    ///
    /// The file is replaced at once or not at all, so that the program may be killed at any moment.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub checkpoint: Option<PathBuf>,

    /// How often to save the search [default: 10m]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, requires = "checkpoint")]
    pub every: Option<Duration>,

    /// Take up a search that was saved with --checkpoint, of the same model with the same options
    ///
    /// Memory, time and threads may be others than before.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub resume: Option<PathBuf>,

    /// A directory for sorted files, used when memory is not enough
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub disk: Option<PathBuf>,

    /// Which states may be dropped during the search: none, pseudo-root, cache, sweep, sweep+cache
    ///
    /// `pseudo-root[:STATES]` drops a state once all its predecessors have led to it: it cannot be reached again, and no
    /// state is visited twice. `cache[:STATES[,STRATEGY]]` keeps at most STATES (without a number: what --memory allows)
    /// and drops states that led to no open one; those may be visited again. STRATEGY says which go first: random, fifo,
    /// lru, frequency, in-degree, out-degree, depth, strata, strataN; a minus sign reverses one, + joins several.
    /// `sweep` drops what lies behind the progress of the search (--progress); `sweep+cache[:…]` does both.
    #[arg(long, default_value = "none", value_name = "METHOD")]
    pub forget: String,

    /// A measure of progress for --forget sweep and --order progress: expressions, auto[:LEVEL] or linear
    ///
    /// `--progress 'sent, received'` compares `sent` first, then `received`. Any measure gives right answers; one that
    /// seldom goes back saves most. `auto` finds one by itself; levels 0 to 5 let it go back on 0, 1, 2, 5, 10, 20 % of
    /// the events. `linear` is, for a net, the weighted sum of tokens that linear algebra finds; `auto` considers it too.
    #[arg(long, value_name = "EXPR|auto[:LEVEL]|linear", allow_hyphen_values = true)]
    pub progress: Option<String>,

    /// Write where the sweep-line stood and what was stored, line by line, to a file that can be plotted
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub front: Option<PathBuf>,

    /// Write the reachability graph to a file: .aut (Aldebaran), .dot (Graphviz) or .scg (Scrimp's own form)
    ///
    /// With --forget sweep states are dropped behind the line and their numbers and successors stay: where the measure goes
    /// back, the graph may have some states more than once (an unfolding, bisimilar to the reachability graph). Where only runs
    /// are asked about, one more search makes the graph.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub graph: Option<PathBuf>,

    /// Write the reachability graph for Graphviz, as a picture for people: `dot -Tsvg FILE`
    ///
    /// States are shown by their values, large ones by what differs from the initial state; dead ends have two borders, and
    /// the first run that is found is drawn in colour.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub dot: Option<PathBuf>,

    /// Write what was found as one file for a browser: verdicts, the plan and why, runs with charts, plots
    ///
    /// Nothing else is needed to read it, no network and no scripts: send it to a colleague. It is also written where a limit
    /// ends the search. `scrimp check lock.dve --report lock.html`
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    /// An expression for --order best: states with low values are expanded first
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub heuristic: Option<String>,

    /// What to use of a Petri net's structure: all, none, or some of bounds, groups, implied, equation, reduction, walks
    ///
    /// `bounds` finds how many bits a place needs; `groups` keeps places of which one at most is marked as one number;
    /// `implied` does not store what follows from other places; `equation` answers by the state equation, traps and siphons;
    /// `reduction` asks questions of smaller nets; `walks` looks for markings at random. `-walks` uses all but that one.
    #[arg(long, value_name = "PARTS", default_value = "all", allow_hyphen_values = true)]
    pub structure: String,

    /// Do not let chains of states with a single successor stay in the cache
    #[arg(long)]
    pub chains: bool,

    /// Let only every N-th ancestor of an open state stay in the cache
    ///
    /// The larger N, the fewer states must stay, mostly in breadth-first order; more may be visited again. [default: 8]
    #[arg(long, value_name = "N")]
    pub stride: Option<u32>,

    /// Keep closed ancestors of open states without their vectors in the cache, and replay them where needed
    ///
    /// Such a state is kept as the event that led to it and what it led from, and does not count as one of the cache's
    /// STATES. Saves most where states are long; takes time where events often lead back to them.
    #[arg(long)]
    pub reconstruct: bool,

    /// What the backedges of `--store comback` say: events, states
    ///
    /// `events`: the predecessor, and by which of its events the state was found. `states`: the predecessor only, in a few
    /// bits less; the event is found again by running all of them.
    #[arg(long, default_value = "events", value_name = "WHAT")]
    pub backedges: String,

    /// Have so many states at hand in full in `--store comback`, rounded down to a power of two
    ///
    /// [default: as many as take three quarters of a byte for each stored state, up to 65,536]
    #[arg(long, value_name = "STATES")]
    pub cache: Option<usize>,

    /// Which events and states may be skipped: none, por, por+sleep, edge-lean, symmetry, symmetry:orbits
    ///
    /// `por` (partial-order reduction) does not explore events that do not influence each other in every order: of the states
    /// between, only those are visited that can matter to what is asked. Deadlocks, faults, assertions and the verdict on
    /// every condition stay what they are; counts get smaller. How the sets of events are found can be said: `por:process`
    /// (whole processes, quickest), `por:closure`, `por:deletion` (smallest sets, slowest). `por+sleep` also explores fewer
    /// transitions between the states that remain.
    ///
    /// `edge-lean` explores one order of two events that can be swapped. All states are visited, by fewer transitions,
    /// which keeps a state cache from visiting the same states over and over.
    ///
    /// `symmetry` visits one of all states that differ only in what is interchangeable, such as equal processes, the places of a
    /// ring or the colours of a net. What that is, is found out; verdicts and shortest runs stay what they are, and counts are
    /// those of orbits. `symmetry:orbits` also adds up how many states there are in all orbits.
    ///
    /// Where nothing is said, `check` explores every event of a model of up to 131,072 states (for a formula, 1,000), and uses `por`
    /// in larger ones where the first states show that it pays.
    #[arg(long, value_name = "METHOD")]
    pub reduce: Option<String>,

    /// How infinite runs are looked for: auto, nested, components
    ///
    /// `nested`: a depth-first search within another, with least memory. `components`: states that reach each other are
    /// gathered; finds runs earlier and needs a number for each state. `auto`: components, or nested in a tree.
    #[arg(long, default_value = "auto", value_name = "WAY")]
    pub cycles: String,

    /// Only fair runs count: weak, strong, SF(PROCESS), WF(PROCESS), or an expression that holds again and again; may be given
    /// several times
    ///
    /// `weak`: a process that stays enabled moves again and again. `strong`: a process that is enabled again and again moves again
    /// and again. `WF(P)`, `SF(P)`: the same of process P, or of all that are called P and a number; several are separated by
    /// commas. What several do together is enabled for the one who begins it, and all of them move. Refused where nothing that is asked is about runs.
    #[arg(long, value_name = "weak|strong|SF(P)|EXPR")]
    pub fair: Vec<String>,

    /// Seed of all choices made by chance: the same seed, the same search
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,

    /// Stop after so many visits of states
    #[arg(long, value_name = "N")]
    pub max_visits: Option<u64>,

    /// Remember all visited states beside the search, to count them whatever it forgets (takes the memory it saves)
    #[arg(long)]
    pub audit: bool,

    /// What does the searching: auto, explicit, symbolic, bmc, gpu, cluster
    ///
    /// `auto` is `explicit`; where that takes long, `check` tries the others beside it, and the first answer counts. `explicit` visits state after state. `symbolic` computes with sets of states, as decision diagrams: for models whose
    /// states are far too many to visit, and have much structure. `symbolic:bfs` goes level by level, `symbolic:chaining`
    /// event after event, `symbolic:saturation` (mostly fastest) variable by variable. With `--reduce por`, of each set only
    /// events that suffice are taken. `bmc:K` looks for runs of up to K events with a SAT solver, and proves what it can by
    /// induction; `bmc` goes on until everything is decided. `gpu` goes level by level on a graphics card of NVIDIA's (`gpu:1` on the
    /// second one), whose memory `--memory` is then about; `gpu:cpu` runs the same kernels on the threads of the processor, for tests.
    /// `cluster:N` starts N processes on this machine, as `scrimp cluster -n N` does.
    #[arg(long, default_value = "auto", value_name = "ENGINE")]
    pub engine: String,

    /// The order of variables in decision diagrams: force, given
    ///
    /// `force` puts those together that events touch together; `given` is that of the model.
    #[arg(long, default_value = "force", value_name = "ORDER")]
    pub variables: String,

    /// May the order of variables change while diagrams grow: auto, never
    #[arg(long, default_value = "auto", value_name = "WHEN", value_parser = ["auto", "never"])]
    pub reorder: String,

    /// With `--engine symbolic --reduce por`: any set between the reduced step and the whole one, whichever is smallest
    #[arg(long)]
    pub dont_care: bool,

    /// The most memory the whole process may use, such as 512M or 2G [default: nine tenths of what is free]
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<usize>,

    /// The longest the search may take, such as 90s, 5m or 2h
    #[arg(short, long, value_name = "DURATION", value_parser = parse_duration)]
    pub time: Option<Duration>,

    /// Threads that search side by side; all totals stay the same [default: one for each core, where the search can use them]
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<usize>,

    /// Run the model by the interpreter instead of machine code (slower; to cross-check)
    #[arg(long)]
    pub interpret: bool,

    /// Write one JSON object to standard output
    #[arg(long)]
    pub json: bool,

    /// Print no report and no warnings; the exit code is the answer
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print curves of how the search went after the report; while it runs, show on a terminal how the rate changes and,
    /// where that can be guessed, how much is done
    #[arg(short, long)]
    pub verbose: bool,

    /// Draw how the search went: a picture (FILE.svg), pages for print (FILE.pdf), or text (any other name, or -)
    ///
    /// States per level, states stored and expanded over time, memory, rate, and the front of a sweep-line; for engines that
    /// do not visit state by state, nodes of decision diagrams or clauses of formulas.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Which of the plots to draw, such as levels,memory: levels, stored, nodes, clauses, memory, rate, front [default: all
    /// there are]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = clap::value_parser!(Panel))]
    pub panels: Vec<Panel>,

    /// Write the progress to standard error even where that is no terminal: text, or json for programs [default: text]
    ///
    /// `--show-progress json` writes one object a line, several each second and one at the end of each search: seconds, states
    /// (stored), visits (expanded), transitions, open, depth, nodes, clauses, memory (bytes), rate (visits a second).
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub show_progress: Option<ShowProgress>,
}

impl SearchArgs {
    /// Is how a search went to be recorded?
    pub fn records(&self) -> bool {
        self.plot.is_some() || self.report.is_some() || self.verbose
    }

    /// Fails where two things would be written to the same place, or plots are chosen and none is drawn.
    pub fn refuse_mixture(&self) -> Result<(), Failure> {
        if self.json && self.plot.as_deref() == Some(Path::new("-")) {
            return Err(Failure::because("--json and --plot - would write to the same place"));
        }
        if !self.panels.is_empty() && !self.records() {
            let message = "--panels says which plots are drawn; add --plot FILE, --report FILE.html or -v";
            return Err(Failure::because(message));
        }
        Ok(())
    }

    /// The plots that are to be drawn.
    pub fn wanted_panels(&self) -> &[Panel] {
        if self.panels.is_empty() { &Panel::ALL } else { &self.panels }
    }
}

/// How progress is written to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowProgress {
    Text,
    Json,
}

/// What was written after `--show-progress` belongs to it, if it is one of its values; without that the model may follow.
pub fn joined(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        match (joined.last_mut().filter(|last| *last == "--show-progress"), argument.to_str()) {
            (Some(last), Some(how @ ("text" | "json"))) => last.push(format!("={how}")),
            _ => joined.push(argument),
        }
    }
    joined
}

/// `NAME`, which stands for 1, or `NAME=VALUE`.
pub fn definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.chars().next() {
        Some(first) if !first.is_ascii_digit() && name.chars().all(word) => Ok((name.to_string(), value.to_string())),
        _ => Err("a macro needs a name of letters, digits and _".into()),
    }
}
