//! The flags. The first line of a help text fits into 80 columns, for `-h`, where only what most people need is shown; what
//! follows teaches: what a flag does, what it costs. Help, man pages and completions are all made of this table.

use super::failure::Failure;
use super::trace::TraceFormat;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};
use scrimp::report::number::{parse_duration, parse_size};
use scrimp::report::record::Panel;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The groups of flags.
const ASKED: &str = "What to check";
const SEARCH: &str = "How to search";
const LIMITS: &str = "Memory and time";
const FORGET: &str = "Forgetting states";
const STORES: &str = "Stores in detail";
const DIAGRAMS: &str = "Decision diagrams";
const ANSWER: &str = "The answer";

const CHECK_EXAMPLES: &str = "\
Examples:
  scrimp check lock.pml
  scrimp check lock.dve -p 'invariant: !(P_0@cs && P_1@cs)' -p deadlock
  scrimp check lock.pml -p 'ltl: [] (request -> <> grant)' --fair weak
  scrimp check big.pml --memory 4G --time 10m --reduce por
  scrimp check net.pnml --formulas ReachabilityCardinality.xml";

const WATCH_EXAMPLES: &str = "\
Examples:
  scrimp watch lock.pml
  scrimp watch lock.dve -k -p 'invariant: !(P_0@cs && P_1@cs)' -p deadlock";

const COUNT_EXAMPLES: &str = "\
Examples:
  scrimp count lock.dve
  scrimp count big.pml --memory 2G --time 10m --threads 4
  scrimp count net.pnml --engine symbolic";

pub const EXIT_CODES: &str = "\
Exit codes: 0 verified or counted, 1 violated, 2 wrong usage or wrong model,
3 incomplete (a limit was reached), 4 no error found (but not all was seen).";

