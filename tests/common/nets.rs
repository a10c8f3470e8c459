//! Random small Petri nets, and all that there is to know about them by firing alone.

use scrimp_net::{Arc, Condition, Group, Marking, Net, Place, Sum, Transition, Unit, Units};
use scrimp_system::Random;
use std::collections::HashMap;

/// A net that is the same for the same seed. Some are made of parts that each have one token, with units; some of places in
/// a row; some of anything; and some of each have inhibitor and reset arcs.
pub fn net(seed: u64) -> Net {
    let random = &mut Random(seed);
    let mut net = match random.below(4) {
        0 => machines(random),
        1 => rows(random),
        _ => anything(random),
    };
    if random.below(3) == 0 {
        special_arcs(&mut net, random);
    }
    for (number, place) in net.places.iter_mut().enumerate() {
        place.name = format!("p{number}");
    }
    for (number, transition) in net.transitions.iter_mut().enumerate() {
        transition.name = format!("t{number}");
    }
    let coloured = random.below(4) == 0;
    net.place_groups = groups("P", net.places.len(), coloured, random);
    net.transition_groups = groups("T", net.transitions.len(), coloured, random);
    net
}

/// What the text would have called these things: each by itself, or some of them together as the colours of one.
fn groups(name: &str, things: usize, coloured: bool, random: &mut Random) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for thing in 0..things as u32 {
        match groups.last_mut() {
            Some(last) if coloured && random.below(2) == 0 => last.members.push(thing),
            _ => {
                let id = format!("{name}{}", groups.len());
                groups.push(Group { name: id.clone(), id, members: vec![thing], line: 0 });
            }
        }
    }
    groups
}

fn arcs(row: &[u64]) -> Vec<Arc> {
    let arc = |(place, &weight): (usize, &u64)| (weight > 0).then_some(Arc { place: place as u32, weight });
    row.iter().enumerate().filter_map(arc).collect()
}

fn places(initial: &[u64]) -> Vec<Place> {
    initial.iter().map(|&initial| Place { initial, ..Place::default() }).collect()
}

fn transition(inputs: &[u64], outputs: &[u64]) -> Transition {
    Transition { inputs: arcs(inputs), outputs: arcs(outputs), ..Transition::default() }
}

fn anything(random: &mut Random) -> Net {
    let (size, count, sparse) = (1 + random.below(7), 1 + random.below(8), 3 + random.below(5));
    let weight = |random: &mut Random| match random.below(8) {
        0 => 2,
        1 => 1 + random.below(4) as u64,
        _ => 1,
    };
    let initial: Vec<u64> = (0..size).map(|_| [0, 0, 0, 1, 1, 1, 2, 3][random.below(8)]).collect();
    let mut transitions = Vec::new();
    for _ in 0..count {
        let (mut inputs, mut outputs) = (vec![0; size], vec![0; size]);
        for place in 0..size {
            match random.below(2 * sparse) {
                0 | 1 => inputs[place] = weight(random),
                2 | 3 => outputs[place] = weight(random),
                // A place that is read, most often without a change.
                4 => {
                    inputs[place] = weight(random);
                    outputs[place] = if random.below(3) == 0 { weight(random) } else { inputs[place] };
                }
                _ => {}
            }
        }
        transitions.push(transition(&inputs, &outputs));
    }
    Net { places: places(&initial), transitions, ..Net::default() }
}

