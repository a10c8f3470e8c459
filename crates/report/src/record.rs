//! What a run leaves of how it went: figures taken now and then, the sizes of levels, and where the sweep-line stood.

use crate::plot::{Axis, Kind, Plot, Series, Unit};
use crate::schema;
use scrimp_core::{Control, Figures, Report, budget};
use serde_json::{Value, json};
use std::str::FromStr;

/// A line of a plot: its name, and what it shows of a point in time.
type Figure<T> = (&'static str, fn(&T) -> u64);

/// So many samples and points are kept, beside the last one; then every other one goes.
const MOST: usize = 512;

/// How a run went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// In the order of time.
    pub samples: Vec<Sample>,
    /// States on each breadth-first level, where the search went level by level.
    pub levels: Vec<u64>,
    /// Where the sweep-line stood, if there was one.
    pub front: Vec<FrontPoint>,
}

/// A search at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    /// Since the search began.
    pub seconds: f64,
    pub figures: Figures,
    /// Resident bytes of the process.
    pub memory: u64,
}

impl Sample {
    /// A sample of these figures, at the beginning of time.
    pub fn of(figures: Figures) -> Sample {
        Sample { seconds: 0.0, figures, memory: budget::resident().unwrap_or(0) as u64 }
    }

    /// The last sample of a search that is over: engines show their figures only now and then, the report has the last ones.
    pub fn last(shown: Figures, report: &Report) -> Sample {
        let facts = &report.facts;
        if report.visits == 0 {
            return Sample::of(shown);
        }
        // How many are stored is known where none was forgotten.
        let states = if report.forget.stored_peak == facts.states { facts.states } else { shown.states };
        Sample::of(Figures {
            states,
            visits: report.visits,
            transitions: facts.transitions,
            open: facts.open,
            depth: u64::from(facts.depth),
            ..shown
        })
    }

    /// The sample for programs: of which search of a run, when, how fast, how many states there may be in all, what is being
    /// done.
    pub fn object(&self, search: u64, seconds: f64, rate: f64, control: &Control) -> Value {
        let range = control.expected(self.figures.states);
        // In the middle, as ratios go.
        let expected = range.map(|(least, most)| (least as f64 * most as f64).sqrt().round() as u64);
        let Figures { states, visits, transitions, open, depth, nodes, clauses } = self.figures;
        json!({
            "schema": schema::PROGRESS,
            "search": search,
            "seconds": (seconds * 1e4).round() / 1e4,
            "states": states,
            "visits": visits,
            "transitions": transitions,
            "open": open,
            "depth": depth,
            "nodes": nodes,
            "clauses": clauses,
            "memory": self.memory,
            "rate": rate.round() as u64,
            "expected": expected,
            "expected_least": range.map(|(least, _)| least),
            "expected_most": range.map(|(_, most)| most),
            "phase": control.phase(),
        })
    }
}

/// What was stored when the sweep-line moved on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrontPoint {
    pub sweep: u64,
    pub stored: u64,
    pub open: u64,
    pub persistent: u64,
    pub visits: u64,
}

/// The plots that there can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panel {
    Levels,
    Stored,
    Memory,
    Rate,
    Front,
    Nodes,
    Clauses,
}

impl Panel {
    pub const ALL: [Panel; 7] =
        [Panel::Levels, Panel::Stored, Panel::Nodes, Panel::Clauses, Panel::Memory, Panel::Rate, Panel::Front];

    /// The name that a user writes.
    pub fn name(self) -> &'static str {
        match self {
            Panel::Levels => "levels",
            Panel::Stored => "stored",
            Panel::Memory => "memory",
            Panel::Rate => "rate",
            Panel::Front => "front",
            Panel::Nodes => "nodes",
            Panel::Clauses => "clauses",
        }
    }
}

impl FromStr for Panel {
    type Err = String;

    fn from_str(text: &str) -> Result<Panel, String> {
        Panel::ALL.into_iter().find(|panel| panel.name() == text).ok_or_else(|| {
            let names: Vec<_> = Panel::ALL.iter().map(|panel| panel.name()).collect();
            format!("unknown plot `{text}`\nhelp: choose from: {}", names.join(", "))
        })
    }
}

impl Record {
    /// Adds what a later search of the same run left, which began so many seconds after the run.
    pub fn append(&mut self, later: Record, begun: f64) {
        let shifted = later.samples.into_iter().map(|s| Sample { seconds: s.seconds + begun, ..s });
        let (mut samples, mut front) = (Thinned::default(), Thinned::default());
        std::mem::take(&mut self.samples).into_iter().chain(shifted).for_each(|sample| samples.push(sample));
        std::mem::take(&mut self.front).into_iter().chain(later.front).for_each(|point| front.push(point));
        (self.samples, self.front) = (samples.finish(), front.finish());
    }

