//! Random questions about random small nets: every answer, whichever part of structure gives it, is that of firing alone,
//! and every run that comes with an answer fires and ends where it should.
//!
//! `SCRIMP_TEST_NETS` is the number of nets, and `SCRIMP_TEST_SEED` the first seed.

use crate::common::nets::{Graph, after, condition, net, shown, tokens};
use scrimp::lts::Wanted;
use scrimp::nets::{Inquiry, PetriNet, Structure};
use scrimp::{
    CheckError, Control, Guides, Limit, Mode, ModelFacts, NativeModel, Options, Plan, Property, PropertyResult, Report,
    Verdict,
};
use scrimp_net::{Condition, Formula, Marking, NamedQuestion, Net, Question};
use scrimp_system::Random;
use std::error::Error;
use std::time::Duration;

/// Markings of a net that are looked at.
const MOST: usize = 300;
/// States that a search may visit: more than a net has whose markings are all known.
const VISITS: u64 = 2_000;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn seeds(usual: u64) -> std::ops::Range<u64> {
    let first = number("SCRIMP_TEST_SEED", 0);
    first..first + number("SCRIMP_TEST_NETS", usual)
}

/// What is asked of a net, in terms that brute force understands too.
#[derive(Debug, Clone)]
enum Asked {
    Reachable(Condition),
    Always(Condition),
    Most(Vec<u32>),
    OneSafe,
    Stable,
    QuasiLive,
    Live,
    Bounded,
    Space,
}

impl Asked {
    fn question(&self) -> Question {
        let is = |c: &Condition| Box::new(Formula::Atom(c.clone()));
        match self {
            Asked::Reachable(c) => Question::Formula(Formula::ExistsPath(Box::new(Formula::Finally(is(c))))),
            Asked::Always(c) => Question::Formula(Formula::AllPaths(Box::new(Formula::Globally(is(c))))),
            Asked::Most(places) => Question::Bound(places.clone()),
            Asked::OneSafe => Question::OneSafe,
            Asked::Stable => Question::StableMarking,
            Asked::QuasiLive => Question::QuasiLiveness,
            Asked::Live => Question::Liveness,
            Asked::Bounded => Question::Bounded,
            Asked::Space => Question::StateSpace,
        }
    }

    /// Whether a marking shows what is asked for, or what must not be.
    fn decided_by(&self, net: &Net, marking: &Marking) -> bool {
        match self {
            Asked::Reachable(c) => c.holds(net, marking),
            Asked::Always(c) => !c.holds(net, marking),
            Asked::OneSafe => net.place_groups.iter().any(|group| tokens(marking, &group.members) > 1),
            _ => false,
        }
    }

    /// The answer, as far as these markings tell.
    fn answer(&self, net: &Net, graph: &Graph, complete: bool) -> Option<String> {
        let truth = |truth: bool| Some(if truth { "TRUE" } else { "FALSE" }.to_string());
        let met = || graph.markings.iter().any(|marking| self.decided_by(net, marking));
        match self {
            Asked::Reachable(_) if complete || met() => truth(met()),
            Asked::Always(_) | Asked::OneSafe if complete || met() => truth(!met()),
            Asked::Most(places) if complete => Some(graph.most(places).to_string()),
            Asked::Stable if complete || !graph.is_stable(net) => truth(graph.is_stable(net)),
            Asked::QuasiLive if complete => truth(graph.is_quasi_live(net)),
            Asked::Live if complete => truth(graph.is_live(net)),
            Asked::Bounded if complete => truth(true),
            _ => None,
        }
    }
}

fn asked(net: &Net, random: &mut Random) -> Vec<Asked> {
    let mut all = vec![
        Asked::Reachable(Condition::Deadlock),
        Asked::Always(Condition::Not(Box::new(Condition::Deadlock))),
        Asked::OneSafe,
        Asked::Stable,
        Asked::QuasiLive,
        Asked::Live,
        Asked::Bounded,
    ];
    if random.below(3) == 0 {
        all.push(Asked::Space);
    }
    for _ in 0..4 {
        all.push(Asked::Reachable(condition(net, random, 2)));
        all.push(Asked::Always(condition(net, random, 2)));
    }
    for _ in 0..3 {
        let places = (0..1 + random.below(3)).map(|_| random.below(net.places.len()) as u32).collect();
        all.push(Asked::Most(places));
    }
    all
}

