//! The game of a formula: one player wants to prove it, the other to refute it.
//!
//! Whoever claims that a subformula holds answers for it. He chooses at a disjunction and on some run, the other one at a
//! conjunction and on all runs; a negation lets them change places. A formula about runs is played step by step: the claimant
//! may say that what is waited for has come, the other one may doubt what must hold meanwhile, and then one of them goes on.
//! Who could go round for ever to his own advantage wins when the run comes back to where it was; to go round to one's own
//! disadvantage is allowed, and leads nowhere.
//!
//! The claimant can win from where his claim is true, and only from there, so an engine that knows what is true plays without
//! error.

use super::check::{CtlTask, Inquiry};
use super::evidence::{Aim, aim};
use super::normal::{Kind, Operator, Table};
use super::runs::{Need, Runs, Spot, Target};
use scrimp_system::EventCode;

/// Who a player is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Prove,
    Refute,
}

impl Side {
    pub fn other(self) -> Side {
        match self {
            Side::Prove => Side::Refute,
            Side::Refute => Side::Prove,
        }
    }
}

/// What the players talk about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Topic {
    /// A subformula holds.
    Claim(usize),
    /// All of these are so.
    All(Vec<Need>),
    /// What a formula about runs waits for has not come; may what must hold meanwhile be doubted?
    Meanwhile(usize),
    /// The run of such a formula goes on.
    Onwards(usize),
    /// The claimant was right, or not: for this reason.
    Over(bool, String),
}

/// Where a game stands.
#[derive(Debug, Clone)]
struct Position {
    topic: Topic,
    spot: Spot,
    claimant: Side,
    /// The states that the run of a formula has passed.
    passed: (usize, Vec<u32>),
}

/// Something that a player can do.
#[derive(Debug, Clone)]
pub struct Choice {
    pub text: String,
    /// The event by which the run goes on, if it does.
    pub event: Option<EventCode>,
    /// The state in which the game goes on.
    pub state: Vec<u8>,
    to: Position,
}

/// What is next.
#[derive(Debug, Clone)]
pub enum Turn {
    /// This side chooses.
    Of(Side, Vec<Choice>),
    /// This side has won, for this reason.
    Won(Side, String),
}

/// A formula about runs, as its game has it.
struct Path {
    exists: bool,
    next: bool,
    /// What must hold until all of the goal do, if anything; an empty goal never comes.
    hold: Option<usize>,
    goal: Vec<usize>,
    /// Need the goal not come?
    weak: bool,
}

/// States that may be looked at before each move.
const PATIENCE: usize = 1 << 22;

pub struct Game<'r, 'a> {
    runs: Runs<'r, 'a>,
    position: Position,
    before: Vec<Position>,
    user: Side,
}

impl<'r, 'a> Game<'r, 'a> {
    /// The game of a formula that was decided, from the state that decided it; `None` where a limit is in the way, or only
    /// some runs count.
    pub fn new<'i: 'r, 'f: 'r>(task: &'r CtlTask<'a>, inquiry: Inquiry<'i, 'f>, user: Side) -> Option<Game<'r, 'a>> {
        let Inquiry { table, truth, initial, .. } = inquiry;
        if !task.fairness.is_empty() {
            return None;
        }
        let mut runs = Runs { task, table, truth, patience: PATIENCE };
        let spot = runs.initial()?.into_iter().nth(initial)?;
        let topic = Topic::Claim(table.subformulas().len().checked_sub(1)?);
        let position = Position { topic, spot, claimant: Side::Prove, passed: (usize::MAX, Vec::new()) };
        Some(Game { runs, position, before: Vec::new(), user })
    }

    /// The state in which the game stands.
    pub fn state(&self) -> &[u8] {
        &self.position.spot.state
    }

