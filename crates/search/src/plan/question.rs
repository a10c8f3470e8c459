//! What a search is to decide, and what is known of the model: what a plan is made from beside the options.

use super::choices::{EngineChoice, ReduceChoice};
use super::feature::{Feature, Features};
use super::options::Options;
use super::refusal::Refusal;
use crate::reduce::{EdgeLean, changeable};
use scrimp_core::never::negation_within;
use scrimp_core::{AsExpression, Property, PropertyKind};
use scrimp_system::{Expr, Model, Variable};
use scrimp_temporal::{Formula, Limits, Strength, is_stutter_invariant, propositions};
use std::time::{Duration, Instant};

/// What may go into finding out whether a formula is stutter-invariant.
const LIMITS: (usize, Duration) = (20_000, Duration::from_secs(30));

/// What one search decides: properties of states together, or one property of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub(super) asked: Features,
    /// What it is called, where it is about one property.
    pub(super) name: Option<String>,
}

impl Question {
    /// How many states there are.
    pub fn count() -> Question {
        Question { asked: Features::of(&[Feature::Count]), name: None }
    }

    /// A question of this kind.
    pub fn about(kind: Feature) -> Question {
        Question { asked: Features::of(&[kind]), name: None }
    }

    /// These properties: none, several of states, or one of runs.
    pub fn of<C: AsExpression>(
        properties: &[Property<C>],
        options: &Options,
        facts: &ModelFacts,
    ) -> Result<Question, Refusal> {
        if properties.is_empty() {
            return Ok(Question::count());
        }
        let about_runs = properties.iter().filter(|property| property.kind.is_about_runs()).count();
        if about_runs > 0 && properties.len() > 1 {
            return Err(Refusal::new(
                "a property of runs is decided by a search of its own",
                "make a plan for each of them, and one for the properties of states",
            ));
        }
        let mut asked = Features::default();
        let mut opaque = false;
        for property in properties {
            let kind = match &property.kind {
                PropertyKind::Ltl(_) => Feature::Ltl,
                PropertyKind::Ctl(_) => Feature::Ctl,
                PropertyKind::Accepting(_) => Feature::AcceptingCycles,
                PropertyKind::Progress(_) => Feature::NonProgress,
                PropertyKind::Never(_) => Feature::Automaton,
                _ => Feature::States,
            };
            asked = asked.with(kind);
            if options.reduce.leaves_out_events() && !is_invariant_under_stuttering(&property.kind) {
                asked = asked.with(Feature::NotStutterInvariant);
            }
            if matches!(options.engine, EngineChoice::Gpu(_) | EngineChoice::Cluster(_))
                && !is_broken_by_finite_runs(&property.name, &property.kind)
            {
                asked = asked.with(Feature::BrokenAtInfinity);
            }
            property.map(&mut |condition| match condition.as_expression() {
                None => opaque = true,
                Some(e) if about_runs > 0 && facts.variables.is_none_or(|variables| e.may_fault(variables)) => {
                    asked = asked.with(Feature::MayFail);
                }
                Some(_) => {}
            });
        }
        // A model that says itself what no condition sees need not be shown one.
        let said = options.reduce.leaves_out_events() && facts.model.is_some_and(Model::knows_local);
        if opaque && !said {
            asked = asked.with(Feature::Opaque);
        } else if matches!(options.reduce, ReduceChoice::Symmetry { .. }) && facts.tell_apart(properties) {
            asked = asked.with(Feature::TellsApart);
        }
        let name = (about_runs > 0).then(|| properties[0].name.clone());
        Ok(Question { asked: asked.and(facts.nature), name })
    }

    /// The same question about a model that is like this too.
    pub fn with(mut self, feature: Feature) -> Question {
        self.asked = self.asked.with(feature);
        self
    }

    pub fn without(mut self, feature: Feature) -> Question {
        self.asked = self.asked.without(feature);
        self
    }

    /// Whether it is about runs.
    pub fn is_about_runs(&self) -> bool {
        use Feature::{AcceptingCycles, Automaton, Ctl, Ltl, NonProgress};
        self.asked.meets(Features::of(&[Ltl, Automaton, AcceptingCycles, NonProgress, Ctl]))
    }
}

/// Does a property say the same of a run where states repeat themselves?
fn is_invariant_under_stuttering<C: AsExpression>(kind: &PropertyKind<C>) -> bool {
    match kind {
        PropertyKind::Ltl(formula) => {
            let formula: Formula<Expr> = formula.map(&mut |c| c.as_expression().cloned().unwrap_or(Expr::FALSE));
            let (letters, _) = propositions(&formula);
            let limits = Limits { states: LIMITS.0, until: Instant::now().checked_add(LIMITS.1) };
            is_stutter_invariant(&letters, &limits).unwrap_or(false)
        }
        PropertyKind::Never(never) => never.stutters,
        _ => true,
    }
}

