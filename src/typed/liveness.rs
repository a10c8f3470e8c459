//! Formulas about runs of a typed model.

use super::answer::Search;
use super::checker::{Asked, CheckerError, Kind, plan, sound};
use super::formula::evaluated;
use super::learnt::Learnt;
use scrimp_core::never::negation_within;
use scrimp_core::{Predicate, Property, PropertyKind, Verdict};
use scrimp_search::ctl::{self, CtlTask, FirstFault};
use scrimp_search::liveness::{self, Fairness, Question};
use scrimp_search::{FairnessChoice, FairnessKind, Options};
use scrimp_system::Expr;
use scrimp_temporal::{Formula, Marks};
use scrimp_typed::{Encoded, Holds, TypedModel};
use std::time::{Duration, Instant};

/// Marks that processes may take: two are for the formula.
const MOST: usize = liveness::MOST_MARKS - 2;

/// Is what is asked refused, if it is about runs?
pub(super) fn planned<M: TypedModel>(
    encoded: &Encoded<M>,
    asked: &Asked<M>,
    options: &Options,
) -> Result<(), CheckerError> {
    let kind: PropertyKind<Expr> = match &asked.kind {
        Kind::Ltl(formula, _) => PropertyKind::Ltl(formula.clone()),
        Kind::Ctl(formula, _) => PropertyKind::Ctl(formula.clone()),
        _ => return Ok(()),
    };
    let linear = matches!(kind, PropertyKind::Ltl(_));
    let options = if linear { of_runs(options) } else { options.clone() };
    plan(&options, &[Property::new(&asked.name, kind)], encoded).map(drop)
}

/// The options of a search for infinite runs.
fn of_runs(options: &Options) -> Options {
    Options { store: options.store.clone().filter(|_| options.fair.is_empty()), ..options.clone() }
}

/// Does a formula of linear time hold on every run? `whole` says whether every state has been visited.
pub(super) fn linear<M: TypedModel>(
    (encoded, learnt): (&Encoded<M>, &Learnt<M>),
    name: &str,
    (formula, atoms): (&Formula<Expr>, &[Holds<M>]),
    options: &Options,
    whole: bool,
) -> Result<Search, CheckerError> {
    let begun = Instant::now();
    let options = of_runs(options);
    let property = Property::new(name, PropertyKind::Ltl(formula.clone()));
    let plan = plan(&options, std::slice::from_ref(&property), encoded)?;
    let control = learnt.search(&plan, vec![name.into()], options.time);
    let never = negation_within(name, formula, options.time.unwrap_or(Duration::MAX)).map_err(CheckerError::Formula)?;
    let holds: Vec<Predicate> = atoms.iter().map(|atom| encoded.predicate(atom)).collect();
    let conditions: Vec<Predicate> = never.atoms.iter().map(|atom| evaluated(atom, &holds)).collect();
    let fairness = (!options.fair.is_empty()).then(|| fairness(encoded, &options.fair)).transpose()?;
    let question = Question {
        model: encoded,
        automaton: &never.automaton,
        atoms: &conditions,
        expressions: &[],
        fairness: fairness.as_ref(),
        stutters: never.stutters,
        repeats: true,
        progress: None,
    };
    let answer = liveness::search(&question, &plan, &control).map_err(CheckerError::Search)?;
    control.finish();
    let mut report = answer.report(name, encoded, &plan, &control, begun);
    // A process that was never met could be treated unfairly where nobody looks.
    if fairness.is_some() && !whole && report.properties[0].verdict == Verdict::Verified {
        (report.properties[0].verdict, report.exhaustive) = (Verdict::Undecided, false);
    }
    sound(encoded, (plan, &options), report, true)
}

/// The processes that runs are fair to: those whose actions were met.
fn fairness<'a, M: TypedModel>(encoded: &'a Encoded<M>, choice: &FairnessChoice) -> Result<Fairness<'a>, CheckerError> {
    let processes = encoded.processes();
    let strong = choice.strongest() == Some(FairnessKind::Strong);
    let marks = if strong { 2 * processes } else { processes };
    if marks > MOST {
        let most = if strong { MOST / 2 } else { MOST };
        let why = format!("fairness of {processes} processes is not supported, only of {most}");
        return Err(CheckerError::Option(why));
    }
    let bit = move |process: usize| -> Marks { if process < processes { 1 << process } else { 0 } };
    let acts = move |code: u32| bit(scrimp_typed::actor(code));
    Ok(Fairness {
        weak: if strong { 0 } else { processes },
        strong: if strong { processes } else { 0 },
        begins: Box::new(acts),
        moves: Box::new(move |_, code, _| acts(code)),
    })
}

/// Does a formula of branching time hold in every initial state?
pub(super) fn branching<M: TypedModel>(
    (encoded, learnt): (&Encoded<M>, &Learnt<M>),
    name: &str,
    (formula, atoms): (&Formula<Expr>, &[Holds<M>]),
    options: &Options,
) -> Result<Search, CheckerError> {
    let begun = Instant::now();
    let property = Property::new(name, PropertyKind::Ctl(formula.clone()));
    let plan = plan(options, std::slice::from_ref(&property), encoded)?;
    let control = learnt.search(&plan, vec![name.into()], options.time);
    let mut conditions: Vec<Expr> = Vec::new();
    let numbered = formula.map(&mut |atom: &Expr| {
        let known = conditions.iter().position(|known| known == atom);
        known.unwrap_or_else(|| {
            conditions.push(atom.clone());
            conditions.len() - 1
        }) as u32
    });
    let names: Vec<String> = conditions.iter().map(|condition| format!("{condition:?}")).collect();
    let holds: Vec<Predicate> = atoms.iter().map(|atom| encoded.predicate(atom)).collect();
    let fault = FirstFault::default();
    let holds: Vec<Predicate> = conditions.iter().map(|condition| fault.noting(evaluated(condition, &holds))).collect();
    let task = CtlTask {
        model: encoded,
        formula: &numbered,
        names: &names,
        atoms: &holds,
        fairness: &[],
        plan: &plan,
        control: &control,
        progress: None,
    };
    let found = ctl::check(&task).map_err(CheckerError::Search)?;
    control.finish();
    let mut report = found.report(name, encoded, &plan, &control, (begun, fault.get()));
    // Its runs have no names yet.
    report.properties[0].evidence = None;
    sound(encoded, (plan, options), report, true)
}
