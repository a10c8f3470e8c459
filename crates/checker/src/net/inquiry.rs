//! All that is asked about a net, answered one way after the other: by a short search, by structure, by walks, by searches
//! of smaller nets, of runs, by sets of markings, and by a long search at last.
//!
//! Every way answers what it can and leaves the rest to the next. No way says what it has not proven.

use super::answers::{Answer, Answers, Run};
use super::explicit::{Explored, explore, question};
use super::goal::{Goal, Known};
use super::runs::{self, Decider, Found, Runs, SmallerNets};
use super::{Made, PetriNet, Search, cover, equation, reduced, walks};
use crate::coverage::of_events;
use scrimp_core::budget::default_memory;
use scrimp_core::{Limit, Report};
use scrimp_lang::LoadError;
use scrimp_native::{BuildError, Mode, NativeModel};
use scrimp_net::{Condition, NamedQuestion};
use scrimp_report::coverage::Coverage;
use scrimp_search::plan::EngineChoice;
use scrimp_search::{Feature, Options, Plan, Question, Refusal};
use scrimp_system::Stop;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the first search may take: most nets that people have at hand are done by then. Of a short time, only a part.
const SHORT: Duration = Duration::from_secs(3);
const SHORT_PART: u32 = 8;
/// What may be spent on nets without proven bounds before anything is searched.
const GLANCE: Duration = Duration::from_millis(500);
/// What each other way may take at first; more in every round. Many questions are decided at once, and none should wait for
/// one that is not; of a short time, only a part.
const SLICE: Duration = Duration::from_millis(500);
const SLICE_PART: u32 = 64;
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
    /// Find out which transitions fire, whatever is asked.
    pub watch: bool,
}

/// The answers, and the search in whose states they are told.
pub struct Answered {
    pub model: Arc<NativeModel>,
    /// The plan of that search; nothing, where there was none.
    pub plan: Option<Plan>,
    pub report: Report,
    /// All searches that were made, in order; none where all was known without one.
    pub searches: Vec<Made>,
    /// Which transitions fire and which places are marked, where that was asked for and is known of all of them.
    pub coverage: Option<Coverage>,
}

/// What the ways need to know.
pub struct Context<'a, 's, E> {
    pub options: &'a Options,
    pub mode: Mode,
    pub search: &'a mut Search<'s, E>,
    /// When all of it has to end.
    pub stop: Stop,
}

impl<E> Context<'_, '_, E> {
    fn left(&self) -> Option<Duration> {
        self.stop.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// A part of the time that is left, but no more than this.
    fn part(&self, of: u32, most: Duration) -> Duration {
        self.left().map_or(most, |left| (left / of).min(most))
    }

    /// When a way that may take so long must end.
    pub fn end_of(&self, slice: Duration) -> Instant {
        Instant::now() + self.left().map_or(slice, |left| left.min(slice))
    }

    /// The options of a search that may take so long.
    pub fn options_for(&self, slice: Duration) -> Options {
        Options { time: Some(self.left().map_or(slice, |left| left.min(slice))), ..self.options.clone() }
    }

    /// The memory that all of it may use.
    pub fn memory(&self) -> usize {
        self.options.memory.unwrap_or_else(default_memory)
    }

    pub fn is_over(&self) -> bool {
        self.stop.due().is_some()
    }
}

impl Inquiry {
    /// What its searches have to decide, each goal by itself.
    pub fn questions(&self) -> Vec<Question> {
        let goals = self.answers.goals.iter();
        let of = |goal: &Goal| match goal {
            Goal::Runs(Runs::Linear(_)) => Some(Question::about(Feature::Ltl)),
            Goal::Runs(Runs::Branching(_)) => Some(Question::about(Feature::Ctl)),
            Goal::Joined(_) | Goal::Beyond => None,
            goal => Some(question(std::iter::once(goal))),
        };
        goals.filter_map(of).map(|question| question.with(Feature::OfNet)).collect()
    }

    pub fn new(net: PetriNet, questions: Vec<NamedQuestion>) -> Inquiry {
        let answers = Answers::new(&net, questions);
        Inquiry { net, answers, watch: false }
    }

