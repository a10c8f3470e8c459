//! `check`: everything that is asked of a model, or that it asks of itself, by as many searches as that takes.

mod carry_out;

use crate::asked::Request;
use crate::coverage::coverage;
use crate::defaults::{Open, other_engines};
use crate::error::CheckError;
use crate::facts::{examined, facts_of};
use crate::grow::{Grows, with_room};
use crate::load::Loaded;
use crate::net::NetCheck;
use crate::properties::evaluated;
use crate::search::{Host, Searcher, wanted_graph};
use crate::temporal::{ExtractedClaim, follows_formulas};
use crate::{engines, files, guides};
use scrimp_cluster::Gathering;
use scrimp_core::budget::resident;
use scrimp_core::{Property, PropertyKind, Report};
use scrimp_lang::LoadError;
use scrimp_native::{BuildError, Mode, NativeModel};
use scrimp_search::lts::Lts;
use scrimp_search::plan::{EngineChoice, ReduceChoice};
use scrimp_search::{Feature, ModelFacts, Options, Plan, Question};
use scrimp_system::{Expr, System};
use std::cell::RefCell;
use std::sync::Arc;

/// That a `never` claim accepts no run.
const ACCEPTANCE: &str = "never claim: acceptance";

/// How a model is run and searched.
#[derive(Debug, Clone)]
pub struct Setting {
    pub options: Options,
    /// What the options leave to the plan.
    pub open: Open,
    pub mode: Mode,
    /// Find out what of the model's text is executed.
    pub watch: bool,
    /// Of how many states the graph that is to be written shows the values.
    pub vectors: usize,
    /// Where a cluster is to search: how it comes together.
    pub cluster: Option<Arc<Gathering>>,
}

/// One search of a run.
#[derive(Debug, Clone)]
enum Stage {
    /// Every state, for the sake of the graph.
    Graph,
    /// All properties of states together.
    States,
    /// A property of runs, by its number among them.
    Run(usize),
    /// What the process says that is a property: it accepts no run.
    Claim,
    /// The model together with its never claim, and then whether that accepts a run.
    NeverClaim,
    Acceptance,
}

/// A model, what is asked of it, and the searches that decide it.
pub enum Check {
    Model(Box<ModelCheck>),
    Net(Box<NetCheck>),
}

impl Check {
    /// Plans all searches. Refuses what cannot be asked or done, before anything is searched.
    pub fn new(mut loaded: Loaded, request: &Request, setting: &Setting) -> Result<Check, CheckError> {
        files::admit(&setting.options)?;
        engines::admit(&setting.options)?;
        if matches!(setting.options.reduce, ReduceChoice::Symmetry { .. }) {
            loaded.keep_alike()?;
        }
        let stop = loaded.stop().clone();
        Ok(match loaded.net.take() {
            Some(net) => Check::Net(Box::new(NetCheck::new(net, request, setting, &stop)?)),
            None => Check::Model(Box::new(ModelCheck::new(loaded, request, setting)?)),
        })
    }

    /// The searches to come: what each decides, and by which plan.
    pub fn searches(&self) -> Result<Vec<(Vec<String>, &Plan)>, CheckError> {
        match self {
            Check::Model(check) => check.searches(),
            Check::Net(check) => Ok(vec![check.searches()]),
        }
    }

    pub fn system(&self) -> Result<Arc<System>, CheckError> {
        Ok(match self {
            Check::Model(check) => check.loaded.system.clone(),
            Check::Net(check) => check.net().lowered()?.system.clone(),
        })
    }

    /// Works with a model that has room for what is met.
    pub fn with_model<T>(&mut self, mode: Mode, mut work: impl FnMut(&NativeModel) -> T) -> Result<T, CheckError> {
        let make = |system| NativeModel::new(system, mode);
        match self {
            Check::Model(check) => check.loaded.with_model(mode, work),
            Check::Net(check) => {
                let work = |_: &mut _, model: &Arc<NativeModel>| Ok::<T, CheckError>(work(model));
                Ok(with_room(check.net_mut(), None, &make, &mut |_| {}, work)?.1)
            }
        }
    }

