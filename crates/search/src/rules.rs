//! Which choices combine, and why the others do not.

use crate::choices::{
    BackedgeChoice, EngineChoice, ForgetChoice, OrderChoice, ReduceChoice, StoreChoice, StrategyChoice,
};
use crate::plan::{Options, Refusal};
use crate::store::LayerOrder;

/// Why these options cannot be carried out, if they cannot.
pub(crate) fn unsound(options: &Options, order: OrderChoice, store: &StoreChoice) -> Option<Refusal> {
    engines(options)
        .or_else(|| threads(options, order))
        .or_else(|| stores(options, order, store))
        .or_else(|| saving(options, order, store))
        .or_else(|| guides(options, order))
        .or_else(|| graphs(options, order, store))
        .or_else(|| forgetting(options, order))
}

fn refuse(reason: impl Into<String>, instead: impl Into<String>) -> Option<Refusal> {
    Some(Refusal::new(reason, instead))
}

/// What goes with which engine.
fn engines(options: &Options) -> Option<Refusal> {
    let Options { engine, reduce, .. } = options;
    let symbolic = matches!(engine, EngineChoice::Symbolic(_));
    let plain = Options::default();
    if !symbolic && (options.variables != plain.variables || !options.reorder || options.dont_care) {
        return refuse(
            "--variables, --reorder and --dont-care are about decision diagrams",
            "add --engine symbolic, or leave them out",
        );
    }
    if options.dont_care && !reduce.leaves_out_states() {
        return refuse("--dont-care chooses between reduced steps and whole ones", "add --reduce por, or leave it out");
    }
    if *engine == EngineChoice::Explicit {
        return None;
    }
    let states = options.order.is_some()
        || options.store.is_some()
        || options.forget != plain.forget
        || options.progress.is_some()
        || options.heuristic.is_some()
        || options.visits.is_some()
        || options.checkpoint.is_some()
        || options.resume.is_some()
        || options.disk.is_some()
        || options.audit
        || options.in_degrees
        || options.graph;
    if states {
        return refuse(
            format!("engine {engine} has no single states to order, store, forget or write down"),
            "leave out --order, --store, --forget and what belongs to them, or use --engine explicit",
        );
    }
    if options.threads != 1 {
        return refuse(format!("engine {engine} works on one thread"), "use --threads 1");
    }
    if symbolic {
        let by_level =
            [StrategyChoice::Automatic, StrategyChoice::BreadthFirst].map(EngineChoice::Symbolic).contains(engine);
        return match reduce {
            ReduceChoice::Nothing => None,
            ReduceChoice::Persistent(None) if by_level => None,
            ReduceChoice::Persistent(None) => refuse(
                "a reduction looks at what was reached level by level",
                "use --engine symbolic:bfs, or --reduce none",
            ),
            _ => refuse(format!("reduction {reduce} is for single states"), "use --reduce none or --reduce por"),
        };
    }
    match reduce {
        ReduceChoice::Nothing => None,
        _ => refuse("formulas have no use for a reduction", "use --reduce none"),
    }
}

fn threads(options: &Options, order: OrderChoice) -> Option<Refusal> {
    let Options { forget, reduce, threads, .. } = options;
    if *threads == 0 || *threads > 1024 {
        return Some(Refusal::new(
            format!("{threads} threads cannot search"),
            "use --threads with a number from 1 to 1024",
        ));
    }
    if *threads > 1 && order != OrderChoice::BreadthFirst {
        let reason = if order == OrderChoice::DepthFirst {
            "depth-first order follows one path and has no work for a second thread".to_string()
        } else {
            format!("order {order} is kept by one thread")
        };
        return Some(Refusal::new(reason, "use --threads 1, or --order bfs with several threads"));
    }
    if *threads > 1 && *forget != ForgetChoice::Nothing {
        return Some(Refusal::new(
            format!("forgetting method {forget} follows the order of one thread"),
            "use --threads 1, or --forget none with several threads",
        ));
    }
    if *threads > 1 && (swaps(*reduce) || options.visits.is_some()) {
        return refuse(
            format!("reduction {reduce} and limits on visits are for one thread"),
            "use --threads 1, or --reduce por",
        );
    }
    if options.in_degrees && (*threads > 1 || order != OrderChoice::BreadthFirst) {
        return refuse(
            "in-degrees are counted by one thread, level by level",
            "use --threads 1 --order bfs, or leave --in-degrees out",
        );
    }
    if options.in_degrees && (*forget != ForgetChoice::Nothing || *reduce != ReduceChoice::Nothing) {
        return refuse(
            "in-degrees can be counted only where every state is kept and every event explored",
            "leave --in-degrees out, or --forget and --reduce",
        );
    }
    None
}