    /// All plots that have something to say.
    pub fn plots(&self) -> Vec<Plot> {
        self.panels(&Panel::ALL)
    }

    /// Those of the plots asked for that have something to say.
    pub fn panels(&self, wanted: &[Panel]) -> Vec<Plot> {
        wanted.iter().filter_map(|panel| self.panel(*panel)).collect()
    }

    fn panel(&self, panel: Panel) -> Option<Plot> {
        match panel {
            Panel::Levels => self.level_sizes(),
            Panel::Stored => self.stored(),
            Panel::Memory => self.memory(),
            Panel::Rate => self.rate(),
            Panel::Front => self.front(),
            Panel::Nodes => self.work("Nodes of the decision diagrams over time", ("nodes", |s| s.figures.nodes)),
            Panel::Clauses => self.work("Clauses over time", ("clauses", |s| s.figures.clauses)),
        }
    }

    fn level_sizes(&self) -> Option<Plot> {
        let points = self.levels.iter().enumerate().map(|(level, states)| (level as f64, *states as f64));
        let series = Series { name: "states".into(), kind: Kind::Bars, points: points.collect() };
        let (x, y) = (Axis::linear("level", Unit::Count), Axis::linear("states", Unit::Count));
        (self.levels.len() > 1).then(|| Plot { title: "States per level".into(), x, y, series: vec![series] })
    }

    fn stored(&self) -> Option<Plot> {
        let figures: [Figure<Sample>; 3] =
            [("stored", |s| s.figures.states), ("expanded", |s| s.figures.visits), ("open", |s| s.figures.open)];
        over_time("States over time", Axis::linear("states", Unit::Count), self.searching(), &figures)
    }

    /// What an engine that does not store states one by one has to show instead.
    fn work(&self, title: &str, figure: Figure<Sample>) -> Option<Plot> {
        over_time(title, Axis::linear(figure.0, Unit::Count), &self.samples, &[figure])
    }

    fn memory(&self) -> Option<Plot> {
        let figures: [Figure<Sample>; 1] = [("resident", |s| s.memory)];
        over_time("Memory over time", Axis::linear("resident memory", Unit::Bytes), &self.samples, &figures)
    }

    /// The samples from where states were visited: a measure may have been looked for before.
    fn searching(&self) -> &[Sample] {
        let first = self.samples.iter().position(|sample| sample.figures.states > 0 || sample.figures.visits > 0);
        first.map_or(&[], |first| &self.samples[first.saturating_sub(1)..])
    }

    fn rate(&self) -> Option<Plot> {
        let points = self.rates();
        let series = Series { name: "expanded".into(), kind: Kind::Line, points };
        let (x, y) = (Axis::linear("time", Unit::Seconds), Axis::linear("states expanded", Unit::Rate));
        let says = series.points.iter().any(|point| point.1 > 0.0);
        says.then(|| Plot { title: "Rate over time".into(), x, y, series: vec![series] })
    }

    /// States expanded a second, over about a fiftieth of the time each.
    fn rates(&self) -> Vec<(f64, f64)> {
        let samples = self.searching();
        let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return Vec::new() };
        let window = ((last.seconds - first.seconds) / 50.0).max(1e-6);
        let (mut points, mut from) = (Vec::new(), first);
        for to in samples {
            if to.figures.visits < from.figures.visits {
                // Another search has begun.
                from = to;
            } else if to.seconds - from.seconds >= window {
                let rate = (to.figures.visits - from.figures.visits) as f64 / (to.seconds - from.seconds);
                points.push((f64::midpoint(from.seconds, to.seconds), rate));
                from = to;
            }
        }
        points
    }

    fn front(&self) -> Option<Plot> {
        let figures: [Figure<FrontPoint>; 3] =
            [("stored", |p| p.stored), ("open", |p| p.open), ("persistent", |p| p.persistent)];
        let series = figures.into_iter().filter(|(_, figure)| self.front.iter().any(|point| figure(point) > 0));
        let series = series.map(|(name, figure)| Series {
            name: name.into(),
            kind: Kind::Line,
            points: self.front.iter().map(|point| (point.visits as f64, figure(point) as f64)).collect(),
        });
        let (x, y) = (Axis::linear("states expanded", Unit::Count), Axis::linear("states", Unit::Count));
        let title = "The sweep-line's front".into();
        (self.front.len() > 1).then(|| Plot { title, x, y, series: series.collect() })
    }
}

/// What is read off the samples, one series for each figure that is not always zero; nothing, where all are.
fn over_time(title: &str, y: Axis, samples: &[Sample], figures: &[Figure<Sample>]) -> Option<Plot> {
    let series = figures.iter().filter(|(_, figure)| samples.iter().any(|sample| figure(sample) > 0));
    let series = series.map(|(name, figure)| Series {
        name: (*name).into(),
        kind: Kind::Line,
        points: samples.iter().map(|sample| (sample.seconds, figure(sample) as f64)).collect(),
    });
    let series: Vec<Series> = series.collect();
    let x = Axis::linear("time", Unit::Seconds);
    (samples.len() > 1 && !series.is_empty()).then(|| Plot { title: title.into(), x, y, series })
}