/// Decides properties of finite-state models inside the memory you give it.
#[derive(Debug, Parser)]
#[command(name = "scrimp", version, about, after_help = EXIT_CODES, max_term_width = 100, disable_help_flag = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// The folder that all files of a model must lie in: what `mcp` gives to the commands that it runs
    #[arg(long, value_name = "FOLDER", global = true, hide = true)]
    pub within: Option<PathBuf>,

    /// Print help: -h in short, --help in full
    #[arg(short, long, action = ArgAction::Help, global = true, display_order = 10_000, help_heading = "Help")]
    pub help: Option<bool>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check the model's own properties, or those you name
    ///
    /// Without `--property`: deadlocks, run-time errors, the model's assertions, formulas and claims. Once every state was visited,
    /// what of the model is never executed is listed too: statements, transitions, places, labels.
    #[command(after_help = CHECK_EXAMPLES, after_long_help = format!("{CHECK_EXAMPLES}\n\n{EXIT_CODES}"))]
    Check(CheckArgs),
    /// Check again when the model changes, and show what differs
    ///
    /// Checks when the model, a file that it includes or a file of properties has changed, and shows beside each verdict and each
    /// figure what it was the last time. A check that is still running then is begun anew. Takes the flags of `check`, but those
    /// that write files. Ctrl-C ends it. docs/watch.md
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(super::again::WatchArgs),
    /// Count the reachable states and transitions of a model
    ///
    /// The whole state space is visited; the report says how large it is and what shape it has.
    #[command(after_help = COUNT_EXAMPLES, after_long_help = format!("{COUNT_EXAMPLES}\n\n{EXIT_CODES}"))]
    Count(CountArgs),
    /// Check or count with several processes or hosts
    ///
    /// `scrimp cluster -n 4 check MODEL` starts four processes here. `scrimp cluster --hosts FILE --index I check MODEL` is started
    /// on each host, with its number; host 0 reads the model, the others need only this program. docs/cluster.md has the details.
    Cluster(super::cluster::ClusterArgs),
    /// Say what `check` would do with these options, and why
    ///
    /// Nothing is checked. A short look at the model estimates how many states there is room for.
    #[command(mut_arg("model", |model| model.required(false).default_value(NO_MODEL).hide_default_value(true)))]
    Plan(PlanArgs),
    /// Run a model step by step, or look for errors by random walks
    ///
    /// A run is random, chosen by you (`--interactive`), or that of a trace (`--trace`). `--walks N` makes N random walks on all
    /// cores and ends with the first error that one of them meets.
    ///
    /// A Promela model is shown as `spin -p -g -l` shows it: number, process, place, statement, changed values, and what
    /// `printf` prints.
    Simulate(super::simulate::SimulateArgs),
    /// Is a recorded log a run of the model, and if not, where and why?
    ///
    /// Logs are JSON lines. A mapping says which fields are which events, processes and values; steps may be missing, and several
    /// logs are merged by vector clocks, by process, or in any order. docs/conform.md has the details.
    Conform(super::conform::ConformArgs),
    /// Look at a model in the browser: step, graph, charts, checks
    ///
    /// Prints an address on this machine and opens it.
    Explore(super::explore::ExploreArgs),
    /// Play a game that shows why a CTL formula holds or not
    ///
    /// You try to prove `ctl: FORMULA`, or to refute it, and the checker answers each move. Unless you say which, you try
    /// what cannot be done: the checker wins, and its moves show why.
    Explain(super::explain::ExplainArgs),
    /// Print the runs that break a property as an automaton (HOA)
    ///
    /// Of the formulas named, or of those that the model has, in the Hanoi format. Such a file, from here or from another tool,
    /// is checked with `scrimp check MODEL --property 'hoa: FILE'`.
    Automaton(super::automaton::AutomatonArgs),
    /// Write runs that cover a model, to test an implementation
    ///
    /// Visits all states and looks for few runs that execute every transition or statement, every two of them one after the other,
    /// or that reach conditions. What no run can have is listed. docs/generate.md
    #[command(after_help = super::generate::HELP)]
    Generate(super::generate::GenerateArgs),
    /// Run a suite of models and configurations, or time one model
    Bench(super::bench::BenchArgs),
    /// Compare two results files of `scrimp bench`
    Compare(super::compare::CompareArgs),
    /// Check every model of a folder against what its comments declare
    Test(super::test::TestArgs),
    /// Serve editors: errors while you type, names, checks at a click
    ///
    /// The Language Server Protocol, for Promela, DVE and files of properties. docs/editors.md has the lines for your editor.
    Lsp(super::lsp::LspArgs),
    /// Serve agents: tools to check models and explain what is found
    ///
    /// The Model Context Protocol, over standard input and output. docs/agents.md shows it at work.
    Mcp(super::mcp::McpArgs),
    /// Print completions for a shell
    ///
    /// `scrimp completions bash > ~/.local/share/bash-completion/completions/scrimp`,
    /// `scrimp completions zsh > "${fpath[1]}/_scrimp"`,
    /// `scrimp completions fish > ~/.config/fish/completions/scrimp.fish`.
    Completions {
        /// bash, zsh, fish, elvish or powershell
        #[arg(hide_possible_values = true)]
        shell: clap_complete::Shell,
    },
    /// Print a man page, or write all of them into a folder
    ///
    /// `scrimp man check | man -l -` shows a page; `scrimp man --folder ~/.local/share/man/man1` installs them.
    Man(super::man::ManArgs),
}