/// Does a reduction ask which event led to a state?
fn swaps(reduce: ReduceChoice) -> bool {
    matches!(reduce, ReduceChoice::EdgeLean | ReduceChoice::PersistentSleep)
}

/// Which stores serve which searches.
fn stores(options: &Options, order: OrderChoice, store: &StoreChoice) -> Option<Refusal> {
    let Options { forget, reduce, reconstruct, .. } = options;
    let by_level = order == OrderChoice::BreadthFirst;
    let whole = *forget == ForgetChoice::Nothing && !swaps(*reduce) && options.visits.is_none();
    if options.disk.is_some() && (options.store.is_some() || !by_level || !whole || options.in_degrees) {
        return refuse(
            "--disk is for a plain breadth-first search that picks its store by itself",
            "leave it out, or --store, --order, --forget, --reduce, --max-visits and --in-degrees",
        );
    }
    if *reconstruct && *store != StoreChoice::Table {
        return refuse(format!("--reconstruct is a way to keep states, and so is store {store}"), "use --store table");
    }
    if options.layers != LayerOrder::Best && !matches!(store, StoreChoice::Automaton { .. }) {
        return refuse("layers are those of an automaton", "add --store dfa, or leave --layers out");
    }
    if *store == StoreChoice::ComBack {
        if !matches!(forget, ForgetChoice::Nothing | ForgetChoice::Sweep(None)) {
            return refuse(
                "the backedges of a ComBack store lead through every state, so that none may be dropped",
                "use --forget none or --forget sweep, or --store table",
            );
        }
        if *reduce == ReduceChoice::PersistentSleep {
            return refuse(
                "sleep sets come back to states that were expanded, whose backedges are fixed by then",
                "use --reduce por, or --store table",
            );
        }
        if options.backedges == BackedgeChoice::States && *reduce != ReduceChoice::Nothing {
            return refuse(
                "backedges without events need all successors of a state to tell them apart, and a reduction leaves some out",
                "use --backedges events, or --reduce none",
            );
        }
    } else if options.cached.is_some() || options.backedges != BackedgeChoice::Events {
        return refuse("--cache and --backedges are for a ComBack store", "add --store comback, or leave them out");
    }
    if store.gives_numbers() {
        return None;
    }
    if matches!(store, StoreChoice::Disk(_)) && (!by_level || options.audit || options.threads > 1) {
        return refuse(
            "sorted files are searched level by level, by one thread",
            "use --order bfs --threads 1, without --audit",
        );
    }
    if !by_level && order != OrderChoice::DepthFirst {
        return refuse(
            format!("store {store} gives states no numbers, which order {order} goes by"),
            "use --order bfs or dfs, or --store table or collapse",
        );
    }
    if *forget != ForgetChoice::Nothing {
        return refuse(
            format!("store {store} gives states no numbers, by which forgetting method {forget} knows them"),
            "use --forget none, or --store table or collapse",
        );
    }
    if swaps(*reduce) || options.visits.is_some() {
        return refuse(
            format!("reduction {reduce} and limits on visits do not go with store {store}"),
            "use --reduce por, or --store table or collapse",
        );
    }
    if options.in_degrees {
        return refuse(format!("store {store} does not know which state was reached again"), "use --store table");
    }
    None
}

/// What can be saved and taken up again.
fn saving(options: &Options, order: OrderChoice, store: &StoreChoice) -> Option<Refusal> {
    if options.checkpoint.is_none() && options.resume.is_none() {
        return None;
    }
    let whole = options.forget == ForgetChoice::Nothing && options.reduce == ReduceChoice::Nothing;
    if !whole || options.visits.is_some() {
        return refuse(
            "a search that forgets states, leaves events out or has a limit on visits cannot be saved",
            "leave out --forget, --reduce and --max-visits, or --checkpoint and --resume",
        );
    }
    if matches!(store, StoreChoice::Disk(_)) || !store.is_exact() {
        return refuse(
            format!("a search in store {store} cannot be saved"),
            "use --store table, tree, collapse, dfa or comback",
        );
    }
    match order {
        OrderChoice::BreadthFirst => None,
        OrderChoice::DepthFirst if *store == StoreChoice::Table || !store.gives_numbers() => None,
        _ => refuse(
            format!("a search in order {order} with store {store} cannot be saved"),
            "use --order bfs, or --order dfs with --store table, tree or dfa",
        ),
    }
}