/// Machines with a token each that wait for each other, and buffers between them.
fn machines(random: &mut Random) -> Net {
    let (machines, buffers) = (1 + random.below(3), random.below(3));
    let sizes: Vec<usize> = (0..machines).map(|_| 2 + random.below(4)).collect();
    let starts: Vec<usize> = (0..machines).map(|m| sizes[..m].iter().sum()).collect();
    let own: usize = sizes.iter().sum();
    let mut initial = vec![0; own + buffers];
    for machine in 0..machines {
        // Now and then one has no token, or more than one.
        initial[starts[machine] + random.below(sizes[machine])] = [1, 1, 1, 1, 1, 1, 0, 2][random.below(8)];
    }
    initial[own..].iter_mut().for_each(|tokens| *tokens = random.below(3) as u64);
    let mut transitions = Vec::new();
    for _ in 0..2 + random.below(8) {
        let (mut inputs, mut outputs) = (vec![0; initial.len()], vec![0; initial.len()]);
        for machine in 0..machines {
            if random.below(2) == 0 {
                inputs[starts[machine] + random.below(sizes[machine])] = 1;
                outputs[starts[machine] + random.below(sizes[machine])] = 1;
            }
        }
        for buffer in own..initial.len() {
            match random.below(6) {
                0 => inputs[buffer] = 1 + random.below(2) as u64,
                1 => outputs[buffer] = 1 + random.below(2) as u64,
                _ => {}
            }
        }
        transitions.push(transition(&inputs, &outputs));
    }
    let unit = |m: usize| Unit {
        id: format!("u{m}"),
        places: (starts[m]..starts[m] + sizes[m]).map(|place| place as u32).collect(),
        subunits: Vec::new(),
    };
    let mut units: Vec<Unit> = (0..machines).map(unit).collect();
    units.push(Unit { id: "root".into(), places: Vec::new(), subunits: (0..machines as u32).collect() });
    let units = Some(Units { root: machines as u32, safe: false, units });
    Net { places: places(&initial), transitions, units, ..Net::default() }
}

/// Tokens that go along with few choices, so that there is much to fuse.
fn rows(random: &mut Random) -> Net {
    let size = 3 + random.below(6);
    let mut initial = vec![0; size];
    (0..1 + random.below(3)).for_each(|_| initial[random.below(size)] += 1);
    let mut transitions = Vec::new();
    for _ in 0..2 + random.below(7) {
        let (mut inputs, mut outputs) = (vec![0; size], vec![0; size]);
        let count = [0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2][random.below(12)];
        (0..count).for_each(|_| inputs[random.below(size)] = 1 + (random.below(8) == 0) as u64);
        let count = [0, 1, 1, 1, 1, 1, 1, 2, 2, 3][random.below(10)];
        (0..count).for_each(|_| outputs[random.below(size)] = 1 + (random.below(8) == 0) as u64);
        transitions.push(transition(&inputs, &outputs));
    }
    Net { places: places(&initial), transitions, ..Net::default() }
}

fn special_arcs(net: &mut Net, random: &mut Random) {
    for transition in &mut net.transitions {
        for place in 0..net.places.len() as u32 {
            match random.below(16) {
                0 => transition.inhibitors.push(Arc { place, weight: 1 + random.below(3) as u64 }),
                1 => transition.resets.push(place),
                _ => {}
            }
        }
    }
}

/// A condition on the markings of a net.
pub fn condition(net: &Net, random: &mut Random, depth: usize) -> Condition {
    let some = |random: &mut Random| -> Vec<Condition> {
        (0..1 + random.below(3)).map(|_| condition(net, random, depth - 1)).collect()
    };
    match random.below(if depth == 0 { 8 } else { 14 }) {
        0 if random.below(4) == 0 => [Condition::True, Condition::False, Condition::Deadlock][random.below(3)].clone(),
        0..=2 => {
            let any = (0..1 + random.below(2)).map(|_| random.below(net.transitions.len()) as u32);
            Condition::Fireable(any.collect())
        }
        3..=7 => {
            let mut terms: Vec<(u32, i64)> = (0..1 + random.below(3))
                .map(|_| (random.below(net.places.len()) as u32, [1, 1, -1, -1, 2, -3][random.below(6)]))
                .collect();
            terms.sort_unstable();
            terms.dedup_by_key(|term| term.0);
            Condition::AtMostZero(Sum { terms, constant: random.below(8) as i64 - 3 })
        }
        8 | 9 => Condition::Not(Box::new(condition(net, random, depth - 1))),
        10 | 11 => Condition::All(some(random)),
        _ => Condition::Any(some(random)),
    }
}

/// The markings that can be reached, found by firing.
pub struct Graph {
    pub markings: Vec<Marking>,
    /// By marking: the transitions that are enabled there, and the number of the marking that each leads to.
    pub firings: Vec<Vec<(u32, usize)>>,
    numbers: HashMap<Marking, usize>,
    distances: Vec<usize>,
}