    /// Carries all searches out, until a violation or a limit ends the work. Answers what there was no time to look at.
    pub fn run(self, host: &mut dyn Host) -> Result<Vec<String>, CheckError> {
        match self {
            Check::Model(check) => check.run(host),
            Check::Net(check) => check.run(host).map(|()| Vec::new()),
        }
    }
}

/// The same for a model that is no net.
pub struct ModelCheck {
    loaded: Loaded,
    /// The claim that was taken out of the system.
    claim: Option<ExtractedClaim>,
    request: Request,
    setting: Setting,
    stages: Vec<(Stage, Plan)>,
    /// Other ways to the first answer.
    ways: Vec<Plan>,
}

impl ModelCheck {
    fn new(mut loaded: Loaded, request: &Request, setting: &Setting) -> Result<ModelCheck, CheckError> {
        let (request, setting) = (request.clone(), setting.clone());
        request.admit(&loaded)?;
        let has_never = loaded.has_never_claim() && request.asks_claim();
        let claim = loaded.take_claim()?;
        let system = loaded.system.clone();
        let options = &setting.options;
        let model = examined(&system, options)?;
        let facts = facts_of(&system, model.as_ref(), options);
        guides::admit(&system, options)?;
        let asked = request.asked(&system)?;
        let fair = request.fair(&system)?;
        let mut stages = Vec::new();
        if asked.states.is_empty() && options.graph {
            stages.push((Stage::Graph, Question::count()));
        }
        if !asked.states.is_empty() {
            stages.push((Stage::States, Question::of(&asked.states, options, &facts)?));
        }
        let about_runs = |property: &Property<Expr>| -> Result<Question, CheckError> {
            let question = Question::of(std::slice::from_ref(property), options, &facts)?;
            let may_fail = fair.iter().any(|e| e.may_fault(&system.variables));
            // Where no claim can move along, it is a question about infinite runs.
            let by_claim =
                matches!(options.engine, EngineChoice::Cluster(_)) && matches!(property.kind, PropertyKind::Ltl(_));
            let question = match by_claim && !follows_formulas(&system) {
                true => question.with(Feature::BrokenAtInfinity),
                false => question,
            };
            Ok(if may_fail { question.with(Feature::MayFail) } else { question })
        };
        // A model may have nothing of what is asked for, such as assertions: all of it holds.
        if asked.states.is_empty() && asked.runs.is_empty() && !request.asks_claim() {
            stages.push((Stage::States, Question::count()));
        }
        for (number, property) in asked.runs.iter().enumerate() {
            stages.push((Stage::Run(number), about_runs(property)?));
        }
        if let Some(claim) = claim.as_ref().filter(|_| request.asks_claim()) {
            stages.push((Stage::Claim, about_runs(&claim.property(&claim.name))?));
        } else if has_never {
            stages.push((Stage::NeverClaim, Question::about(Feature::Claim)));
            if loaded.never_claim_accepts() {
                let question = Question::about(Feature::Automaton).with(Feature::NotStutterInvariant);
                stages.push((Stage::Acceptance, question));
            }
        }
        let questions: Vec<Question> = stages.iter().map(|(_, question)| question.clone()).collect();
        let mut plans = Plan::all(options, &questions, &facts)?;
        for ((stage, _), plan) in stages.iter().zip(&mut plans) {
            if matches!(stage, Stage::NeverClaim) {
                *plan = beside_the_model(plan, &facts, !asked.states.is_empty())?;
            }
        }
        let plans = plans.into_iter().map(|plan| setting.open.decide(plan, &facts));
        let stages: Vec<(Stage, Plan)> = stages.into_iter().map(|(stage, _)| stage).zip(plans).collect();
        let ways = match stages.first() {
            Some((Stage::States, plan)) if setting.open.engine => other_engines(plan, &facts),
            _ => Vec::new(),
        };
        Ok(ModelCheck { loaded, claim, request, setting, stages, ways })
    }