/// How a net is asked.
#[derive(Debug, Clone)]
struct Manner {
    structure: Structure,
    /// The first search ends before it has begun, so that the other ways have something to do.
    cut_short: bool,
    time: Option<Duration>,
    mode: Mode,
}

fn results(net: &Net, asked: &[Asked], manner: &Manner) -> Result<(Vec<PropertyResult>, Report), Box<dyn Error>> {
    let name = |(number, a): (usize, &Asked)| NamedQuestion { name: number.to_string(), question: a.question() };
    let questions = asked.iter().enumerate().map(name).collect();
    let options = Options { threads: 1, memory: Some(1 << 30), time: manner.time, ..Options::default() };
    let mut searches = 0;
    let mut search =
        |model: &NativeModel, properties: &[Property<scrimp_core::Condition>], plan: &mut Plan, wanted: &Wanted| {
            let cut_short = manner.cut_short && searches == 0;
            let visits = Some(if cut_short { 2 } else { VISITS });
            *plan = plan.instead("", &ModelFacts::default(), |options| options.visits = visits)?;
            searches += 1;
            let guides = Guides { graph: Some(wanted), ..Guides::default() };
            let control = Control::new(plan.options().time);
            let mut report = scrimp::run_guided(model, properties, plan, &control, guides)?;
            // As if time had been up: what the clock ended is tried again.
            if cut_short && report.limit == Some(Limit::Visits) {
                report.limit = Some(Limit::Time);
            }
            Ok::<Report, CheckError>(report)
        };
    let petri = PetriNet::new(net.clone(), "random".into(), manner.structure);
    let never = scrimp::Stop::never();
    let stop = manner.time.map_or_else(|| never.clone(), |time| never.within(time));
    let answered = Inquiry::new(petri, questions).answer(&options, manner.mode, &mut search, &stop)?;
    Ok((answered.report.properties.clone(), answered.report))
}

/// Is the answer that of firing, and is the run one that shows it? Says what is wrong.
fn right(asked: &Asked, result: &PropertyResult, net: &Net, graph: &Graph, complete: bool) -> Result<(), String> {
    let expected = asked.answer(net, graph, complete);
    let Some(answer) = &result.answer else {
        let counted = matches!(asked, Asked::Space) && result.verdict == Verdict::Verified;
        let fine = result.verdict == Verdict::Undecided || counted && complete;
        return if fine { Ok(()) } else { Err("a verdict without an answer".into()) };
    };
    if expected.as_ref().is_some_and(|expected| expected != answer) {
        return Err(format!("{answer}, not {expected:?}"));
    }
    let verdict = if answer == "FALSE" { Verdict::Violated } else { Verdict::Verified };
    if result.verdict != verdict {
        return Err(format!("{:?} with the answer {answer}", result.verdict));
    }
    if let (Asked::Most(places), Ok(most)) = (asked, answer.parse::<u64>())
        && most < graph.most(places)
    {
        return Err(format!("at most {most} tokens, and {} were met", graph.most(places)));
    }
    if complete && answer == "ω" {
        return Err("a bounded net without a bound".into());
    }
    let Some(trace) = &result.trace else { return Ok(()) };
    let run: Vec<u32> = trace.steps.iter().map(|(event, _)| *event).collect();
    let Some(end) = after(net, &run) else { return Err(format!("the run {run:?} does not fire")) };
    let shown = match asked {
        Asked::Most(places) => answer == &tokens(&end, places).to_string(),
        // Some suffix of the run can be fired for ever.
        Asked::Bounded => (0..run.len()).any(|length| {
            let start = after(net, &run[..length]).unwrap_or_default();
            start != end && start.iter().zip(&end).all(|(a, b)| a <= b)
        }),
        _ => asked.decided_by(net, &end),
    };
    if !shown {
        return Err(format!("the run {run:?} ends in {end:?}, which does not show it"));
    }
    let nearest = graph.markings.iter().position(|marking| asked.decided_by(net, marking));
    if let (true, Some(nearest)) = (result.shortest, nearest)
        && graph.distance(nearest) != run.len()
    {
        return Err(format!("a run of {} is not the shortest", run.len()));
    }
    Ok(())
}

