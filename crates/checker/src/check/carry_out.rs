//! Carries out the searches of a check, each in its turn or beside another, and tells what they find.

use super::{ModelCheck, Searched, Stage};
use crate::error::CheckError;
use crate::search::{Found, Host, Searcher};
use crate::turns::{Known, Turns};
use scrimp_core::{Control, Limit, Report, Verdict, cores};
use scrimp_search::plan::EngineChoice;
use scrimp_search::{Front, Options, Plan};
use scrimp_system::Stop;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

impl ModelCheck {
    pub(super) fn run(mut self, host: &mut dyn Host) -> Result<Vec<String>, CheckError> {
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
        let Options { threads, checkpoint, resume, graph, engine, .. } = &self.setting.options;
        // A cluster does one search after the other.
        let together = matches!(engine, EngineChoice::Cluster(_));
        let alone = together
            || *threads == 1 && !self.setting.open.threads
            || checkpoint.is_some()
            || resume.is_some()
            || *graph;
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
        let mut searcher = Searcher { host, mode: self.setting.mode, cluster: self.setting.cluster.clone() };
        let searched = self.search(stage, &mut plan, &mut searcher)?;
        Ok(searched.map(|searched| Answered { plan, searched }))
    }

    /// Looks at what stands behind a long search.
    fn help(self, turns: &Turns<Answered>, stages: &[(Stage, Plan)]) {
        while let Some((number, memory)) = turns.next() {
            let (stage, plan) = &stages[number];
            let mut unwatched = Unwatched { turns, number, stop: self.loaded.stop().clone() };
            let plan = plan.tried_within(memory.min(plan.memory()));
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