impl Graph {
    /// `Err` with some of them where there are more than `most`; the firings are then those of the first ones.
    pub fn new(net: &Net, most: usize) -> Result<Graph, Graph> {
        let initial = net.initial();
        let numbers = HashMap::from([(initial.clone(), 0)]);
        let mut graph = Graph { markings: vec![initial], firings: Vec::new(), numbers, distances: vec![0] };
        while graph.firings.len() < graph.markings.len() {
            if graph.markings.len() > most {
                return Err(graph);
            }
            let marking = graph.markings[graph.firings.len()].clone();
            let distance = graph.distances[graph.firings.len()] + 1;
            let mut firings = Vec::new();
            for t in (0..net.transitions.len() as u32).filter(|&t| net.is_enabled(&marking, t)) {
                let mut next = marking.clone();
                assert!(net.fire(&mut next, t), "so many tokens cannot be reached in so few steps");
                let number = *graph.numbers.entry(next.clone()).or_insert_with(|| {
                    graph.markings.push(next);
                    graph.distances.push(distance);
                    graph.markings.len() - 1
                });
                firings.push((t, number));
            }
            graph.firings.push(firings);
        }
        Ok(graph)
    }

    /// Firings on a shortest run to a marking.
    pub fn distance(&self, marking: usize) -> usize {
        self.distances[marking]
    }

    pub fn transitions(&self) -> usize {
        self.firings.iter().map(Vec::len).sum()
    }

    pub fn deadlocks(&self) -> usize {
        self.firings.iter().filter(|firings| firings.is_empty()).count()
    }

    /// The transitions that fire in a marking that can be reached from this one.
    fn firing_from(&self, start: usize) -> Vec<u32> {
        let mut seen = vec![false; self.markings.len()];
        let (mut open, mut firing) = (vec![start], Vec::new());
        seen[start] = true;
        while let Some(at) = open.pop() {
            for &(t, next) in &self.firings[at] {
                firing.push(t);
                if !std::mem::replace(&mut seen[next], true) {
                    open.push(next);
                }
            }
        }
        firing.sort_unstable();
        firing.dedup();
        firing
    }

    /// Does one transition of each group fire in a marking that can be reached from this one?
    fn all_fire_from(&self, net: &Net, start: usize) -> bool {
        let firing = self.firing_from(start);
        net.transition_groups.iter().all(|group| group.members.iter().any(|t| firing.contains(t)))
    }

    pub fn is_live(&self, net: &Net) -> bool {
        (0..self.markings.len()).all(|start| self.all_fire_from(net, start))
    }

    pub fn is_quasi_live(&self, net: &Net) -> bool {
        self.all_fire_from(net, 0)
    }

    pub fn is_stable(&self, net: &Net) -> bool {
        let stable = |group: &Group| {
            let first = tokens(&self.markings[0], &group.members);
            self.markings.iter().all(|marking| tokens(marking, &group.members) == first)
        };
        net.place_groups.iter().any(stable)
    }

    pub fn most(&self, places: &[u32]) -> u64 {
        self.markings.iter().map(|marking| tokens(marking, places)).max().unwrap_or(0)
    }
}

/// The tokens that these places have together.
pub fn tokens(marking: &[u64], places: &[u32]) -> u64 {
    places.iter().map(|&place| marking[place as usize]).sum()
}

/// The marking after these transitions, if each is enabled when its turn comes.
pub fn after(net: &Net, transitions: &[u32]) -> Option<Marking> {
    let mut marking = net.initial();
    transitions.iter().all(|&t| net.is_enabled(&marking, t) && net.fire(&mut marking, t)).then_some(marking)
}

/// A net in few lines, for people who look for what is wrong with it.
pub fn shown(net: &Net) -> String {
    let list = |arcs: &[Arc]| -> String { arcs.iter().map(|arc| format!(" {}*p{}", arc.weight, arc.place)).collect() };
    let mut out = format!("initially {:?}\n", net.initial());
    for t in &net.transitions {
        let (inputs, outputs, inhibitors) = (list(&t.inputs), list(&t.outputs), list(&t.inhibitors));
        out.push_str(&format!("{}:{inputs} ->{outputs}; inhibitors{inhibitors}; resets {:?}\n", t.name, t.resets));
    }
    out
}
