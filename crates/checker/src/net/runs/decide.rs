//! Deciding what is about runs: on the fly, one formula after the other, or by sets of markings, all at once.

use super::convert::branching;
use crate::engines::sets;
use crate::grow::with_room;
use crate::net::explicit::asymmetric;
use crate::net::{Made, PetriNet};
use crate::temporal::never::negation;
use crate::temporal::{Context, run_liveness};
use scrimp_core::{Control, Limit, Predicate, Property, PropertyKind, Trace, Verdict, moments_of};
use scrimp_lang::LoadError;
use scrimp_native::{BuildError, Mode, NativeModel};
use scrimp_net::{Formula, Lowered};
use scrimp_search::ctl::{self, CtlTask};
use scrimp_search::plan::{EngineChoice, ReduceChoice, StrategyChoice};
use scrimp_search::reduce::Orbits;
use scrimp_search::{Feature, ModelFacts, Options, Plan, Question};
use scrimp_system::{Expr, Model, Stop};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a glance may take where nothing says how long all may.
const GLANCE: Duration = Duration::from_secs(1);

/// What has to be looked for in runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runs {
    /// The formula holds of every run.
    Linear(Formula),
    /// The formula holds in the first marking.
    Branching(Formula),
}

/// What a search says.
#[derive(Debug, Clone, Default)]
pub struct Found {
    pub truth: Option<bool>,
    /// A run that shows it, and after how many of its steps it begins to repeat itself.
    pub lasso: Option<(Trace, usize)>,
    /// What ended it, where it did not come to its end.
    pub limit: Option<Limit>,
}

/// One who decides, with the model of the net that was used last.
pub struct Decider {
    model: Option<Arc<NativeModel>>,
    mode: Mode,
    stop: Stop,
    /// The set of all reachable markings could be made.
    pub reaches_all: bool,
}

impl Decider {
    pub fn new(mode: Mode, stop: Stop) -> Decider {
        Decider { model: None, mode, stop, reaches_all: false }
    }

    /// Works with a model of the net that has room for what is met. Where there is no more room to be had, nothing was found.
    fn with_model<T: Default, E: From<LoadError> + From<BuildError>>(
        &mut self,
        net: &mut PetriNet,
        mut work: impl FnMut(&NativeModel, &Lowered) -> T,
    ) -> Result<T, E> {
        let mode = self.mode;
        let work = |net: &mut PetriNet, model: &Arc<NativeModel>| Ok::<T, E>(work(model, &*net.lowered()?));
        let make = |system| NativeModel::new(system, mode);
        let (model, result) = with_room(net, self.model.take(), &make, &mut |_| {}, work)?;
        if model.outgrown().is_some() {
            return Ok(T::default());
        }
        self.model = Some(model);
        Ok(result)
    }

    /// On the fly, for so long; with the search that was made. `reduced`: with as few events as suffice, where that is
    /// possible.
    pub fn on_the_fly<E: From<LoadError> + From<BuildError>>(
        &mut self,
        net: &mut PetriNet,
        runs: &Runs,
        options: &Options,
        time: Duration,
        reduced: bool,
    ) -> Result<(Option<Made>, Found), E> {
        let stop = self.stop.clone();
        self.with_model(net, |model, lowered| {
            let control = Control::under(stop.within(time));
            let found = match runs {
                Runs::Linear(formula) => linear(formula, model, lowered, options, &control, reduced),
                Runs::Branching(formula) => local(formula, model, lowered, options, &control),
            };
            found.map(|(made, found)| (Some(made), found)).unwrap_or_default()
        })
    }

    /// By sets of markings, for so long; with the search that was made.
    pub fn by_sets<E: From<LoadError> + From<BuildError>>(
        &mut self,
        net: &mut PetriNet,
        all: &[Runs],
        options: &Options,
        time: Duration,
    ) -> Result<(Option<Made>, Vec<Found>), E> {
        let stop = self.stop.clone();
        // What says the same of branching time is quicker there.
        let converted = all.iter().map(|runs| match runs {
            Runs::Linear(formula) => branching(formula).map_or(Runs::Linear(formula.clone()), Runs::Branching),
            Runs::Branching(formula) => Runs::Branching(formula.clone()),
        });
        let converted: Vec<Runs> = converted.collect();
        let decided: Result<(Option<Made>, Vec<Found>), E> = self.with_model(net, |model, lowered| {
            let control = Control::under(stop.within(time));
            let found = with_sets(&converted, model, lowered, options, &control);
            found.map(|(made, found)| (Some(made), found)).unwrap_or_default()
        });
        self.reaches_all = matches!(&decided, Ok((Some(made), _)) if made.report.exhaustive);
        decided
    }
}

fn over_states(formula: &Formula, lowered: &Lowered) -> Option<scrimp_temporal::Formula<Expr>> {
    formula.try_map(&mut |condition| lowered.condition(condition).ok_or(())).ok()
}

