//! What a measure may be made of: every cell that changes, up or down or by a ranking of its values, and sums of cells
//! that belong together; and the measure that the model brings along.

use crate::component::{Cell, Component, Ranks, Term};
use crate::estimate::Probes;
use crate::given::given;
use crate::rank::Steps;
use crate::sample::Sample;
use scrimp_system::{Layout, Role, System, VarId};
use std::collections::BTreeMap;

/// Cells looked at; of more only the first are.
const MOST_CELLS: usize = 600;
/// Values up to which a cell gets a ranking.
const MOST_VALUES: usize = 128;
/// Distance from the least to the largest value of a ranking, which has a table for them.
const MOST_DISTANCE: u64 = 1 << 15;
/// Components whose share of regress edges is above this by themselves are of no use anywhere.
const HOPELESS: f64 = 0.4;

/// A component with its value in each member of the probes.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub component: Component,
    /// Ranks among the values that occur.
    pub column: Vec<u32>,
    /// How many there are.
    pub width: u32,
}

pub struct Candidates<'a> {
    pub system: &'a System,
    pub layout: &'a Layout,
    pub sample: &'a Sample,
    pub probes: &'a Probes,
    /// How many may be kept.
    pub most: usize,
    pub found: Vec<Candidate>,
}

/// A cell that changes, with the ranks of its values.
struct Seen {
    cell: Cell,
    raw: Term,
    values: Vec<i64>,
    steps: Option<Steps>,
}

