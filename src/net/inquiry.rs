//! All that is asked about a net, answered one way after the other: by a short search, by structure, by walks, by searches
//! of smaller nets, and by a long search at last.
//!
//! Every way answers what it can and leaves the rest to the next. No way says what it has not proven.

use super::answers::{Answer, Answers, Run};
use super::explicit::{Explored, explore};
use super::goal::{Goal, Known};
use super::{PetriNet, Search, cover, equation, reduced, walks};
use scrimp_lang::LoadError;
use scrimp_native::{BuildError, Mode, NativeModel};
use scrimp_net::NamedQuestion;
use scrimp_search::plan::EngineChoice;
use scrimp_search::{Limit, Plan, Report};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the first search may take: most nets that people have at hand are done by then.
const SHORT: Duration = Duration::from_secs(3);
/// What may be spent on nets without proven bounds before anything is searched.
const GLANCE: Duration = Duration::from_millis(500);
/// What each other way may take at first; more in every round.
const SLICE: Duration = Duration::from_secs(2);
/// What may go by before the user is asked again whether to go on.
const PATIENCE: Duration = Duration::from_secs(2);
/// When nothing is gained by then, nothing will be.
const LONG: Duration = Duration::from_secs(8);
const LONGEST: Duration = Duration::from_secs(1 << 20);
/// How much more.
const GROWTH: u32 = 4;

/// Questions about one net, and what is known of them.
pub struct Inquiry {
    pub net: PetriNet,
    pub answers: Answers,
}

/// The answers, and the search in whose states they are told.
pub struct Answered {
    pub model: NativeModel,
    pub report: Report,
}

/// What the ways need to know.
pub struct Means<'a, 's, E> {
    pub plan: &'a Plan,
    pub mode: Mode,
    pub search: &'a mut Search<'s, E>,
    /// Does the user want it to end?
    pub interrupted: fn() -> bool,
    deadline: Option<Instant>,
}

impl<E> Means<'_, '_, E> {
    fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// When a way that may take so long must end.
    pub fn end_of(&self, slice: Duration) -> Instant {
        Instant::now() + self.left().map_or(slice, |left| left.min(slice))
    }

    /// The plan for a search that may take so long.
    pub fn plan_for(&self, slice: Duration) -> Plan {
        let mut plan = self.plan.clone();
        plan.options.time = Some(self.left().map_or(slice, |left| left.min(slice)));
        plan
    }

    pub fn is_over(&self) -> bool {
        (self.interrupted)() || self.left().is_some_and(|left| left.is_zero())
    }
}

impl Inquiry {
    pub fn new(net: PetriNet, questions: Vec<NamedQuestion>) -> Inquiry {
        let answers = Answers::new(&net, questions);
        Inquiry { net, answers }
    }

