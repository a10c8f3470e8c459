//! `check`: everything that is asked of a model, or that it asks of itself, one search after the other.

use crate::asked::Request;
use crate::coverage::coverage;
use crate::defaults::{Open, other_engines};
use crate::error::CheckError;
use crate::facts::{examined, facts_of};
use crate::grow::{Grows, with_room};
use crate::load::Loaded;
use crate::net::NetCheck;
use crate::properties::evaluated;
use crate::search::{Found, Host, Searcher, wanted_graph};
use crate::temporal::ExtractedClaim;
use crate::turns::{Known, Turns};
use crate::{files, guides};
use scrimp_core::budget::resident;
use scrimp_core::{Control, Limit, Property, Report, Verdict, cores};
use scrimp_lang::LoadError;
use scrimp_native::{BuildError, Mode, NativeModel};
use scrimp_search::lts::Lts;
use scrimp_search::{Feature, Front, ModelFacts, Options, Plan, Question};
use scrimp_system::{Expr, Stop, System};
use std::cell::RefCell;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

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

    fn run(mut self, host: &mut dyn Host) -> Result<Vec<String>, CheckError> {
        let mut stages = std::mem::take(&mut self.stages);
        let in_turn = stages.len();
        let memory = stages.first().map_or(0, |(_, plan)| plan.memory());
        stages.extend(std::mem::take(&mut self.ways).into_iter().map(|plan| (Stage::States, plan)));
        let helpers = self.helpers(&stages);
        let first_ends = !self.setting.options.keep_going;
        let turns = Turns::new(in_turn, stages.len() - in_turn, helpers, memory, first_ends);
        thread::scope(|scope| {
            for _ in 0..helpers {
                let (copy, turns, stages) = (self.another(), &turns, &stages);
                scope.spawn(move || copy.help(turns, stages));
            }
            if helpers > 0 {
                scope.spawn(|| turns.watch());
            }
            let _over = turns.until_dropped();
            self.take_turns(&turns, &stages, in_turn, host)
        })
    }

    /// How many threads look at what stands behind a long search. A search that is saved, or on the one thread that was asked
    /// for, is alone.
    fn helpers(&self, stages: &[(Stage, Plan)]) -> usize {
        let Options { threads, checkpoint, resume, graph, .. } = &self.setting.options;
        let alone = *threads == 1 && !self.setting.open.threads || checkpoint.is_some() || resume.is_some() || *graph;
        if alone { 0 } else { stages.len().saturating_sub(1).min(cores().max(2) - 1) }
    }

    fn take_turns(
        &mut self,
        turns: &Turns<Answered>,
        stages: &[(Stage, Plan)],
        in_turn: usize,
        host: &mut dyn Host,
    ) -> Result<Vec<String>, CheckError> {
        for (number, (stage, plan)) in stages[..in_turn].iter().enumerate() {
            let (answered, beside) = match turns.reach(number) {
                Known::All(answered) => (Some(answered), true),
                // There is no time to do better.
                Known::Part(answered) if self.loaded.stop().due().is_some() => (Some(answered), true),
                Known::Nothing if number > 0 && self.loaded.stop().due().is_some() => {
                    let mut left = self.left(stages[number..in_turn].iter().map(|(stage, _)| stage))?;
                    // What was found beside is told all the same.
                    for (later, (stage, _)) in stages.iter().enumerate().take(in_turn).skip(number + 1) {
                        if let Known::All(answered) | Known::Part(answered) = turns.reach(later) {
                            left.retain(|name| !answered.names().contains(&name.as_str()));
                            answered.tell(stage, true, Vec::new(), host);
                        }
                    }
                    return Ok(left);
                }
                _ => {
                    let mut watched = Watched { host: &mut *host, turns };
                    (self.answer(stage, plan.clone(), &mut watched)?, false)
                }
            };
            let Some(answered) = answered else { continue };
            let (mut at, mut answered, mut beside) = (number, answered, beside);
            let keep_going = self.setting.options.keep_going;
            if !answered.is_decided(keep_going)
                && let Some((other, decisive)) = turns.decisive()
            {
                (at, answered, beside) = (other, decisive, true);
                if other >= in_turn {
                    at = number;
                    let engine = answered.plan.options().engine;
                    let why = format!("the answer is that of --engine {engine}, which was tried beside the search");
                    answered.searched.report.remarks.push(why);
                }
            }
            let over = answered.is_violated() && !keep_going;
            let rest = stages[..in_turn].iter().enumerate().skip(number + (at == number) as usize);
            let left = if over { self.left(rest.filter(|(n, _)| *n != at).map(|(_, s)| &s.0))? } else { Vec::new() };
            answered.tell(&stages[at].0, beside, left, host);
            if over {
                break;
            }
        }
        Ok(Vec::new())
    }

    fn answer(&mut self, stage: &Stage, mut plan: Plan, host: &mut dyn Host) -> Result<Option<Answered>, CheckError> {
        let mut searcher = Searcher { host, mode: self.setting.mode };
        let searched = self.search(stage, &mut plan, &mut searcher)?;
        Ok(searched.map(|searched| Answered { plan, searched }))
    }

    /// Looks at what stands behind a long search.
    fn help(self, turns: &Turns<Answered>, stages: &[(Stage, Plan)]) {
        while let Some((number, memory)) = turns.next() {
            let (stage, plan) = &stages[number];
            let mut unwatched = Unwatched { turns, number, stop: self.loaded.stop().clone() };
            let plan = plan.within_memory(memory.min(plan.memory()));
            // What goes wrong is told when its turn comes.
            let mut answered = self.another().answer(stage, plan, &mut unwatched).ok().flatten();
            let keep_going = self.setting.options.keep_going;
            let decided = answered.as_ref().is_some_and(|answered| answered.is_decided(keep_going));
            if let Some(answered) = answered.as_mut().filter(|_| decided) {
                // It was told to make room, and had its answer by then.
                let report = &mut answered.searched.report;
                report.limit = report.limit.filter(|limit| *limit != Limit::Interrupt);
            }
            let violated = answered.as_ref().is_some_and(Answered::is_violated);
            turns.end(number, answered, decided, violated);
        }
    }

    /// The same once more, without what is to be searched.
    fn another(&self) -> ModelCheck {
        let ModelCheck { loaded, claim, request, setting, .. } = self;
        let (claim, request, setting) = (claim.clone(), request.clone(), setting.clone());
        ModelCheck { loaded: loaded.another(), claim, request, setting, stages: Vec::new(), ways: Vec::new() }
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
        true => "the search with the claim is not saved; ask for it alone with --property claim",
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

/// What a search has found, and by which plan.
struct Answered {
    plan: Plan,
    searched: Searched,
}

impl Answered {
    fn has(&self, verdict: Verdict) -> bool {
        self.searched.report.properties.iter().any(|property| property.verdict == verdict)
    }

    fn is_violated(&self) -> bool {
        self.has(Verdict::Violated)
    }

    fn names(&self) -> Vec<&str> {
        self.searched.report.properties.iter().map(|property| property.name.as_str()).collect()
    }

    fn tell(self, stage: &Stage, beside: bool, left: Vec<String>, host: &mut dyn Host) {
        let Answered { plan, searched: Searched { model, report, graph, coverage } } = self;
        host.found(Found {
            model: &model,
            plan: &plan,
            report,
            with_claim: matches!(stage, Stage::NeverClaim | Stage::Acceptance),
            coverage,
            graph,
            searches: None,
            for_graph: matches!(stage, Stage::Graph),
            beside,
            left,
        });
    }

    /// Is there nothing more to find out? Unless all is to be known, a violation suffices.
    fn is_decided(&self, keep_going: bool) -> bool {
        let report = &self.searched.report;
        let all = !self.has(Verdict::Undecided) && (report.limit.is_none() || !report.properties.is_empty());
        all || !keep_going && self.is_violated()
    }
}

/// Who watches the search whose turn it is, and can be told to end it.
struct Watched<'a> {
    host: &'a mut dyn Host,
    turns: &'a Turns<Answered>,
}

impl Host for Watched<'_> {
    fn begin(&mut self, plan: &Plan, time: Option<Duration>) -> Arc<Control> {
        let control = self.host.begin(plan, time);
        self.turns.began(&control);
        control
    }

    fn end(&mut self, plan: &Plan, control: &Control, report: &Report) {
        self.host.end(plan, control, report);
    }

    fn wants_front(&self) -> bool {
        self.host.wants_front()
    }

    fn front(&self, front: Front, progress: String) {
        self.host.front(front, progress);
    }

    fn begins_again(&mut self, missing: &str) {
        self.host.begins_again(missing);
    }

    fn found(&mut self, found: Found) {
        self.host.found(found);
    }
}

/// Nobody watches a search beside another, but it can be ended.
struct Unwatched<'a> {
    turns: &'a Turns<Answered>,
    number: usize,
    stop: Stop,
}

impl Host for Unwatched<'_> {
    fn begin(&mut self, _: &Plan, _: Option<Duration>) -> Arc<Control> {
        let control = Arc::new(Control::under(self.stop.beneath()));
        self.turns.began_beside(self.number, &control);
        control
    }

    fn found(&mut self, _: Found) {}
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