    fn searches(&self) -> Result<Vec<(Vec<String>, &Plan)>, CheckError> {
        let asked = self.request.asked(&self.loaded.system)?;
        let of = |stage: &Stage| match stage {
            Stage::Graph => vec!["the reachability graph".to_string()],
            Stage::States => asked.states.iter().map(|property| property.name.clone()).collect(),
            Stage::Run(number) => vec![asked.runs[*number].name.clone()],
            Stage::Claim => self.claim.iter().map(|claim| claim.name.clone()).collect(),
            Stage::NeverClaim => vec!["never claim".to_string()],
            Stage::Acceptance => vec![ACCEPTANCE.to_string()],
        };
        Ok(self.stages.iter().map(|(stage, plan)| (of(stage), plan)).collect())
    }

    /// One of the searches; nothing, where it turns out that there is nothing to search for.
    fn search(
        &mut self,
        stage: &Stage,
        plan: &mut Plan,
        searcher: &mut Searcher,
    ) -> Result<Option<Searched>, CheckError> {
        let (request, setting) = (self.request.clone(), self.setting.clone());
        match stage {
            Stage::Graph => self.loaded.states(searcher, &setting, false, plan, |_| Ok(Vec::new())).map(Some),
            Stage::States => {
                let mut searched =
                    self.loaded.states(searcher, &setting, setting.watch, plan, |s| Ok(request.asked(s)?.states))?;
                let Searched { model, report, .. } = &searched;
                // What a reduction leaves out may be executed all the same.
                // So may what was executed before a search was taken up.
                let whole = report.exhaustive
                    && report.ran_the_model()
                    && report.visits > 0
                    && !plan.options().reduce.leaves_out_states()
                    && setting.options.resume.is_none();
                searched.coverage = whole.then(|| coverage(model, None)).flatten();
                Ok(Some(searched))
            }
            Stage::Run(number) => {
                let property = |system: &System| Ok(request.asked(system)?.runs.swap_remove(*number));
                self.loaded.runs(searcher, &request, plan, property).map(Some)
            }
            Stage::Claim => {
                let Some(claim) = &self.claim else { return Ok(None) };
                let property = claim.property(&claim.name);
                self.loaded.runs(searcher, &request, plan, |_| Ok(property.clone())).map(Some)
            }
            Stage::NeverClaim => {
                // A claim restricts what it watches, so it is searched with after the model has been searched without.
                if !self.loaded.add_claim()? {
                    return Ok(None);
                }
                let assertions = |system: &System| Ok(Property::invariants(system));
                self.loaded.states(searcher, &setting, false, plan, assertions).map(Some)
            }
            Stage::Acceptance => {
                self.loaded.add_claim()?;
                if !accepts(&self.loaded.system) {
                    return Ok(None);
                }
                let Some(extract_claim) = self.loaded.extracted_claim()? else { return Ok(None) };
                let (mode, memory) = (searcher.mode, plan.memory());
                let (model, report) = with_room(
                    &mut ApartClaim { loaded: &mut self.loaded, extract_claim },
                    None,
                    &|system| runnable(system, mode, memory, false),
                    &mut |_| {},
                    |claim, model| searcher.runs(model, &claim.extract_claim.property(ACCEPTANCE), &[], plan),
                )?;
                Ok(Some(Searched { model, report, graph: None, coverage: None }))
            }
        }
    }

    /// What is not searched for any more where a violation ends the work.
    fn left<'s>(&mut self, stages: impl Iterator<Item = &'s Stage>) -> Result<Vec<String>, CheckError> {
        let asked = self.request.asked(&self.loaded.system)?;
        let mut names = Vec::new();
        for stage in stages {
            match stage {
                Stage::Graph => {}
                Stage::States => names.extend(asked.states.iter().map(|property| property.name.clone())),
                Stage::Run(number) => names.push(asked.runs[*number].name.clone()),
                Stage::Claim => names.extend(self.claim.iter().map(|claim| claim.name.clone())),
                Stage::NeverClaim => {
                    if self.loaded.add_claim().is_ok_and(|added| added) {
                        let invariants = Property::invariants(&self.loaded.system);
                        names.extend(invariants.into_iter().map(|property| property.name));
                    }
                }
                Stage::Acceptance => names.extend(accepts(&self.loaded.system).then(|| ACCEPTANCE.to_string())),
            }
        }
        Ok(names)
    }
}