    pub fn answer<E: From<LoadError> + From<BuildError> + From<Refusal>>(
        mut self,
        options: &Options,
        mode: Mode,
        search: &mut Search<E>,
        stop: &Stop,
    ) -> Result<Answered, E> {
        let (mut decider, mut smaller) = (Decider::new(mode, stop.clone()), SmallerNets::default());
        let mut means = Context { options, mode, search, stop: stop.clone() };
        let begun = Instant::now();
        // Who asks for another engine wants to hear what that one says.
        let all_ways = options.engine == EngineChoice::Explicit;
        if all_ways {
            equation::at_a_glance(&self.net, &mut self.answers);
            cover::answer(&mut self.net, &mut self.answers, means.end_of(GLANCE), means.memory());
        }
        let mut last = match self.answers.open().is_empty() {
            true => self.nothing(&means, begun)?,
            false => match self.explore(if all_ways { means.part(SHORT_PART, SHORT) } else { LONGEST }, &mut means) {
                Ok(explored) => explored,
                // What is known already is worth more than the reason why no search could begin.
                Err(_) if self.answers.any_known() => self.nothing(&means, begun)?,
                Err(error) => return Err(error),
            },
        };
        let first = means.part(SLICE_PART, SLICE);
        let mut slice = first;
        // A search that was not ended by the clock would end the same way again.
        let mut whole_again = ended_by_time(&last.report);
        let mut learnt = false;
        while all_ways && !self.answers.is_done() && !means.is_over() {
            let before = self.answers.left();
            let mut more_time_helps = false;
            // What is decided at once needs no thought; what is not deserves some.
            if slice > first && !learnt && self.net.structure.equation && !self.answers.open_runs().is_empty() {
                learnt = true;
                self.learn(&means);
                if last.report.exhaustive && !self.answers.open().is_empty() {
                    last = self.explore(LONGEST, &mut means)?;
                }
            }
            if !self.answers.open().is_empty() && !last.report.exhaustive {
                more_time_helps |= self.by_markings(slice, &mut last, &mut whole_again, &mut means);
            }
            if !self.answers.open_runs().is_empty() && !means.is_over() {
                // Runs that are found at once are those of the whole net, which can be shown.
                let smaller = (slice > first && self.net.structure.reduction).then_some(&mut smaller);
                more_time_helps |= self.by_runs(&mut decider, smaller, slice, &means);
            }
            if !more_time_helps && self.answers.left() == before && slice >= LONG {
                break;
            }
            slice = slice.saturating_mul(GROWTH).min(LONGEST);
        }
        if !all_ways && !self.answers.open_runs().is_empty() {
            self.by_engine(&mut decider, &means);
        }
        if last.report.visits == 0
            && last.report.sets.is_none()
            && let Some(first) = self.answers.searches.first()
        {
            // Only runs were looked for: these searches have figures too.
            let Report { limit, exhaustive, .. } = last.report;
            last.report = Report { limit, exhaustive, ..first.report.clone() };
        }
        last.report.remarks.push(self.net.told());
        last.report.elapsed = begun.elapsed();
        last.report.limit = match last.report.limit {
            _ if self.answers.is_done() => None,
            _ if means.is_over() => means.stop.due().map(Limit::from),
            // Only what cannot be decided here is left.
            None if last.report.exhaustive || last.report.omission.is_some() || !all_ways => None,
            Some(Limit::Time) | None => Some(Limit::Memory),
            other => other,
        };
        // Runs are told in the states of a model that has room for all their markings.
        self.net.make_room_for(&self.answers.most_on_runs(&self.net.net));
        let system = &self.net.lowered()?.system;
        if !Arc::ptr_eq(system, last.model.system()) {
            last.model = Arc::new(NativeModel::new(system.clone(), mode)?);
        }
        let patient = means.stop.deadline().is_none();
        last.report.properties = self.answers.results(&self.net, &last.model, patient);
        let fires: Option<Vec<bool>> = self.answers.fireable.iter().copied().collect();
        last.coverage = fires.filter(|_| self.watch).map(|fires| of_events(system, Some(&self.net.net), &fires));
        last.searches = self.answers.searches;
        Ok(last)
    }