/// What a search is guided by, and what it is for.
fn guides(options: &Options, order: OrderChoice) -> Option<Refusal> {
    let sweeps = matches!(options.forget, ForgetChoice::Sweep(_));
    let by_progress = order == OrderChoice::Progress;
    if sweeps && !by_progress {
        return Some(Refusal::new(
            format!("the sweep-line explores states by progress and cannot follow order {order}"),
            "leave --order out",
        ));
    }
    if by_progress && options.progress.is_none() {
        return refuse(
            "exploring by progress needs a progress measure",
            "add --progress EXPR, such as --progress 'sent + received', or --progress auto",
        );
    }
    if options.progress.is_some() && !by_progress {
        return refuse(
            "the progress measure would not be used",
            "add --forget sweep or --order progress, or leave it out",
        );
    }
    let best = matches!(order, OrderChoice::Best { .. });
    if best && options.heuristic.is_none() {
        return refuse("best-first order needs a heuristic", "add --heuristic EXPR: states with low values come first");
    }
    if options.heuristic.is_some() && !best {
        return refuse("the heuristic would not be used", "add --order best, or leave it out");
    }
    None
}

/// Whose graph can be written down.
fn graphs(options: &Options, order: OrderChoice, store: &StoreChoice) -> Option<Refusal> {
    if !options.graph {
        return None;
    }
    if options.threads > 1 || options.reduce != ReduceChoice::Nothing {
        return refuse(
            "the graph is written by one thread that explores every event",
            "leave --threads and --reduce out, or --graph",
        );
    }
    if !store.gives_numbers() || options.disk.is_some() {
        return refuse("the graph is written from a store with numbers", "use --store table or collapse");
    }
    if options.checkpoint.is_some() || options.resume.is_some() {
        return refuse("the graph is not saved with a search", "leave out --graph, or --checkpoint and --resume");
    }
    match options.forget {
        ForgetChoice::Nothing if order == OrderChoice::BreadthFirst => None,
        ForgetChoice::Sweep(None) => None,
        _ => refuse(
            "the graph is written level by level, or behind the sweep-line",
            "use --order bfs without --forget, or --forget sweep",
        ),
    }
}

fn forgetting(options: &Options, order: OrderChoice) -> Option<Refusal> {
    let Options { forget, reduce, chains, .. } = options;
    let caches = matches!(forget, ForgetChoice::Cache(_) | ForgetChoice::Sweep(Some(_)));
    let pseudo_root = matches!(forget, ForgetChoice::PseudoRoot(_));
    if order == OrderChoice::Releasing && !pseudo_root {
        return refuse("order release looks for states that release pseudo-root states", "add --forget pseudo-root");
    }
    if *chains && !caches {
        return refuse("--chains shortens the tree that a state cache keeps", "add --forget cache, or leave it out");
    }
    if options.stride == Some(0) {
        return refuse("a stride of 0 keeps no ancestor", "use --stride with a number from 1 to 255");
    }
    if options.stride.is_some_and(|stride| stride > 255) {
        return refuse("a stride beyond 255 is not supported", "use --stride with a number from 1 to 255");
    }
    if options.stride.is_some() && !caches {
        return refuse("--stride thins out the tree that a state cache keeps", "add --forget cache, or leave it out");
    }
    if options.reconstruct && !matches!(forget, ForgetChoice::Cache(_)) {
        return refuse(
            "--reconstruct replays states of the tree that a state cache keeps, and only there are their predecessors \
             certain to stay",
            "use --forget cache, or leave it out",
        );
    }
    if options.reconstruct && (*chains || options.stride.is_some_and(|stride| stride > 1)) {
        return refuse(
            "--reconstruct needs the very predecessor of every state of the tree, and --chains and --stride leave some out",
            "leave out these or --reconstruct",
        );
    }
    if pseudo_root && *reduce != ReduceChoice::Nothing {
        return refuse(
            format!(
                "pseudo-root states wait for every predecessor to lead to them, and reduction {reduce} leaves some of these \
                 events out: they would wait for ever"
            ),
            "use --reduce none, or --forget cache",
        );
    }
    if *reduce == ReduceChoice::PersistentSleep && *forget != ForgetChoice::Nothing {
        return refuse(
            "sleep sets belong to states that stay: a forgotten state would come back without its own",
            "use --reduce por or edge-lean, or --forget none",
        );
    }
    None
}
