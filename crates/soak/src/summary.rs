//! What was done, in figures.

use crate::case::{Judged, Outcome};
use crate::coverage::Written;
use crate::matrix::Tally;
use std::collections::BTreeMap;
use std::fmt;

/// What came of the models of one language.
pub struct OfLanguage {
    pub name: &'static str,
    pub models: u64,
    pub agreed: u64,
    pub written: Option<Written>,
    pub tally: Tally,
    /// Models that the oracle could not judge, or did not take: why, and how many.
    pub incomparable: BTreeMap<String, u64>,
    pub refused: BTreeMap<String, u64>,
    /// What was found, each with how to come back to it.
    pub findings: Vec<String>,
}

/// The whole.
#[derive(Default)]
pub struct Summary {
    pub languages: Vec<OfLanguage>,
}

impl Summary {
    /// Notes what came of a case; `again` are the words that take it once more.
    pub fn note(&mut self, name: &'static str, judged: Judged, again: &str) {
        let place = self.languages.iter().position(|known| known.name == name).unwrap_or_else(|| {
            self.languages.push(OfLanguage {
                name,
                models: 0,
                agreed: 0,
                written: None,
                tally: Tally::default(),
                incomparable: BTreeMap::new(),
                refused: BTreeMap::new(),
                findings: Vec::new(),
            });
            self.languages.len() - 1
        });
        let of = &mut self.languages[place];
        of.models += 1;
        of.tally.add(&judged.tally);
        match &mut of.written {
            Some(written) => written.add(&judged.written),
            none => *none = Some(judged.written),
        }
        match judged.outcome {
            Outcome::Agreed => of.agreed += 1,
            Outcome::Incomparable(why) => *of.incomparable.entry(why).or_default() += 1,
            Outcome::Refused(why) => *of.refused.entry(why).or_default() += 1,
            Outcome::Wrong(finding) => of.findings.push(format!("{again}: {}", finding.what)),
        }
    }

    pub fn findings(&self) -> usize {
        self.languages.iter().map(|of| of.findings.len()).sum()
    }

    pub fn models(&self) -> u64 {
        self.languages.iter().map(|of| of.models).sum()
    }
}

/// The most frequent ones, with their numbers.
fn list(f: &mut fmt::Formatter<'_>, what: &str, reasons: &BTreeMap<String, u64>) -> fmt::Result {
    let mut reasons: Vec<(&String, &u64)> = reasons.iter().collect();
    reasons.sort_by_key(|(_, often)| std::cmp::Reverse(**often));
    let all: u64 = reasons.iter().map(|(_, often)| **often).sum();
    if all > 0 {
        writeln!(f, "  {all} {what}")?;
    }
    reasons.iter().take(12).try_for_each(|(why, often)| writeln!(f, "    {often} {}", why.replace('\n', " ")))
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for of in &self.languages {
            let (covered, possible) = of.written.as_ref().map_or((0, 0), Written::covered);
            writeln!(f, "{}: {} models, {} agree, {} findings", of.name, of.models, of.agreed, of.findings.len())?;
            writeln!(f, "  {covered} of {possible} pairs of productions")?;
            let Tally { configurations, comparisons, replayed, .. } = of.tally;
            writeln!(f, "  {configurations} configurations, {comparisons} comparisons, {replayed} runs replayed")?;
            list(f, "models that the oracle cannot judge", &of.incomparable)?;
            list(f, "models that the oracle does not take", &of.refused)?;
            list(f, "searches left out", &of.tally.left_out)?;
        }
        for finding in self.languages.iter().flat_map(|of| &of.findings) {
            writeln!(f, "FOUND {finding}")?;
        }
        write!(f, "{} models, {} findings", self.models(), self.findings())
    }
}