/// Questions that were answered, and how.
#[derive(Default, Debug)]
struct Tally {
    answers: usize,
    open: usize,
    runs: usize,
    how: std::collections::BTreeMap<String, usize>,
}

fn check(seed: u64, manner: &Manner, tally: &mut Tally) {
    let net = net(seed);
    let (graph, complete) = match Graph::new(&net, MOST) {
        Ok(graph) => (graph, true),
        Err(graph) => (graph, false),
    };
    let asked = asked(&net, &mut Random(seed ^ 0x5eed));
    let (results, report) = results(&net, &asked, manner).unwrap_or_else(|e| panic!("seed {seed}, {manner:?}: {e}"));
    for (asked, result) in asked.iter().zip(&results) {
        let context = || format!("seed {seed}, {manner:?}\n{asked:?}\n{:?}\n{}", result.how, shown(&net));
        right(asked, result, &net, &graph, complete).unwrap_or_else(|e| panic!("{e}\n{}", context()));
        tally.answers += result.answer.is_some() as usize;
        tally.open += (result.verdict == Verdict::Undecided) as usize;
        tally.runs += result.trace.is_some() as usize;
        if let Some(how) = &result.how {
            let how: Vec<&str> = how.split(' ').filter(|word| word.parse::<u64>().is_err()).take(3).collect();
            *tally.how.entry(how.join(" ")).or_default() += 1;
        }
        // Where a net is small and has no reset arcs, there is time enough for every answer.
        let resets = net.transitions.iter().any(|t| !t.resets.is_empty());
        let sure = complete && manner.time.is_none() && !(resets && matches!(asked, Asked::Stable));
        assert!(!sure || result.verdict != Verdict::Undecided, "no answer\n{}", context());
    }
    let whole = report.exhaustive && complete;
    assert!(
        !whole || report.facts.states == graph.markings.len() as u64,
        "seed {seed}, {manner:?}: {:?}\n{}",
        report.facts,
        shown(&net)
    );
}

/// Every way but walks, which go on for as long as they are let.
const STILL: Structure = Structure { walks: false, ..Structure::ALL };

fn manners() -> Vec<Manner> {
    let manner = |structure, cut_short, mode| Manner { structure, cut_short, time: None, mode };
    let none = Structure::NONE;
    vec![
        manner(Structure::ALL, false, Mode::Auto),
        manner(none, false, Mode::Interpreted),
        manner(none, true, Mode::Auto),
        manner(STILL, true, Mode::Auto),
        manner(Structure { equation: true, ..none }, true, Mode::Auto),
        manner(Structure { reduction: true, ..none }, true, Mode::Auto),
        manner(Structure { bounds: true, equation: true, ..none }, true, Mode::Auto),
        manner(Structure { bounds: true, groups: true, reduction: true, ..none }, true, Mode::Auto),
        manner(Structure { implied: true, reduction: true, ..none }, true, Mode::Auto),
        manner(Structure { equation: false, ..STILL }, true, Mode::Compiled),
    ]
}

/// Nets whose markings are all searched: no limit of time, every answer is there.
#[test]
fn every_answer_of_a_small_net() {
    let mut tally = Tally::default();
    for seed in seeds(150).filter(|&seed| Graph::new(&net(seed), MOST).is_ok()) {
        manners().iter().for_each(|manner| check(seed, manner, &mut tally));
    }
    println!("{tally:#?}");
    assert!(tally.runs * 10 > tally.answers && tally.answers > 50 * tally.open, "{tally:?}");
}

/// Nets that are large or have no bound, and walks: what is answered in a short time is right.
#[test]
fn every_answer_in_a_short_time() {
    let mut tally = Tally::default();
    let time = Some(Duration::from_millis(30));
    let walks = Structure { walks: true, ..Structure::NONE };
    for seed in seeds(60) {
        for structure in [Structure::ALL, STILL, walks, Structure::NONE] {
            check(seed, &Manner { structure, cut_short: true, time, mode: Mode::Auto }, &mut tally);
        }
    }
    println!("{tally:#?}");
    assert!(tally.how.contains_key("by a walk"), "{tally:?}");
}