impl Candidates<'_> {
    pub fn collect(&mut self) {
        if let Some(component) = given(self.system, self.layout) {
            self.keep(component);
        }
        let seen = self.seen();
        for one in &seen {
            let control = matches!(self.system.variables[one.cell.variable.index()].role, Role::Control(_));
            if !control {
                self.offer(vec![one.raw.clone()]);
                self.offer(vec![Term { weight: -1, ..one.raw.clone() }]);
            }
            if let Some(steps) = &one.steps {
                self.offer_ranking(one, steps.components());
                self.offer_ranking(one, steps.order());
            }
        }
        self.sums(&seen);
    }

    fn seen(&self) -> Vec<Seen> {
        let mut found = Vec::new();
        let variables = (0..self.system.variables.len() as u32).map(VarId);
        let cells = variables.flat_map(|variable| {
            let cells = self.system.variables[variable.index()].cells() as u32;
            (0..cells).map(move |index| Cell { variable, index })
        });
        for cell in cells {
            if found.len() >= MOST_CELLS {
                break;
            }
            let raw = Term::new(self.system, self.layout, cell, 1, None);
            let read = |member: &u32| raw.raw(self.sample.state(*member as usize));
            let column: Vec<i64> = self.probes.members.iter().map(read).collect();
            let mut values = column.clone();
            values.sort_unstable();
            values.dedup();
            if values.len() < 2 {
                continue;
            }
            let rankable = values.len() <= MOST_VALUES && values[0].abs_diff(values[values.len() - 1]) < MOST_DISTANCE;
            let steps = rankable.then(|| self.steps(&column, &values));
            found.push(Seen { cell, raw, values, steps });
        }
        found
    }

    fn steps(&self, column: &[i64], values: &[i64]) -> Steps {
        let number = |value: i64| values.binary_search(&value).unwrap_or(0);
        let mut steps = Steps::new(values.len());
        let mut counts = vec![0.0; values.len()];
        for (at, &value) in column.iter().enumerate() {
            let value = number(value);
            counts[value] += 1.0;
            steps.depth[value] += self.sample.depth(self.probes.members[at] as usize) as f64;
        }
        steps.depth.iter_mut().zip(&counts).for_each(|(depth, count)| *depth /= f64::max(*count, 1.0));
        for (from, to) in self.probes.edges() {
            if column[from] != column[to] {
                steps.add(number(column[from]), number(column[to]), 1.0);
            }
        }
        steps
    }

    fn offer_ranking(&mut self, one: &Seen, ranks: Vec<u32>) {
        let ranks = table(&one.values, &ranks);
        self.offer(vec![Term { ranks: Some(ranks), ..one.raw.clone() }]);
    }

    /// Sums over cells that have the same name in several processes, over arrays, and over locations of processes alike.
    fn sums(&mut self, seen: &[Seen]) {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, one) in seen.iter().enumerate() {
            let variable = &self.system.variables[one.cell.variable.index()];
            let process = match (variable.role, variable.owner) {
                (Role::Control(p), _) | (_, Some(p)) => Some(p),
                _ => None,
            };
            let stem = process.map_or("", |p| stem(&self.system.processes[p.index()].name));
            let key = match variable.role {
                Role::Control(p) => format!("{stem} at {}", self.system.processes[p.index()].locations.len()),
                _ => format!("{stem}.{}", stem_of(&variable.name)),
            };
            groups.entry(key).or_default().push(number);
            if variable.role == Role::Channel && variable.length.is_none() {
                groups.entry("channels".into()).or_default().push(number);
            }
        }
        for members in groups.values().filter(|members| members.len() > 1) {
            let terms = |weight: i64| members.iter().map(|&m| Term { weight, ..seen[m].raw.clone() }).collect();
            let first = &self.system.variables[seen[members[0]].cell.variable.index()];
            if !matches!(first.role, Role::Control(_)) {
                self.offer(terms(1));
                self.offer(terms(-1));
            }
            // One ranking for all, from the steps of all.
            let mut values: Vec<i64> = members.iter().flat_map(|&m| seen[m].values.iter().copied()).collect();
            values.sort_unstable();
            values.dedup();
            let distance = values[0].abs_diff(values[values.len() - 1]);
            if values.len() > MOST_VALUES
                || distance >= MOST_DISTANCE
                || members.iter().any(|&m| seen[m].steps.is_none())
            {
                continue;
            }
            let number = |value: i64| values.binary_search(&value).unwrap_or(0);
            let mut all = Steps::new(values.len());
            for &m in members {
                let (own, steps) = (&seen[m].values, seen[m].steps.as_ref());
                let Some(steps) = steps else { continue };
                for (i, &from) in own.iter().enumerate() {
                    all.depth[number(from)] += steps.depth[i] / members.len() as f64;
                    for (j, &to) in own.iter().enumerate() {
                        all.add(number(from), number(to), steps.weight(i, j));
                    }
                }
            }
            for ranks in [all.components(), all.order()] {
                let ranks = table(&values, &ranks);
                let term = |&m: &usize| Term { ranks: Some(ranks.clone()), ..seen[m].raw.clone() };
                self.offer(members.iter().map(term).collect());
            }
        }
    }

    fn offer(&mut self, terms: Vec<Term>) {
        if self.found.len() < self.most
            && let Some(component) = Component::sum(terms, 0)
        {
            self.keep(component);
        }
    }

    /// Keeps a component unless it is constant, hopeless, or orders the members as another one does.
    fn keep(&mut self, component: Component) {
        let raw: Vec<i64> =
            self.probes.members.iter().map(|&m| component.value(self.sample.state(m as usize))).collect();
        let mut values = raw.clone();
        values.sort_unstable();
        values.dedup();
        if values.len() < 2 {
            return;
        }
        let column: Vec<u32> = raw.iter().map(|v| values.binary_search(v).unwrap_or(0) as u32).collect();
        let regress = self.probes.regress(&column);
        if regress > HOPELESS || self.found.iter().any(|other| other.column == column) {
            return;
        }
        self.found.push(Candidate { component, column, width: values.len() as u32 });
    }
}

/// The ranks of values as a table, equal neighbours closed up.
fn table(values: &[i64], ranks: &[u32]) -> Ranks {
    let (low, high) = (values[0], values[values.len() - 1]);
    let mut used: Vec<u32> = ranks.to_vec();
    used.sort_unstable();
    used.dedup();
    let mut table = vec![0; (high - low) as usize + 1];
    for (&value, rank) in values.iter().zip(ranks) {
        table[(value - low) as usize] = used.binary_search(rank).unwrap_or(0) as u32;
    }
    Ranks { low, table: table.into() }
}

/// A process's name without its instance: `P` of `P(3)` and of `P_3`.
fn stem(name: &str) -> &str {
    stem_of(name.split('(').next().unwrap_or(name))
}

fn stem_of(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    if stem.is_empty() { name } else { stem }
}