/// A list that never gets long: when it does, every other one goes, and from then on only every other one is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Thinned<T> {
    list: Vec<T>,
    /// Of so many one is kept.
    stride: u64,
    seen: u64,
    last: Option<T>,
}

impl<T> Default for Thinned<T> {
    fn default() -> Thinned<T> {
        Thinned { list: Vec::new(), stride: 1, seen: 0, last: None }
    }
}

impl<T> Thinned<T> {
    pub fn push(&mut self, item: T) {
        self.seen += 1;
        if !(self.seen - 1).is_multiple_of(self.stride) {
            self.last = Some(item);
            return;
        }
        self.last = None;
        self.list.push(item);
        if self.list.len() > MOST {
            let mut place = 0;
            self.list.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
        }
    }

    /// Of so many one is kept by now.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// Those that were kept, and the last one.
    pub fn finish(mut self) -> Vec<T> {
        self.list.extend(self.last);
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(i: u64) -> Sample {
        let figures = Figures { states: i * 9, visits: i * 8, open: i, ..Figures::default() };
        Sample { seconds: i as f64 / 10.0, figures, memory: 1 << 20 }
    }

    #[test]
    fn only_what_there_is_is_plotted() {
        assert!(Record::default().plots().is_empty());
        let mut record = Record { samples: (0..20).map(sample).collect(), ..Record::default() };
        let titles = |record: &Record| record.plots().into_iter().map(|plot| plot.title).collect::<Vec<_>>();
        assert_eq!(titles(&record), ["States over time", "Memory over time", "Rate over time"]);
        record.levels = vec![1, 5, 3];
        record.front = vec![FrontPoint::default(), FrontPoint { visits: 5, stored: 3, ..FrontPoint::default() }];
        assert_eq!(record.plots().len(), 5);
        assert_eq!(record.panels(&[Panel::Front])[0].series.len(), 1, "nothing was open or persistent");
        let nodes = |nodes| Figures { nodes, ..Figures::default() };
        let sets = (0..5).map(|i| Sample { seconds: i as f64, figures: nodes(100 * i), memory: 5 });
        let symbolic = Record { samples: sets.collect(), ..Record::default() };
        assert_eq!(titles(&symbolic), ["Nodes of the decision diagrams over time", "Memory over time"]);
        let idle = Sample { memory: 5, ..Sample::default() };
        let early = (0..10).map(|i| Sample { seconds: f64::from(i), ..idle });
        let mut late = Record { samples: early.collect(), ..Record::default() };
        late.append(record, 10.0);
        let over_time = &late.panels(&[Panel::Stored])[0];
        assert_eq!(over_time.series[0].points[0].0, 10.0, "what came before the search is not drawn");
        assert_eq!(late.panels(&[Panel::Memory])[0].series[0].points[0].0, 0.0);
        let unknown = Record { samples: vec![Sample { memory: 5, ..Sample::default() }; 2], ..Record::default() };
        assert_eq!(titles(&unknown), ["Memory over time"], "an engine that counts no states");
    }

    #[test]
    fn the_rate_is_that_of_expanded_states() {
        let record = Record { samples: (0..200).map(sample).collect(), ..Record::default() };
        assert!(record.rates().len() > 30 && record.rates().iter().all(|(_, rate)| (rate - 80.0).abs() < 1e-6));
        let mut two = record.clone();
        two.append(record, 100.0);
        assert!(two.rates().iter().all(|(_, rate)| *rate >= 0.0));
        assert!(two.samples.is_sorted_by(|a, b| a.seconds <= b.seconds));
    }

    #[test]
    fn thinning_keeps_the_ends() {
        for count in [0, 1, 2, MOST, MOST + 1, MOST + 2, 5 * MOST + 3] {
            let mut thinned = Thinned::default();
            (0..count).for_each(|i| thinned.push(i));
            let list = thinned.finish();
            assert!(list.len() <= MOST + 1 && list.len() >= count.min(MOST / 2) && list.is_sorted());
            assert_eq!((list.first(), list.last()), ((count > 0).then_some(&0), count.checked_sub(1).as_ref()));
        }
    }

    #[test]
    fn panels_have_names() {
        assert!(Panel::ALL.into_iter().all(|panel| panel.name().parse() == Ok(panel)));
        let refused = "speed".parse::<Panel>().unwrap_err();
        assert_eq!(
            refused,
            "unknown plot `speed`\nhelp: choose from: levels, stored, nodes, clauses, memory, rate, front"
        );
    }
}