    pub fn answer<E: From<LoadError> + From<BuildError>>(
        mut self,
        plan: &Plan,
        mode: Mode,
        search: &mut Search<E>,
        interrupted: fn() -> bool,
    ) -> Result<Answered, E> {
        let deadline = plan.options.time.and_then(|time| Instant::now().checked_add(time));
        let mut means = Means { plan, mode, search, interrupted, deadline };
        let begun = Instant::now();
        // Who asks for another engine wants to hear what that one says.
        let all_ways = plan.options.engine == EngineChoice::Explicit;
        if all_ways {
            equation::at_a_glance(&self.net, &mut self.answers);
            cover::answer(&mut self.net, &mut self.answers, means.end_of(GLANCE), plan.memory);
        }
        let mut last = match self.answers.open().is_empty() {
            true => self.nothing(&means, begun)?,
            false => match self.explore(if all_ways { SHORT } else { LONGEST }, &mut means) {
                Ok(explored) => explored,
                // What is known already is worth more than the reason why no search could begin.
                Err(_) if self.answers.any_known() => self.nothing(&means, begun)?,
                Err(error) => return Err(error),
            },
        };
        let mut slice = SLICE;
        // A search that was not ended by the clock would end the same way again.
        let mut whole_again = ended_by_time(&last.report);
        while all_ways && !self.answers.open().is_empty() && !means.is_over() && !last.report.exhaustive {
            let before = self.answers.open().len();
            cover::answer(&mut self.net, &mut self.answers, means.end_of(slice.min(PATIENCE)), plan.memory);
            if self.net.structure.equation {
                equation::answer(&self.net, &mut self.answers, slice, &means);
            }
            if self.net.structure.walks {
                walks::answer(&self.net, &mut self.answers, slice, &means);
            }
            let mut more_time_helps = false;
            if self.net.structure.reduction {
                for i in self.answers.open() {
                    // A search that cannot even begin, for lack of memory, answers nothing.
                    let limit = reduced::answer(&self.net, &mut self.answers, i, slice, &mut means);
                    more_time_helps |= limit.is_ok_and(|limit| limit == Some(Limit::Time));
                    if means.is_over() {
                        break;
                    }
                }
            }
            if self.answers.open().is_empty() || means.is_over() {
                break;
            }
            if whole_again {
                let next = self.explore(slice.saturating_mul(GROWTH), &mut means);
                whole_again = next.as_ref().is_ok_and(|next| ended_by_time(&next.report));
                // What was seen of the net is best told by the search that saw most.
                let more = |next: &Answered| next.report.facts.states >= last.report.facts.states;
                last = next.ok().filter(|next| next.report.exhaustive || more(next)).unwrap_or(last);
            }
            more_time_helps |= whole_again;
            if !more_time_helps && self.answers.open().len() == before && slice >= LONG {
                break;
            }
            slice = slice.saturating_mul(GROWTH).min(LONGEST);
        }
        last.report.remarks.push(self.net.told());
        last.report.elapsed = begun.elapsed();
        last.report.limit = match last.report.limit {
            _ if self.answers.open().is_empty() => None,
            _ if (means.interrupted)() => Some(Limit::Interrupt),
            _ if means.is_over() => Some(Limit::Time),
            // Only what cannot be decided here is left.
            None if last.report.exhaustive || last.report.omission.is_some() || !all_ways => None,
            Some(Limit::Time) | None => Some(Limit::Memory),
            other => other,
        };
        // Runs are told in the states of a model that has room for all their markings.
        self.net.make_room_for(&self.answers.most_on_runs(&self.net.net));
        let system = &self.net.lowered()?.system;
        if !Arc::ptr_eq(system, last.model.system()) {
            last.model = NativeModel::new(system.clone(), mode)?;
        }
        last.report.properties = self.answers.results(&self.net, &last.model);
        Ok(last)
    }

    /// No search at all.
    fn nothing<E: From<LoadError> + From<BuildError>>(&self, means: &Means<E>, begun: Instant) -> Result<Answered, E> {
        let model = NativeModel::new(self.net.lowered()?.system.clone(), means.mode)?;
        let report = Report::of_nothing(&model, means.plan, begun.elapsed());
        Ok(Answered { model, report })
    }

    /// Searches the markings for all that is open.
    fn explore<E: From<LoadError> + From<BuildError>>(
        &mut self,
        slice: Duration,
        means: &mut Means<E>,
    ) -> Result<Answered, E> {
        let open = self.answers.open();
        let goals: Vec<(&Goal, Option<u64>)> =
            open.iter().map(|&i| (&self.answers.goals[i], self.answers.most[i])).collect();
        let plan = means.plan_for(slice);
        let Explored { model, mut report, found } = explore(&mut self.net, &goals, &plan, means.mode, means.search)?;
        for (i, finding) in open.into_iter().zip(found) {
            let Some(finding) = finding else { continue };
            let run = finding.trace.map(|trace| Run {
                transitions: trace.steps.iter().map(|(event, _)| *event).collect(),
                shortest: finding.shortest,
            });
            if finding.known == Known::Counted {
                report.tokens = model.most_tokens();
            }
            self.answers.settle(i, Answer { known: finding.known, run, how: None });
        }
        for (t, happened) in model.happened().into_iter().enumerate() {
            if happened || report.exhaustive {
                self.answers.fireable[t] = Some(happened);
            }
        }
        self.answers.conclude(&self.net);
        Ok(Answered { model, report })
    }
}

fn ended_by_time(report: &Report) -> bool {
    report.limit == Some(Limit::Time)
}