/// Is every run that breaks a formula bad from some moment on, whatever comes?
fn is_broken_by_finite_runs<C: AsExpression>(name: &str, kind: &PropertyKind<C>) -> bool {
    let PropertyKind::Ltl(formula) = kind else { return true };
    let formula: Formula<Expr> = formula.map(&mut |c| c.as_expression().cloned().unwrap_or(Expr::FALSE));
    negation_within(name, &formula, LIMITS.1).is_ok_and(|never| never.automaton.strength() == Strength::Terminal)
}

/// What is known of a model that matters to a plan. Whatever takes long is found out when a plan asks.
#[derive(Clone, Default)]
pub struct ModelFacts<'m> {
    model: Option<&'m dyn Model>,
    /// Where it is not known what conditions are about, evaluating them may fail.
    variables: Option<&'m [Variable]>,
    nature: Features,
    /// What this model does not suit, and why.
    exceptions: Vec<(Features, String)>,
}

impl<'m> ModelFacts<'m> {
    pub fn of(model: &'m dyn Model) -> ModelFacts<'m> {
        ModelFacts { model: Some(model), ..ModelFacts::default() }
    }

    /// The same without what only a look at the model itself shows.
    pub fn without_model(&self) -> ModelFacts<'m> {
        ModelFacts { model: None, ..self.clone() }
    }

    /// With the variables that conditions are about.
    pub fn over(mut self, variables: &'m [Variable]) -> ModelFacts<'m> {
        self.variables = Some(variables);
        self
    }

    /// Every question is one about this.
    pub fn with(mut self, nature: Feature) -> ModelFacts<'m> {
        self.nature = self.nature.with(nature);
        self
    }

    /// The model does not suit these features together, for this reason.
    pub fn except(mut self, features: &[Feature], reason: impl Into<String>) -> ModelFacts<'m> {
        self.exceptions.push((Features::of(features), reason.into()));
        self
    }

    /// Do properties tell everything apart that is interchangeable otherwise, or too little to follow runs?
    fn tell_apart<C: AsExpression>(&self, properties: &[Property<C>]) -> bool {
        let Some(model) = self.model else { return false };
        let about_runs = properties.iter().any(|property| property.kind.is_about_runs());
        let over_expressions = |property: &Property<C>| -> Property<Expr> {
            property.map(&mut |condition| condition.as_expression().cloned().unwrap_or(Expr::FALSE))
        };
        let moments: Vec<Expr> = properties.iter().flat_map(|p| over_expressions(p).kind.moments()).collect();
        let found = match about_runs {
            // A run is followed from orbit to orbit, each by its one representative.
            true => model
                .symmetry(&moments.iter().collect::<Vec<_>>(), &[])
                .and_then(|symmetry| if symmetry.is_exact() { Ok(symmetry) } else { Err(String::new()) }),
            false => changeable(properties).and_then(|conditions| model.symmetry(&[], &conditions)),
        };
        found.is_err() && model.symmetry(&[], &[]).is_ok()
    }

    /// The feature that the model does not suit, and why.
    pub(super) fn unsuited(&self, asked: Features, options: &Options) -> Option<(Features, String)> {
        let exception = self.exceptions.iter().find(|(features, _)| features.is_within(asked));
        if let Some((features, reason)) = exception {
            return Some((*features, reason.clone()));
        }
        let model = self.model?;
        if asked.has(Feature::PseudoRoot)
            && let Err(reason) = model.suits_predecessors()
        {
            let reason = format!("--forget pseudo-root needs predecessors, but {reason}");
            return Some((Features::of(&[Feature::PseudoRoot]), reason));
        }
        if asked.has(Feature::EdgeLean) && model.independence().is_none() {
            return Some((Features::of(&[Feature::EdgeLean]), EdgeLean::UNSUITED.into()));
        }
        let symmetric = [Feature::Symmetry, Feature::OrbitSizes].into_iter().find(|feature| asked.has(*feature));
        if let Some(symmetry) = symmetric
            && let Err(reason) = model.symmetry(&[], &[])
        {
            return Some((Features::of(&[symmetry]), reason));
        }
        let reduces = [Feature::Por, Feature::PorSleep].into_iter().find(|feature| asked.has(*feature));
        if let Some(reduction) = reduces
            && options.engine == super::EngineChoice::Explicit
            && !model.knows_local()
            && let Err(reason) = model.dependence()
        {
            let reason = format!("partial-order reduction is not possible: {reason}");
            return Some((Features::of(&[reduction]), reason));
        }
        None
    }
}