#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// The model: .pml, .dve, .pnml, .aut or .network, also with .gz
    ///
    /// Promela (.pml), DVE (.dve), a Petri net (.pnml), a labelled transition system (.aut) or a network of these (.network).
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,

    /// Check this, not what the model asks; repeatable
    ///
    /// `deadlock`: every state has a successor (in Promela: or is a valid end state). `faults`: no division by zero, no
    /// index out of range. `assertions`: those in the model. `invariant: EXPR`: EXPR holds in every reachable state.
    /// `reach: EXPR`: EXPR holds in some reachable state. `ltl: FORMULA` holds on every run, `ctl: FORMULA` in every initial
    /// state: `ltl: [] (P@try -> <> P@cs)`, `ctl: AG EF P@idle`.
    ///
    /// `accepting`: no run visits accepting states infinitely often (no acceptance cycle). `progress`: no infinite run stops
    /// making progress (no non-progress cycle). `hoa: FILE`: no run is accepted by that automaton. What the model itself asks has
    /// a name, which reports show: `ltl NAME`, `assertion: NAME`; `claim` is its never claim or property process. Of nets also
    /// `bound: SUM`, `bounded`, `one-safe`, `stable-marking`, `quasi-live`, `live`.
    ///
    /// In EXPR, `P@cs` says that process P is at cs, `P.x` is its variable x, `a[2]` an element; operators are those of C, and
    /// `and`, `or`, `not`, `imply`.
    #[arg(short, long, value_name = "TEXT", help_heading = ASKED)]
    pub property: Vec<String>,

    /// Check the properties in a file, one a line
    ///
    /// `#` and `//` begin a comment.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = ASKED)]
    pub property_file: Option<PathBuf>,

    /// Answer formulas of the Model Checking Contest
    ///
    /// A file of the contest about a Petri net: StateSpace, Reachability…, UpperBounds, global properties, LTL… and CTL…. Each
    /// formula is answered on its own.
    #[arg(long, value_name = "FILE.xml", value_hint = ValueHint::FilePath, help_heading = ASKED)]
    pub formulas: Vec<PathBuf>,

    /// Go on after a violation, until all are decided
    #[arg(short, long, help_heading = ASKED)]
    pub keep_going: bool,

    #[command(flatten)]
    pub search: SearchArgs,

    /// Draw the run that was found: FILE.svg, or text
    ///
    /// A message sequence chart: a picture (FILE.svg), or text (any other name, or -). Processes stand side by side, messages are
    /// arrows between them. Where the run passes no messages, every step is shown.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = ANSWER)]
    pub chart: Option<PathBuf>,

    /// Write the run that was found to a file
    ///
    /// In --trace-format, or the form that the file's name says: .json, .itf.json, .mmd, or else text.
    /// `scrimp simulate MODEL --trace FILE.json` replays it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = ANSWER)]
    pub trace: Option<PathBuf>,

    /// How runs are written: text, json, table, mermaid, itf
    ///
    /// [default: text] Without --trace this is about standard output: text and table are parts of the report; json, mermaid and itf are
    /// the first run alone, and the report goes to standard error. `scrimp check lock.dve --trace-format itf > lock.itf.json`
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, hide_short_help = true, help_heading = ANSWER)]
    pub trace_format: Option<TraceFormat>,
}

/// Where no model is named.
pub const NO_MODEL: &str = "-";

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Print which options combine, as tables; needs no model
    #[arg(long, exclusive = true)]
    pub combinations: bool,

    /// Only find out whether these options are accepted, without a look at the model's states: what `mcp` asks of its proposals
    #[arg(long, hide = true)]
    pub admit: bool,

    #[command(flatten)]
    pub check: CheckArgs,
}

#[derive(Debug, Args)]
pub struct CountArgs {
    /// The model: .pml, .dve, .pnml, .aut or .network, also with .gz
    ///
    /// Promela (.pml), DVE (.dve), a Petri net (.pnml), a labelled transition system (.aut) or a network of these (.network).
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,

    #[command(flatten)]
    pub search: SearchArgs,

    /// Find the largest in-degree of large models too
    ///
    /// Takes 4 bytes a state and one thread; of small models it is always found.
    #[arg(long, hide_short_help = true, help_heading = ANSWER)]
    pub in_degrees: bool,
}