    /// What is claimed, and by whom.
    pub fn claim(&self) -> (Side, String) {
        let Position { topic, claimant, .. } = &self.position;
        let text = match topic {
            Topic::Claim(subformula) | Topic::Meanwhile(subformula) | Topic::Onwards(subformula) => {
                self.text(*subformula)
            }
            Topic::All(needs) => {
                let each = |&(subformula, value): &Need| match value {
                    true => self.text(subformula),
                    false => format!("!({})", self.text(subformula)),
                };
                needs.iter().map(each).collect::<Vec<_>>().join(" and ")
            }
            Topic::Over(_, reason) => reason.clone(),
        };
        (*claimant, text)
    }

    fn text(&self, subformula: usize) -> String {
        let table: &Table = self.runs.table;
        let names = self.runs.task.names;
        let name = |atom: &u32| names.get(*atom as usize).cloned().unwrap_or(format!("atom {atom}"));
        table.subformulas()[subformula].formula.map(&mut |atom| name(atom)).to_string()
    }

    /// Who wins if both make no mistake from here on.
    pub fn should_win(&mut self) -> Option<Side> {
        self.runs.patience = PATIENCE;
        let position = self.position.clone();
        self.winner(&position)
    }

    /// Who wins if both make no mistake after a choice.
    pub fn after(&mut self, choice: &Choice) -> Option<Side> {
        self.runs.patience = PATIENCE;
        self.winner(&choice.to)
    }

    fn winner(&mut self, position: &Position) -> Option<Side> {
        let Position { topic, spot, claimant, .. } = position;
        let right = match topic {
            Topic::Claim(subformula) => self.runs.holds(*subformula, spot)?,
            Topic::All(needs) => self.runs.meets(needs, spot)?,
            Topic::Meanwhile(subformula) => {
                let hold = self.path(*subformula)?.hold;
                let meanwhile = match hold {
                    Some(hold) => self.runs.holds(hold, spot)?,
                    None => true,
                };
                meanwhile && self.can_go_on(*subformula, spot)?
            }
            Topic::Onwards(subformula) => self.can_go_on(*subformula, spot)?,
            Topic::Over(right, _) => *right,
        };
        Some(if right { *claimant } else { claimant.other() })
    }

    /// Is a formula about runs true by what comes after a state?
    fn can_go_on(&mut self, subformula: usize, spot: &Spot) -> Option<bool> {
        let path = self.path(subformula)?;
        let claim = if path.next { *path.goal.first()? } else { subformula };
        let successors = self.runs.successors(spot)?;
        if successors.is_empty() {
            return Some(path.at_the_end());
        }
        for (_, next) in successors {
            if self.runs.holds(claim, &next)? == path.exists {
                return Some(path.exists);
            }
        }
        Some(!path.exists)
    }

    fn path(&self, subformula: usize) -> Option<Path> {
        let table: &Table = self.runs.table;
        let Kind::Path { exists, operator, operands } = &table.subformulas()[subformula].kind else { return None };
        let (a, b) = (operands[0], operands[operands.len() - 1]);
        let (hold, goal, weak) = match operator {
            Operator::Next | Operator::Finally => (None, vec![a], false),
            Operator::Globally => (Some(a), vec![], true),
            Operator::Until => (Some(a), vec![b], false),
            Operator::WeakUntil => (Some(a), vec![b], true),
            Operator::Release => (Some(b), vec![a, b], true),
            Operator::StrongRelease => (Some(b), vec![a, b], false),
        };
        Some(Path { exists: *exists, next: *operator == Operator::Next, hold, goal, weak })
    }

    /// What is next; what leaves no choice is done at once.
    pub fn turn(&mut self) -> Option<Turn> {
        self.runs.patience = PATIENCE;
        loop {
            let claimant = self.position.claimant;
            if let Topic::Over(right, reason) = &self.position.topic {
                let winner = if *right { claimant } else { claimant.other() };
                return Some(Turn::Won(winner, reason.clone()));
            }
            let (side, mut choices) = self.choices()?;
            match choices.len() {
                // Who must choose and cannot has lost.
                0 => self.position.topic = Topic::Over(side != claimant, "there is nothing to choose".into()),
                1 if choices[0].event.is_none() => self.position = choices.remove(0).to,
                _ => return Some(Turn::Of(side, choices)),
            }
        }
    }