/// Looks for a run on which the formula does not hold.
fn linear(
    formula: &Formula,
    model: &NativeModel,
    lowered: &Lowered,
    options: &Options,
    control: &Control,
    reduced: bool,
) -> Option<(Made, Found)> {
    let never = negation("", &over_states(formula, lowered)?).ok()?;
    let mut options = options.clone();
    if reduced && never.stutters && !options.reduce.leaves_out_states() {
        options.reduce = ReduceChoice::Persistent(None);
    }
    if asymmetric(&options, model, &never.atoms.iter().collect::<Vec<_>>(), &[]).is_some() {
        options.reduce = ReduceChoice::Nothing;
    }
    let question = Question::about(Feature::Ltl);
    let question = if never.stutters { question } else { question.with(Feature::NotStutterInvariant) };
    let (plan, _) = Plan::as_far_as_possible(&options, question, &ModelFacts::of(model)).ok()?;
    let mut report =
        run_liveness(model, "", &never, &Context { plan: &plan, control, fair: &[], progress: None, cluster: None })
            .ok()?;
    let result = report.properties.pop()?;
    let truth = match result.verdict {
        Verdict::Verified => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Undecided => None,
    };
    let found = Found { truth, lasso: result.trace.zip(result.cycle), limit: report.limit };
    Some((Made { plan, report }, found))
}

/// Decides a formula of branching time where it is asked for.
fn local(
    formula: &Formula,
    model: &NativeModel,
    lowered: &Lowered,
    options: &Options,
    control: &Control,
) -> Option<(Made, Found)> {
    let begun = Instant::now();
    let moments = moments_of(&over_states(formula, lowered)?);
    let mut options = options.clone();
    if asymmetric(&options, model, &moments.iter().collect::<Vec<_>>(), &[]).is_some() {
        options.reduce = ReduceChoice::Nothing;
    }
    let (plan, _) = Plan::as_far_as_possible(&options, Question::about(Feature::Ctl), &ModelFacts::default()).ok()?;
    let orbits = Orbits::of_runs(model, &moments, &plan).ok()?;
    let mut conditions: Vec<&scrimp_net::Condition> = Vec::new();
    formula.atoms(&mut |condition| {
        if !conditions.contains(&condition) {
            conditions.push(condition);
        }
    });
    let numbered = formula.map(&mut |condition| {
        conditions.iter().position(|known| *known == condition).unwrap_or(conditions.len()) as u32
    });
    let expressions: Vec<Expr> = conditions.iter().map(|c| lowered.condition(c)).collect::<Option<_>>()?;
    let atoms: Vec<Predicate> = expressions
        .iter()
        .map(|e| -> Predicate {
            let predicate = model.predicate(e);
            Box::new(move |state| predicate.holds(state))
        })
        .collect();
    let names = vec![String::new(); atoms.len()];
    let task = CtlTask {
        model: orbits.as_ref().map_or(model as &dyn Model, |orbits| orbits),
        formula: &numbered,
        names: &names,
        atoms: &atoms,
        fairness: &[],
        plan: &plan,
        control,
        progress: None,
    };
    // What is left open at a glance is decided, or not, in the other half of the time.
    let half = control.stop().deadline().map_or(GLANCE, |end| end.saturating_duration_since(begun) / 2);
    let short = Control::under(control.stop().within(half));
    let outcome = match ctl::glance(&CtlTask { control: &short, ..task }).ok()? {
        Some(seen) => seen,
        None => ctl::examine(&task, &mut |_| {}).ok()?,
    };
    let made = Made { plan: plan.clone(), report: outcome.counted(model, begun) };
    Some((made, Found { truth: outcome.verdict, lasso: None, limit: outcome.limit }))
}

/// Decides formulas of branching time by sets of markings.
fn with_sets(
    formulas: &[Runs],
    model: &NativeModel,
    lowered: &Lowered,
    options: &Options,
    control: &Control,
) -> Option<(Made, Vec<Found>)> {
    let mut questions = Vec::new();
    let mut asked = Vec::new();
    for formula in formulas {
        let kind = match formula {
            Runs::Branching(formula) => over_states(formula, lowered).map(PropertyKind::Ctl),
            Runs::Linear(formula) => {
                let never = over_states(formula, lowered).and_then(|formula| negation("", &formula).ok());
                never.map(|never| PropertyKind::Never(Box::new(never)))
            }
        };
        asked.push(kind.is_some());
        questions.extend(kind.map(|kind| Property::new("", kind)));
    }
    if questions.is_empty() {
        return None;
    }
    let engine = match options.engine {
        EngineChoice::Symbolic(strategy) => EngineChoice::Symbolic(strategy),
        _ => EngineChoice::Symbolic(StrategyChoice::Automatic),
    };
    let Options { variables, reorder, memory, time, .. } = *options;
    let options = Options { engine, variables, reorder, memory, time, keep_going: true, ..Options::default() };
    let plan = Plan::of(&options, Question::about(Feature::Ctl), &ModelFacts::default()).ok()?;
    let (report, results) = sets(model, &questions, &[], &plan, control, false).ok()?;
    let limit = report.limit;
    let made = Made { plan, report };
    // Whether there was room enough is only known where everything was looked at.
    if model.system().guessed && !made.report.exhaustive {
        return Some((made, vec![Found { limit, ..Found::default() }; formulas.len()]));
    }
    let mut results = results.into_iter();
    let found = asked.into_iter().map(|asked| match asked.then(|| results.next()).flatten() {
        Some(result) => {
            let truth = match result.verdict {
                Verdict::Verified => Some(true),
                Verdict::Violated => Some(false),
                Verdict::Undecided => None,
            };
            Found { truth, lasso: None, limit }
        }
        None => Found::default(),
    });
    Some((made, found.collect()))
}