/// The plan of a search with the never claim. The graph is that of the model alone, and so is what is saved, if that was
/// searched before.
fn beside_the_model(plan: &Plan, facts: &ModelFacts, after: bool) -> Result<Plan, CheckError> {
    let saves = plan.options().checkpoint.is_some() || plan.options().resume.is_some();
    let why = match after && saves {
        true => "the search with the claim is not saved; check it alone with --property claim",
        false => "",
    };
    Ok(plan.instead(why, facts, |options| {
        options.graph = false;
        if after {
            (options.checkpoint, options.every, options.resume) = (None, None, None);
        }
    })?)
}

/// Has the system a claim that accepts runs?
fn accepts(system: &System) -> bool {
    system.claim.iter().any(|claim| !system.processes[claim.process.index()].accepting.is_empty())
}

/// What a search leaves behind.
pub(crate) struct Searched {
    pub model: Arc<NativeModel>,
    pub report: Report,
    pub graph: Option<Lts>,
    coverage: Option<scrimp_report::coverage::Coverage>,
}

/// A model that can be run within so much memory; with `watch`, it remembers which events happen.
pub(crate) fn runnable(system: Arc<System>, mode: Mode, memory: usize, watch: bool) -> Result<NativeModel, BuildError> {
    let mode = mode.within(&system, memory.saturating_sub(resident().unwrap_or(0)));
    let mut model = NativeModel::new(system, mode)?;
    if watch {
        model.watch_events();
    }
    model.watch_tokens();
    Ok(model)
}

impl Loaded {
    /// Decides properties of states, with as much room as that takes; without any, counts.
    pub(crate) fn states(
        &mut self,
        searcher: &mut Searcher,
        setting: &Setting,
        watch: bool,
        plan: &mut Plan,
        properties: impl Fn(&System) -> Result<Vec<Property<Expr>>, CheckError>,
    ) -> Result<Searched, CheckError> {
        let (mode, memory, searcher) = (searcher.mode, plan.memory(), RefCell::new(searcher));
        let (model, (report, graph)) = with_room(
            self,
            None,
            &|system| runnable(system, mode, memory, watch),
            &mut |missing| searcher.borrow_mut().host.begins_again(missing),
            |loaded, model| {
                let properties = evaluated(model, &properties(&loaded.system)?);
                let wanted = plan.options().graph.then(|| wanted_graph(setting.vectors, &properties));
                let report = searcher.borrow_mut().states(model, &properties, plan, wanted.as_ref(), None)?;
                Ok::<_, CheckError>((report, wanted.and_then(|wanted| wanted.graph.take())))
            },
        )?;
        Ok(Searched { model, report, graph, coverage: None })
    }

    /// Decides a property of runs, with as much room as that takes.
    fn runs(
        &mut self,
        searcher: &mut Searcher,
        request: &Request,
        plan: &mut Plan,
        property: impl Fn(&System) -> Result<Property<Expr>, CheckError>,
    ) -> Result<Searched, CheckError> {
        let (mode, memory, searcher) = (searcher.mode, plan.memory(), RefCell::new(searcher));
        let (model, report) = with_room(
            self,
            None,
            &|system| runnable(system, mode, memory, false),
            &mut |missing| searcher.borrow_mut().host.begins_again(missing),
            |loaded, model| {
                let fair = request.fair(&loaded.system)?;
                searcher.borrow_mut().runs(model, &property(&loaded.system)?, &fair, plan)
            },
        )?;
        Ok(Searched { model, report, graph: None, coverage: None })
    }
}

/// A never claim taken out of the system that grows with it.
struct ApartClaim<'l> {
    loaded: &'l mut Loaded,
    extract_claim: ExtractedClaim,
}

impl Grows for ApartClaim<'_> {
    fn system(&self) -> Result<Arc<System>, LoadError> {
        Ok(self.extract_claim.system.clone())
    }

    fn grow(&mut self, model: &NativeModel) -> Result<bool, LoadError> {
        let grown = self.loaded.grow(model)?;
        if let Some(extract_claim) = self.loaded.extracted_claim()?.filter(|_| grown) {
            self.extract_claim = extract_claim;
        }
        Ok(grown)
    }

    fn missing(&self) -> &'static str {
        self.loaded.missing()
    }
}