    /// What can be done, and who does it.
    fn choices(&mut self) -> Option<(Side, Vec<Choice>)> {
        let here = self.position.clone();
        let (claimant, doubter) = (here.claimant, here.claimant.other());
        let table: &Table = self.runs.table;
        let to = |topic: Topic, text: String| {
            let to = Position { topic, ..here.clone() };
            Choice { text, event: None, state: here.spot.state.clone(), to }
        };
        let claim = |(subformula, value): Need| {
            let text = self.text(subformula);
            match value {
                true => to(Topic::Claim(subformula), format!("{text} holds")),
                false => {
                    let mut choice = to(Topic::Claim(subformula), format!("{text} does not hold"));
                    choice.to.claimant = doubter;
                    choice
                }
            }
        };
        let doubt = |need: Need| {
            let choice = claim(need);
            Choice { text: format!("doubt that {}", choice.text), ..choice }
        };
        Some(match &here.topic {
            Topic::Claim(subformula) => match &table.subformulas()[*subformula].kind {
                _ if table.subformulas()[*subformula].formula.is_state() => {
                    let holds = self.runs.holds(*subformula, &here.spot)?;
                    let text = self.text(*subformula);
                    let reason =
                        if holds { format!("{text} holds here") } else { format!("{text} does not hold here") };
                    (claimant, vec![to(Topic::Over(holds, reason), String::new())])
                }
                Kind::Leaf => (claimant, Vec::new()),
                Kind::Not(a) => (claimant, vec![claim((*a, false))]),
                Kind::And(all) => (doubter, all.iter().map(|&a| doubt((a, true))).collect()),
                Kind::Or(all) => (claimant, all.iter().map(|&a| claim((a, true))).collect()),
                Kind::Implies(a, b) => (claimant, vec![claim((*a, false)), claim((*b, true))]),
                Kind::Equivalent(a, b) => {
                    let both = |value: bool| Topic::All(vec![(*a, value), (*b, value)]);
                    (claimant, vec![to(both(true), "both hold".into()), to(both(false), "neither holds".into())])
                }
                Kind::Path { .. } => {
                    let path = self.path(*subformula)?;
                    if path.next {
                        return Some((claimant, vec![to(Topic::Onwards(*subformula), String::new())]));
                    }
                    let goal: Vec<Need> = path.goal.iter().map(|&goal| (goal, true)).collect();
                    let mut choices = Vec::new();
                    if !goal.is_empty() {
                        let names: Vec<String> = path.goal.iter().map(|&goal| self.text(goal)).collect();
                        choices.push(to(Topic::All(goal), format!("stop here: {} holds", names.join(" and "))));
                    }
                    choices.push(to(Topic::Meanwhile(*subformula), "go on".into()));
                    (claimant, choices)
                }
            },
            Topic::All(needs) => (doubter, needs.iter().map(|&need| doubt(need)).collect()),
            Topic::Meanwhile(subformula) => {
                let mut choices: Vec<Choice> =
                    self.path(*subformula)?.hold.iter().map(|&hold| doubt((hold, true))).collect();
                choices.push(to(Topic::Onwards(*subformula), "let it pass".into()));
                (doubter, choices)
            }
            Topic::Onwards(subformula) => return self.steps(*subformula),
            Topic::Over(..) => (claimant, Vec::new()),
        })
    }

