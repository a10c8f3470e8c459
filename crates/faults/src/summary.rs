//! What came of all trials.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Default, Clone, Copy)]
struct Figures {
    trials: u64,
    kills: u64,
    faults: u64,
}

#[derive(Debug, Default)]
pub struct Summary {
    kinds: BTreeMap<&'static str, Figures>,
    pub findings: Vec<String>,
}

impl Summary {
    pub fn add(&mut self, kind: &'static str, kills: u64, faults: u64, finding: Option<String>) {
        let figures = self.kinds.entry(kind).or_default();
        *figures =
            Figures { trials: figures.trials + 1, kills: figures.kills + kills, faults: figures.faults + faults };
        self.findings.extend(finding);
    }

    fn all(&self) -> Figures {
        let add = |a: Figures, b: &Figures| Figures {
            trials: a.trials + b.trials,
            kills: a.kills + b.kills,
            faults: a.faults + b.faults,
        };
        self.kinds.values().fold(Figures::default(), add)
    }

    pub fn trials(&self) -> u64 {
        self.all().trials
    }

    pub fn kills(&self) -> u64 {
        self.all().kills
    }

    pub fn is_enough(&self, kills: u64, trials: u64) -> bool {
        let all = self.all();
        all.kills >= kills && all.trials >= trials
    }

    pub fn short(&self) -> String {
        let Figures { trials, kills, faults } = self.all();
        format!("{trials} trials, {kills} kills, {faults} faults, {} findings", self.findings.len())
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kind         trials   kills  faults")?;
        for (kind, Figures { trials, kills, faults }) in &self.kinds {
            writeln!(f, "{kind:<11} {trials:>7} {kills:>7} {faults:>7}")?;
        }
        write!(f, "{}", self.short())
    }
}
