//! Generates runs that cover a model, to drive an implementation with them: visits all states, and looks in their graph for few
//! runs that have all that is asked for.
//!
//! Every run is made by the model itself. What is said to be unreachable is so: every state was visited.

mod cover;
mod exact;
mod explore;
mod graph;
mod pairs;
mod wish;

pub use wish::Wish;

use crate::error::CheckError;
use crate::grow::with_room;
use crate::load::Loaded;
use cover::cover;
use explore::{Explored, explore};
use graph::Way;
use pairs::pairs;
use scrimp_core::budget::default_memory;
use scrimp_core::{Limit, PropertyResult};
use scrimp_native::{Mode, NativeModel};
use scrimp_net::Net;
use scrimp_report::coverage::Kind;
use scrimp_report::generated::{Cover, Covered, Pair, Status, Suite};
use scrimp_system::Stop;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wish::Wanted;

/// Of the time that is left, these parts are for visiting states, in percent: where pairs of them are visited as well, and else. The
/// rest is for finding runs.
const BEFORE_PAIRS: u32 = 50;
const VISITING: u32 = 75;

/// Generates runs; answers the model that has room for what was met, too. The claim of a model is no part of it.
pub fn generate(mut loaded: Loaded, wish: &Wish, mode: Mode) -> Result<(Arc<NativeModel>, Suite), CheckError> {
    let (begun, stop) = (Instant::now(), loaded.stop().clone());
    loaded.take_claim()?;
    wish.admit(&loaded)?;
    let net = loaded.net.as_ref().map(|net| net.net.clone());
    let memory = wish.memory.unwrap_or_else(default_memory);
    let watched = |mut model: NativeModel| {
        model.watch_events();
        model
    };
    let make = |system| NativeModel::new(system, mode).map(watched);
    let (model, mut suite) = with_room(&mut loaded, None, &make, &mut |_| {}, |_, model| {
        Generator { model, net: net.as_deref(), wish, memory, stop: &stop }.suite()
    })?;
    suite.elapsed = begun.elapsed();
    Ok((model, suite))
}

struct Generator<'a> {
    model: &'a NativeModel,
    net: Option<&'a Net>,
    wish: &'a Wish,
    memory: usize,
    stop: &'a Stop,
}

impl Generator<'_> {
    fn suite(&self) -> Result<Suite, CheckError> {
        let mut wanted = self.wish.of(self.model, self.net)?;
        let part = if self.wish.cover == Cover::Pairs { BEFORE_PAIRS } else { VISITING };
        let mut explored = explore(self.model, &mut wanted, self.memory, &self.within(part))?;
        let items = wanted.items.len();
        let (mut limit, mut known) = (explored.limit, Vec::new());
        let (ways, fewest) = if self.wish.cover == Cover::Pairs {
            let mut both = pairs(&explored.graph, self.memory, &self.within(VISITING))?;
            limit = limit.or(both.limit);
            let (ways, fewest) = cover(&mut both.graph, both.pairs.len(), limit.is_none(), self.stop);
            known = both.pairs.iter().map(|&(first, second)| pair(first, second)).collect();
            for (number, way) in (1..).zip(&ways) {
                let all = way.steps.iter().flat_map(|(_, set)| both.graph.items(*set));
                all.for_each(|&pair| note(&mut known[pair as usize].runs, number));
            }
            (ways.iter().map(|way| Way { steps: both.through_states(&way.steps) }).collect(), fewest)
        } else {
            cover(&mut explored.graph, items, limit.is_none(), self.stop)
        };
        let mut runs_of: Vec<Vec<usize>> = vec![Vec::new(); items];
        for (number, way) in (1..).zip(&ways) {
            let all = way.steps.iter().flat_map(|(_, set)| explored.graph.items(*set));
            all.for_each(|&item| note(&mut runs_of[item as usize], number));
        }
        let runs = self.runs(&mut explored, &mut wanted, &ways)?;
        let possible = self.possible(&wanted, limit);
        // What the graph has and no run covers is in no pair.
        let mut met = vec![false; items];
        let sets = (0..explored.graph.sets()).flat_map(|set| explored.graph.items(set));
        sets.for_each(|&item| met[item as usize] = true);
        let status = |item: usize, runs: &[usize]| match (runs.is_empty(), possible[item]) {
            (false, _) => Status::Covered,
            (true, false) => Status::Unreachable,
            (true, true) if limit.is_none() && met[item] => Status::Alone,
            (true, true) => Status::NotReached,
        };
        let covered = wanted.items.iter().zip(runs_of).enumerate();
        let covered = covered.map(|(number, (item, runs))| {
            let status = status(number, &runs);
            Covered { item: item.clone(), status, runs }
        });
        Ok(Suite {
            cover: self.wish.cover,
            kind: self.kind(&wanted),
            items: covered.collect(),
            pairs: known,
            runs,
            fewest,
            states: explored.graph.nodes().into(),
            transitions: explored.graph.edges().into(),
            limit,
            elapsed: Duration::ZERO,
        })
    }

    /// Until when something is done that may take this part of the time that is left, in percent.
    fn within(&self, part: u32) -> Stop {
        match self.stop.deadline() {
            None => self.stop.clone(),
            Some(end) => self.stop.within(end.saturating_duration_since(Instant::now()) * part / 100),
        }
    }

    /// The runs, with all their states.
    fn runs(
        &self,
        explored: &mut Explored,
        wanted: &mut Wanted,
        ways: &[Way],
    ) -> Result<Vec<PropertyResult>, CheckError> {
        let mut runs = Vec::with_capacity(ways.len());
        for (number, way) in (1..).zip(ways) {
            let trace = explored.replayed(self.model, wanted, &way.steps);
            let trace =
                trace.ok_or_else(|| io::Error::other("internal error: the model does not make a run that it has"))?;
            let mut run = PropertyResult::undecided(format!("run {number}"));
            run.trace = Some(trace);
            runs.push(run);
        }
        Ok(runs)
    }

    /// Which items may still be in some run: all, unless every state was visited.
    fn possible(&self, wanted: &Wanted, limit: Option<Limit>) -> Vec<bool> {
        match (limit, self.wish.cover) {
            (Some(_), _) => vec![true; wanted.items.len()],
            (None, Cover::Goals) => wanted.doubted.clone(),
            // What is executed on the way to a run-time error is in no run, and not unreachable.
            (None, _) => wanted.executed(&self.model.happened()),
        }
    }

    fn kind(&self, wanted: &Wanted) -> &'static str {
        match self.wish.cover {
            Cover::Goals => "goal",
            _ => wanted.kind.map_or("transition", Kind::word),
        }
    }
}

fn pair(first: u32, second: u32) -> Pair {
    Pair { first: first as usize, second: second as usize, runs: Vec::new() }
}

/// Adds a number to a list in order, once.
fn note(numbers: &mut Vec<usize>, number: usize) {
    if numbers.last() != Some(&number) {
        numbers.push(number);
    }
}