#[derive(Debug, Clone, Args)]
pub struct SearchArgs {
    /// Define a macro of a Promela model; repeatable
    ///
    /// Before the model is read, as `spin -DN=3` does. Without a value it is 1.
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = definition, help_heading = ASKED)]
    pub define: Vec<(String, String)>,

    /// Consider fair runs only: weak, strong, SF(P), …
    ///
    /// `weak`: a process that stays enabled moves again and again. `strong`: a process that is enabled again and again moves again
    /// and again. `WF(P)`, `SF(P)`: the same of process P, or of all that are called P and a number; several are separated by
    /// commas. An expression must hold again and again. What several processes do together is enabled for the one that begins it,
    /// and all of them move. Refused where no property is about infinite runs. May be given several times.
    #[arg(long, value_name = "WHO", help_heading = ASKED)]
    pub fair: Vec<String>,

    /// explicit, symbolic, bmc[:K], gpu, cluster:N
    ///
    /// [default: auto] `auto` is `explicit`; where that takes long, `check` tries the others beside it, and the first answer counts.
    /// `explicit` visits state after state. `symbolic` computes with sets of states, as decision diagrams: for models whose
    /// states are far too many to visit, and have much structure. `symbolic:bfs` goes level by level, `symbolic:chaining`
    /// event after event, `symbolic:saturation` (mostly fastest) variable by variable. With `--reduce por`, of each set only
    /// events that suffice are taken.
    ///
    /// `bmc:K` looks for runs of up to K events with a SAT solver, and proves what it can by induction; `bmc` goes on until
    /// everything is decided. `gpu` goes level by level on a graphics card of NVIDIA's (`gpu:1` on the second one), and `--memory` is
    /// then about the card's; `gpu:cpu` runs the same kernels on the threads of the processor, for tests. `cluster:N` starts N
    /// processes on this machine, as `scrimp cluster -n N` does.
    #[arg(long, default_value = "auto", hide_default_value = true, value_name = "ENGINE", help_heading = SEARCH)]
    pub engine: String,

    /// bfs, dfs, bbfs:WIDTH, alt:B,D, progress, best, random
    ///
    /// Which state is expanded next. [default: bfs] `bfs` goes level by level and finds shortest traces; `dfs` follows one path, one event
    /// at a time, so that few states are open. Between them, `bbfs:16` has levels of at most 16 states, and `alt:4,8` takes turns:
    /// 4 levels breadth-first, 8 depth-first. `progress` expands low --progress first, `best` low --heuristic (`best:astar` adds
    /// the depth), `random` any open state. `release` goes with --forget pseudo-root.
    #[arg(long, value_name = "ORDER", help_heading = SEARCH)]
    pub order: Option<String>,

    /// none, por, por+sleep, edge-lean, symmetry
    ///
    /// Which events and states may be skipped. `por` (partial-order reduction) does not explore events that do not influence each
    /// other in every order: of the states between, only those are visited that can matter to what is asked. Deadlocks, run-time
    /// errors, assertions and the verdict on every condition stay what they are; counts get smaller. How the sets of events are
    /// found can be said: `por:process` (whole processes, quickest), `por:closure`, `por:deletion` (smallest sets, slowest).
    /// `por+sleep` also explores fewer transitions between the states that remain.
    ///
    /// `edge-lean` explores one order of two events that can be swapped. All states are visited, by fewer transitions,
    /// which keeps a state cache from visiting the same states over and over.
    ///
    /// `symmetry` visits one of all states that differ only in what is interchangeable, such as equal processes, the places of a
    /// ring or the colours of a net. What that is, is found out; verdicts and shortest runs stay what they are, and counts are
    /// those of orbits. `symmetry:orbits` also adds up how many states there are in all orbits.
    ///
    /// Without this flag, `check` explores every event of a model of up to 131,072 states (for a formula, 1,000), and uses `por`
    /// in larger ones where the first states show that it pays.
    #[arg(long, value_name = "METHOD", help_heading = SEARCH)]
    pub reduce: Option<String>,

    /// Number of threads [default: one a core, if it helps]
    ///
    /// All totals are the same with any number of threads.
    #[arg(short = 'j', long, value_name = "N", help_heading = SEARCH)]
    pub threads: Option<usize>,

    /// How to look for cycles: auto, nested, components
    ///
    /// `nested`: a depth-first search within another, with least memory. `components`: states that reach each other are
    /// gathered; finds runs earlier and needs a number for each state. `auto`: components, or nested in a tree.
    #[arg(long, default_value = "auto", value_name = "WAY", hide_short_help = true, help_heading = SEARCH)]
    pub cycles: String,

    /// An expression for --order best: low values come first
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, hide_short_help = true, help_heading = SEARCH)]
    pub heuristic: Option<String>,

    /// Seed of all random choices: the same seed, the same search
    #[arg(long, default_value_t = 1, value_name = "N", hide_short_help = true, help_heading = SEARCH)]
    pub seed: u64,

    /// What to use of a Petri net's structure: all, none, or parts of it
    ///
    /// Parts are bounds, groups, implied, equation, reduction and walks. `bounds` finds how many bits a place needs; `groups` keeps
    /// places of which one at most is marked as one number; `implied` does not store what follows from other places; `equation`
    /// answers by the state equation, traps and siphons; `reduction` asks questions of smaller nets; `walks` looks for markings at
    /// random. `-walks` uses all but that one.
    #[arg(
        long,
        value_name = "PARTS",
        default_value = "all",
        allow_hyphen_values = true,
        hide_short_help = true,
        help_heading = SEARCH
    )]
    pub structure: String,

    /// Run the model by the interpreter, not by machine code
    ///
    /// Slower; to cross-check.
    #[arg(long, hide_short_help = true, help_heading = SEARCH)]
    pub interpret: bool,

    /// Use at most this much memory, such as 512M or 2G
    ///
    /// It counts for the whole process. [default: nine tenths of what is free]
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size, help_heading = LIMITS)]
    pub memory: Option<usize>,

    /// Stop after this long, such as 90s, 5m or 2h
    #[arg(short, long, value_name = "DURATION", value_parser = parse_duration, help_heading = LIMITS)]
    pub time: Option<Duration>,

    /// table, tree, collapse, dfa, comback, bitstate, …
    ///
    /// How states are kept. Exact: `table` keeps states in full and is fastest; `packed` keeps of each the bits that tell it from
    /// others; `tree` keeps halves of states once each, a few bytes a state; `collapse` keeps what each process can look like
    /// once; `dfa` (or `dfa+collapse`) is a minimized automaton, smallest where states are alike, and slow; `comback` keeps a hash and
    /// how each state was found; `disk[:DIR]` keeps sorted files. Not exact, so that the best answer is `no error found`:
    /// `compact:40` keeps 40 bits of a hash of each state, `bitstate:256` sets a few bits in 256 MiB. [default: table, and by
    /// itself a smaller one when --memory is used up]
    #[arg(long, value_name = "STORE", help_heading = LIMITS)]
    pub store: Option<String>,

    /// none, pseudo-root, cache, sweep, sweep+cache
    ///
    /// Which states may be dropped during the search. [default: none] `pseudo-root[:STATES]` drops a state once all its predecessors
    /// have led to it: it cannot be reached again, and no state is visited twice. `cache[:STATES[,STRATEGY]]` keeps at most STATES
    /// (without a number: what --memory allows) and drops states that led to no open one; those may be visited again. STRATEGY says
    /// which go first: random, fifo, lru, frequency, in-degree, out-degree, depth, strata, strataN; a minus sign reverses one, + joins
    /// several. `sweep` drops what lies behind the progress of the search (--progress); `sweep+cache[:…]` does both.
    #[arg(long, default_value = "none", hide_default_value = true, value_name = "METHOD", help_heading = LIMITS)]
    pub forget: String,

    /// For sweep: auto, linear, or expressions
    ///
    /// A measure of progress for --forget sweep and --order progress: expressions, auto[:LEVEL] or linear.
    /// `--progress 'sent, received'` compares `sent` first, then `received`. Any measure gives right answers; one that
    /// seldom goes back saves most. `auto` finds one by itself; levels 0 to 5 let it go back on 0, 1, 2, 5, 10, 20 % of
    /// the events. `linear` is, for a net, the weighted sum of tokens that linear algebra finds; `auto` considers it too.
    #[arg(long, value_name = "MEASURE", allow_hyphen_values = true, help_heading = LIMITS)]
    pub progress: Option<String>,

    /// Go on in sorted files in DIR when memory is full
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = LIMITS)]
    pub disk: Option<PathBuf>,

    /// Save the search now and then, and when it stops
    ///
    /// It can be taken up again with --resume. The file is replaced at once or not at all, so that the program may be killed at any
    /// moment.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = LIMITS)]
    pub checkpoint: Option<PathBuf>,

    /// How often to save the search [default: 10m]
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = parse_duration,
        requires = "checkpoint",
        hide_short_help = true,
        help_heading = LIMITS
    )]
    pub every: Option<Duration>,

    /// Go on with a search saved by --checkpoint
    ///
    /// Of the same model with the same options; memory, time and threads may be others than before.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = LIMITS)]
    pub resume: Option<PathBuf>,

    /// Stop after N visits of states
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = LIMITS)]
    pub max_visits: Option<u64>,

    /// Count all visited states, whatever is forgotten
    ///
    /// They are remembered beside the search, which takes the memory that forgetting saves.
    #[arg(long, hide_short_help = true, help_heading = FORGET)]
    pub audit: bool,

    /// The order of the layers of --store dfa: best, layout, reversed, by-change, linked, or bytes such as 3,1,2
    ///
    /// The size of the automaton depends on it. `best` tries the others on a sample of the states; bytes that are not named
    /// follow in the order of the layout.
    #[arg(long, default_value = "best", value_name = "ORDER", hide_short_help = true, help_heading = STORES)]
    pub layers: String,

    /// Do not let chains of states with a single successor stay in the cache
    #[arg(long, hide_short_help = true, help_heading = FORGET)]
    pub chains: bool,

    /// Let only every N-th ancestor of an open state stay in the cache
    ///
    /// The larger N, the fewer states must stay, mostly in breadth-first order; more may be visited again. [default: 8]
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = FORGET)]
    pub stride: Option<u32>,

    /// Keep closed ancestors of open states without their vectors in the cache, and replay them where needed
    ///
    /// Such a state is kept as the event that led to it and what it led from, and does not count as one of the cache's
    /// STATES. Saves most where states are long; takes time where events often lead back to them.
    #[arg(long, hide_short_help = true, help_heading = FORGET)]
    pub reconstruct: bool,

    /// What the backedges of --store comback say: events, states
    ///
    /// `events`: the predecessor, and by which of its events the state was found. `states`: the predecessor only, in a few
    /// bits less; the event is found again by running all of them.
    #[arg(long, default_value = "events", value_name = "WHAT", hide_short_help = true, help_heading = STORES)]
    pub backedges: String,

    /// States that --store comback has at hand in full, rounded down to a power of two
    ///
    /// [default: as many as take three quarters of a byte for each stored state, up to 65,536]
    #[arg(long, value_name = "STATES", hide_short_help = true, help_heading = STORES)]
    pub cache: Option<usize>,

    /// Write where the sweep-line stood and what was stored, line by line, to a file that can be plotted
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        hide_short_help = true,
        help_heading = FORGET
    )]
    pub front: Option<PathBuf>,

    /// The order of variables in decision diagrams: force, given
    ///
    /// `force` puts those together that events touch together; `given` is that of the model.
    #[arg(long, default_value = "force", value_name = "ORDER", hide_short_help = true, help_heading = DIAGRAMS)]
    pub variables: String,

    /// Whether the order of variables may change while diagrams grow: auto, never
    #[arg(
        long,
        default_value = "auto",
        value_name = "WHEN",
        value_parser = ["auto", "never"],
        hide_short_help = true,
        hide_possible_values = true,
        help_heading = DIAGRAMS
    )]
    pub reorder: String,

    /// With --engine symbolic --reduce por: take the smallest set between the reduced step and the whole one
    #[arg(long, hide_short_help = true, help_heading = DIAGRAMS)]
    pub dont_care: bool,

    /// Print one JSON object
    #[arg(long, help_heading = ANSWER)]
    pub json: bool,

    /// Print nothing: the exit code is the answer
    #[arg(short, long, conflicts_with = "verbose", help_heading = ANSWER)]
    pub quiet: bool,

    /// Print curves of how the search went
    ///
    /// They stand after the report; while the search runs, a terminal shows how the rate changes and, where that can be guessed,
    /// how much is done.
    #[arg(short, long, help_heading = ANSWER)]
    pub verbose: bool,

    /// Write all of it as one page for a browser
    ///
    /// Verdicts, the plan and why, runs with charts, plots. Nothing else is needed to read it, no network and no scripts: send it
    /// to a colleague. It is also written where a limit ends the search. `scrimp check lock.dve --report lock.html`
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath, help_heading = ANSWER)]
    pub report: Option<PathBuf>,

    /// Plot how the search went: FILE.svg, or text
    ///
    /// A picture (FILE.svg), pages for print (FILE.pdf), or text (any other name, or -): states per level, states stored and expanded over time, memory, rate,
    /// and the front of a sweep-line; for engines that do not visit state by state, nodes of decision diagrams or clauses of formulas.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = ANSWER)]
    pub plot: Option<PathBuf>,

    /// Which plots to draw: levels, stored, nodes, clauses, memory, rate, front
    ///
    /// Several are separated by commas. [default: all there are]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        value_parser = clap::value_parser!(Panel),
        hide_short_help = true,
        help_heading = ANSWER
    )]
    pub panels: Vec<Panel>,

    /// Write the reachability graph: .aut, .dot or .scg
    ///
    /// In the form of Aldebaran, of Graphviz, or Scrimp's own. With --forget sweep states are dropped behind the line and their
    /// numbers and successors stay: where the measure goes back, the graph may have some states more than once (an unfolding,
    /// bisimilar to the reachability graph). Where only runs are asked about, one more search makes the graph.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = ANSWER)]
    pub graph: Option<PathBuf>,

    /// Write the graph as a picture for people: `dot -Tsvg FILE`
    ///
    /// For Graphviz. States are shown by their values, large ones by what differs from the initial state; dead ends have two
    /// borders, and the first run that is found is drawn in colour.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = ANSWER)]
    pub dot: Option<PathBuf>,

    /// Write the progress to standard error even where that is no terminal: text, or json for programs
    ///
    /// `--show-progress json` writes one object a line, several each second and one at the end of each search: seconds, states
    /// (stored), visits (expanded), transitions, open, depth, nodes, clauses, memory (bytes), rate (visits a second).
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        hide_short_help = true,
        hide_possible_values = true,
        help_heading = ANSWER
    )]
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
            return Err(Failure::because(
                "--json and --plot - would both write to standard output\nhelp: name a file: --plot FILE.svg",
            ));
        }
        if !self.panels.is_empty() && !self.records() {
            let message = "--panels chooses plots, and none is drawn\nhelp: add --plot FILE, --report FILE.html or -v";
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
        _ => Err("expected NAME or NAME=VALUE, with a name of letters, digits and _".into()),
    }
}