    /// One round of all that looks at markings; says whether more time may help.
    fn by_markings<E: From<LoadError> + From<BuildError> + From<Refusal>>(
        &mut self,
        slice: Duration,
        last: &mut Answered,
        whole_again: &mut bool,
        means: &mut Context<E>,
    ) -> bool {
        cover::answer(&mut self.net, &mut self.answers, means.end_of(slice.min(PATIENCE)), means.memory());
        if self.net.structure.equation {
            equation::answer(&self.net, &mut self.answers, slice, means);
        }
        if self.net.structure.walks {
            walks::answer(&self.net, &mut self.answers, slice, means);
        }
        let mut more_time_helps = false;
        if self.net.structure.reduction {
            for i in self.answers.open() {
                // A search that cannot even begin, for lack of memory, answers nothing.
                let limit = reduced::answer(&self.net, &mut self.answers, i, slice, means);
                more_time_helps |= limit.is_ok_and(|limit| limit == Some(Limit::Time));
                if means.is_over() {
                    break;
                }
            }
        }
        if self.answers.open().is_empty() || means.is_over() {
            return true;
        }
        if *whole_again {
            let next = self.explore(slice.saturating_mul(GROWTH), means);
            *whole_again = next.as_ref().is_ok_and(|next| ended_by_time(&next.report));
            // What was seen of the net is best told by the search that saw most.
            if let Ok(next) = next
                && (next.report.exhaustive || next.report.facts.states >= last.report.facts.states)
            {
                *last = next;
            }
        }
        more_time_helps | *whole_again
    }

    /// Replaces the conditions of formulas that structure shows to hold always or never.
    fn learn<E>(&mut self, means: &Context<E>) {
        let share = means.left().map_or(LONG, |left| (left / 10).min(LONG));
        let known = runs::learn(&self.net, &self.answers.open_formulas(), means.end_of(share));
        if !known.is_empty() {
            let mut replaced = |condition: &Condition| runs::replaced(condition, &known);
            self.answers.restate(&self.net.net, &mut replaced, "by the state equation");
        }
    }

    /// One round of all that looks at runs, in smaller nets where there are any; says whether more time may help.
    fn by_runs<E: From<LoadError> + From<BuildError> + From<Refusal>>(
        &mut self,
        decider: &mut Decider,
        mut smaller: Option<&mut SmallerNets>,
        slice: Duration,
        means: &Context<E>,
    ) -> bool {
        let mut more_time_helps = false;
        for reduced in [false, true] {
            for i in self.answers.open_runs() {
                let Goal::Runs(runs) = self.answers.goals[i].clone() else { continue };
                if means.is_over() {
                    return true;
                }
                if reduced && !matches!(runs, Runs::Linear(_)) {
                    continue;
                }
                let time = means.left().map_or(slice, |left| left.min(slice)) / 2;
                let made = smaller.as_mut().and_then(|all| all.of(&self.net, &runs, means.mode, &means.stop, time));
                let how = made.as_ref().map(|small| small.how.clone());
                let decided: Result<_, E> = match made {
                    Some(small) => small.decider.on_the_fly(&mut small.net, &small.runs, means.options, time, reduced),
                    None => decider.on_the_fly(&mut self.net, &runs, means.options, time, reduced),
                };
                more_time_helps |= self.take(&[i], decided.map(|(made, found)| (made, vec![found])), how.as_deref());
            }
            if !reduced {
                more_time_helps |= self.by_sets(decider, smaller.as_deref_mut(), slice, means);
            }
        }
        more_time_helps
    }

    /// By sets of markings: all at once in the whole net, where there are no smaller ones or the set of all markings could be
    /// made before, and then one by one in smaller nets.
    fn by_sets<E: From<LoadError> + From<BuildError> + From<Refusal>>(
        &mut self,
        decider: &mut Decider,
        mut smaller: Option<&mut SmallerNets>,
        slice: Duration,
        means: &Context<E>,
    ) -> bool {
        let (mut open, mut all) = (Vec::new(), Vec::new());
        for i in self.answers.open_runs() {
            let Goal::Runs(runs) = self.answers.goals[i].clone() else { continue };
            let time = means.left().map_or(slice, |left| left.min(slice));
            let small = smaller.as_mut().and_then(|all| all.of(&self.net, &runs, means.mode, &means.stop, time));
            if decider.reaches_all || small.is_none() {
                open.push(i);
                all.push(runs);
            }
        }
        let mut more_time_helps = false;
        if !all.is_empty() && !means.is_over() {
            let slice = slice.saturating_mul(GROWTH);
            let time = means.left().map_or(slice, |left| left.min(slice));
            let decided: Result<_, E> = decider.by_sets(&mut self.net, &all, means.options, time);
            more_time_helps |= self.take(&open, decided, Some("by sets of markings"));
        }
        for i in self.answers.open_runs() {
            let Goal::Runs(runs) = self.answers.goals[i].clone() else { continue };
            let time = means.left().map_or(slice, |left| left.min(slice));
            let small = smaller.as_mut().and_then(|all| all.of(&self.net, &runs, means.mode, &means.stop, time));
            let Some(small) = small.filter(|_| !means.is_over()) else { continue };
            let asked = [small.runs.clone()];
            let decided: Result<_, E> = small.decider.by_sets(&mut small.net, &asked, means.options, time);
            let how = small.how.clone();
            more_time_helps |= self.take(&[i], decided, Some(&how));
        }
        more_time_helps
    }

