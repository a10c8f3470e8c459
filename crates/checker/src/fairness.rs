//! The processes that runs are to be fair to.
//!
//! A process is enabled where it can begin something. It moves where it takes part in something: in a rendezvous, both do.

use scrimp_search::liveness::MOST_MARKS;
use scrimp_search::{FairnessChoice, FairnessKind};
use scrimp_system::{Event, System};
use scrimp_temporal::Marks;
use std::collections::HashMap;

/// The processes that fairness is about, the one that begins each event, and those that take part in it.
pub struct FairProcesses {
    /// How many runs must be weakly fair to, and strongly.
    pub weak: usize,
    pub strong: usize,
    /// For each event, the bit of the process that begins it: those of weak fairness come first.
    pub begins: Vec<Marks>,
    /// For each event, the bits of all that take part.
    pub moves: Vec<Marks>,
    /// For each event, the bits of all that may take part in it and in what is run as one with it.
    pub may_move: Vec<Marks>,
}

impl FairProcesses {
    /// Fails where there are none, or too many, or where there is no process of a name.
    pub fn new(system: &System, choice: &FairnessChoice) -> Result<FairProcesses, String> {
        // What several do together can be done where the one who begins can: of a message, its sender.
        let first = |event: &Event| event.moves.first().map(|m| m.process.index());
        let mut kinds: Vec<Option<FairnessKind>> = vec![choice.everyone; system.processes.len()];
        for (kind, name) in &choice.chosen {
            let named = named(system, name)?;
            named.into_iter().for_each(|process| kinds[process] = kinds[process].max(Some(*kind)));
        }
        let mut moves = vec![false; system.processes.len()];
        system.events.iter().filter_map(first).for_each(|process| moves[process] = true);
        for (_, name) in &choice.chosen {
            if !named(system, name)?.into_iter().any(|process| moves[process]) {
                let why = "an event of several processes belongs to the one that begins it";
                return Err(format!("process `{name}` has no event of its own to be fair to: {why}"));
            }
        }
        let mut bits: Vec<Marks> = vec![0; system.processes.len()];
        let (mut counts, mut next) = ([0; 2], 0);
        for (count, kind) in counts.iter_mut().zip([FairnessKind::Weak, FairnessKind::Strong]) {
            for process in (0..bits.len()).filter(|&process| moves[process] && kinds[process] == Some(kind)) {
                bits[process] = 1u64.checked_shl(next).unwrap_or(0);
                next += 1;
                *count += 1;
            }
        }
        let [weak, strong] = counts;
        // Two marks are for the formula.
        let most = MOST_MARKS - 2;
        match weak + 2 * strong {
            0 if choice.chosen.is_empty() => Err("the model has no processes to be fair to".into()),
            marks if marks > most && strong > 0 => {
                Err(format!("strong fairness of {strong} processes is not supported, only of {}", most / 2))
            }
            marks if marks > most => Err(format!("fairness of {weak} processes is not supported, only of {most}")),
            _ => {
                let begins = |event: &Event| first(event).map_or(0, |process| bits[process]);
                let moves = |event: &Event| event.moves.iter().fold(0, |all, m| all | bits[m.process.index()]);
                let (begins, moves): (_, Vec<Marks>) = system.events.iter().map(|e| (begins(e), moves(e))).unzip();
                let may_move = with_followers(system, &moves);
                Ok(FairProcesses { weak, strong, begins, moves, may_move })
            }
        }
    }
}

/// The bits of each event and of all that may be run as one with it, after it.
fn with_followers(system: &System, moves: &[Marks]) -> Vec<Marks> {
    // Where the process goes on that holds the others up: those events may come next.
    let mut by_location: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
    for (number, event) in system.events.iter().enumerate() {
        if let Some(m) = event.moves.first() {
            by_location.entry((m.process.0, m.from)).or_default().push(number);
        }
    }
    let followed_by = |event: &Event, all: &[Marks]| {
        let Some(process) = event.then.exclusive() else { return 0 };
        let control = system.processes[process.index()].control;
        match event.moves.iter().rfind(|m| m.process == process) {
            Some(m) if event.effects.iter().all(|effect| effect.target != control) => {
                let next = by_location.get(&(process.0, m.to)).into_iter().flatten();
                next.fold(0, |marks, follower| marks | all[*follower])
            }
            _ => Marks::MAX,
        }
    };
    let mut all = moves.to_vec();
    loop {
        let before = all.clone();
        for (number, event) in system.events.iter().enumerate() {
            all[number] |= followed_by(event, &all);
        }
        if all == before {
            return all;
        }
    }
}

/// The process of this name, or all those that have it before an underscore and a number, as `P_0` and `P_1` have `P`.
fn named(system: &System, name: &str) -> Result<Vec<usize>, String> {
    let numbered = |own: &str| {
        let number = own.strip_prefix(name).and_then(|rest| rest.strip_prefix('_'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let which = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..system.processes.len()).filter(|&process| fits(&system.processes[process].name)).collect()
    };
    let exact = which(&|own| own == name);
    let found = if exact.is_empty() { which(&numbered) } else { exact };
    if found.is_empty() {
        let names: Vec<&str> = system.processes.iter().map(|process| process.name.as_str()).take(12).collect();
        // `P` stands for all that are called P and a number.
        let common =
            |own: &'_ str| own.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_').to_string();
        let bases: Vec<String> = system.processes.iter().map(|process| common(&process.name)).collect();
        let known = names.iter().copied().chain(bases.iter().map(String::as_str));
        return Err(match scrimp_core::nearest(name, known) {
            Some(near) => format!("unknown process `{name}`\nhelp: did you mean `{near}`?"),
            None => format!("unknown process `{name}`; the model has {}", names.join(", ")),
        });
    }
    Ok(found)
}