    /// How the run of a formula can go on, and who decides that.
    fn steps(&mut self, subformula: usize) -> Option<(Side, Vec<Choice>)> {
        let here = self.position.clone();
        let path = self.path(subformula)?;
        let driver = if path.exists { here.claimant } else { here.claimant.other() };
        let mut passed = if here.passed.0 == subformula { here.passed.1.clone() } else { Vec::new() };
        passed.push(here.spot.place);
        let successors = self.runs.successors(&here.spot)?;
        if successors.is_empty() {
            let text = "the run ends here".to_string();
            let topic = Topic::Over(path.at_the_end(), text.clone());
            let to = Position { topic, ..here.clone() };
            return Some((driver, vec![Choice { text, event: None, state: here.spot.state, to }]));
        }
        // To go round for ever is good for the claimant where the goal need not come. Who lets the run go round to his own
        // disadvantage is stopped only if nobody else would.
        let round = path.exists == path.weak || driver != self.user;
        let mut choices = Vec::with_capacity(successors.len());
        for (event, next) in successors {
            let back = passed.contains(&next.place);
            let topic = match path.next {
                true => Topic::Claim(*path.goal.first()?),
                false if back && round => Topic::Over(path.weak, "so the run is infinite".into()),
                false => Topic::Claim(subformula),
            };
            let text = if back && !path.next { "back to where the run was".into() } else { String::new() };
            let (state, passed) = (next.state.clone(), (subformula, passed.clone()));
            let to = Position { topic, spot: next, claimant: here.claimant, passed };
            choices.push(Choice { text, event: Some(event), state, to });
        }
        Some((driver, choices))
    }

    /// Makes a choice.
    pub fn play(&mut self, choice: &Choice) {
        self.before.push(std::mem::replace(&mut self.position, choice.to.clone()));
    }

    /// How many choices were made.
    pub fn made(&self) -> usize {
        self.before.len()
    }

    /// Takes choices back until only so many are made.
    pub fn undo(&mut self, made: usize) {
        if let Some(position) = self.before.get(made).cloned() {
            self.position = position;
            self.before.truncate(made);
        }
    }

    /// The best choice for a side, by its number, and whether it wins.
    pub fn best(&mut self, side: Side, choices: &[Choice]) -> Option<(usize, bool)> {
        self.runs.patience = PATIENCE;
        if let Some(step) = self.shortest_way(side, choices) {
            return Some((step, true));
        }
        for (i, choice) in choices.iter().enumerate() {
            if self.winner(&choice.to)? == side {
                return Some((i, true));
            }
        }
        // There is nothing to win: what goes on longest gives the other one most to do wrong.
        let goes_on = |choice: &Choice| !matches!(choice.to.topic, Topic::Over(..));
        Some((choices.iter().rposition(goes_on).unwrap_or(choices.len().checked_sub(1)?), false))
    }

    /// The step of a run that shows most quickly what a side wants to show.
    fn shortest_way(&mut self, side: Side, choices: &[Choice]) -> Option<usize> {
        let here = self.position.clone();
        let Topic::Onwards(subformula) = here.topic else { return None };
        let winning = self.winner(&here)? == side;
        let right = side == here.claimant;
        let ends = choices.iter().position(|choice| matches!(choice.to.topic, Topic::Over(won, _) if won == right));
        if ends.is_some() || !winning {
            return ends;
        }
        let table: &Table = self.runs.table;
        let Kind::Path { exists, operator, operands } = &table.subformulas()[subformula].kind else { return None };
        let itself = (subformula, *exists);
        let steps = match aim(*exists, *operator, operands) {
            Aim::Next(_) => return None,
            Aim::Until(hold, goal) => self.runs.shortest(&here.spot, &hold, &Target::Needs(&goal))??,
            Aim::Weak(mut hold, goal) => {
                let comes = match &goal {
                    Some(goal) => self.runs.shortest(&here.spot, &hold, &Target::Needs(goal))?,
                    None => None,
                };
                hold.push(itself);
                match comes {
                    Some(steps) => steps,
                    None => self.runs.for_ever(&here.spot, &hold)?.steps,
                }
            }
        };
        let (event, next) = steps.first()?;
        let same = |choice: &Choice| choice.event == Some(*event) && choice.to.spot == *next;
        let step = choices.iter().position(same)?;
        (self.winner(&choices[step].to)? == side).then_some(step)
    }
}

impl Path {
    /// Is it true where the run ends?
    fn at_the_end(&self) -> bool {
        if self.next { !self.exists } else { self.weak }
    }
}