    /// Notes what a search said of goals about runs, the search among them; says whether more time may help.
    fn take<E>(&mut self, goals: &[usize], decided: Result<(Option<Made>, Vec<Found>), E>, how: Option<&str>) -> bool {
        let (made, found) = decided.unwrap_or_default();
        made.into_iter().for_each(|made| self.answers.searched(goals, made));
        let mut more_time_helps = false;
        for (&i, found) in goals.iter().zip(found) {
            more_time_helps |= found.limit == Some(Limit::Time);
            self.note(i, found, how);
        }
        more_time_helps
    }

    /// By the engine that was asked for, and no other.
    fn by_engine<E: From<LoadError> + From<BuildError> + From<Refusal>>(
        &mut self,
        decider: &mut Decider,
        means: &Context<E>,
    ) {
        if matches!(means.options.engine, EngineChoice::Symbolic(_)) {
            self.by_sets(decider, None, LONGEST, means);
        }
    }

    /// Notes what was found of a goal.
    fn note(&mut self, i: usize, found: Found, how: Option<&str>) {
        let Some(truth) = found.truth else { return };
        // A run of a smaller net is none of the whole.
        let run = found.lasso.filter(|_| how.is_none()).map(|(trace, cycle)| Run {
            transitions: trace.steps.iter().map(|(event, _)| *event).collect(),
            shortest: false,
            cycle: Some(cycle),
        });
        let how = how.map(str::to_string).or_else(|| run.is_none().then(|| "by looking at runs".to_string()));
        self.answers.settle(i, Answer { known: Known::Truth(truth), run, how });
    }

    /// No search at all.
    fn nothing<E: From<LoadError> + From<BuildError> + From<Refusal>>(
        &self,
        means: &Context<E>,
        begun: Instant,
    ) -> Result<Answered, E> {
        let model = Arc::new(NativeModel::new(self.net.lowered()?.system.clone(), means.mode)?);
        let report = Report::of_nothing(&*model, begun.elapsed());
        Ok(Answered { model, plan: None, report, searches: Vec::new(), coverage: None })
    }

    /// Searches the markings for all that is open.
    fn explore<E: From<LoadError> + From<BuildError> + From<Refusal>>(
        &mut self,
        slice: Duration,
        means: &mut Context<E>,
    ) -> Result<Answered, E> {
        let open = self.answers.open();
        let goals: Vec<(&Goal, Option<u64>)> =
            open.iter().map(|&i| (&self.answers.goals[i], self.answers.most[i])).collect();
        let options = means.options_for(slice);
        let Explored { model, made, found } =
            explore(&mut self.net, &goals, &options, self.watch, means.mode, means.search)?;
        let (plan, mut report) = (made.plan.clone(), made.report.clone());
        self.answers.searched(&open, made);
        for (i, finding) in open.into_iter().zip(found) {
            let Some(finding) = finding else { continue };
            let run = finding.trace.map(|trace| Run {
                transitions: trace.steps.iter().map(|(event, _)| *event).collect(),
                shortest: finding.shortest,
                cycle: None,
            });
            if finding.known == Known::Counted {
                report.tokens = model.most_tokens();
            }
            self.answers.settle(i, Answer { known: finding.known, run, how: None });
        }
        // What a reduction leaves out may fire all the same, and so may what fired before a search was taken up.
        let all = report.exhaustive
            && report.ran_the_model()
            && !plan.options().reduce.leaves_out_states()
            && means.options.resume.is_none();
        for (t, happened) in model.happened().into_iter().enumerate() {
            if happened || all {
                self.answers.fireable[t] = Some(happened);
            }
        }
        self.answers.conclude(&self.net);
        Ok(Answered { model, plan: Some(plan), report, searches: Vec::new(), coverage: None })
    }
}

fn ended_by_time(report: &Report) -> bool {
    report.limit == Some(Limit::Time)
}
