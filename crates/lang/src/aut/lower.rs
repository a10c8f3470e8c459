//! From components and what can happen among them to a system: a process for each component.
//!
//! What can happen is one event for each combination of edges that take part, with as many moves. Of large components
//! that would be too many; they become [tables](super::tables), and an event then looks up where it leads. There is one for
//! each combination of labels and ranks, however many edges there are.

use super::compose::Joint;
use super::lts::Lts;
use super::tables::Tables;
use crate::diagnostic::Place;
use crate::lines::Lines;
use crate::symbols::Map;
use scrimp_system::{
    Assign, Domain, Event, Expr, Message, Moment, Move, Process, ProcessId, Role, Source, Span, System, VarId, Variable,
};
use std::rc::Rc;

#[derive(Debug)]
pub(super) struct Component {
    pub name: String,
    pub lts: Rc<Lts>,
}

#[derive(Debug)]
pub(super) struct Network {
    pub components: Vec<Component>,
    pub joints: Vec<Joint>,
    /// What the numbers of labels stand for.
    pub labels: Vec<String>,
}

/// How many events a system may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Up to this many, every combination of edges is an event.
    pub plain: u128,
    /// So many events without moves, which are all tried in every state, are better than more with moves.
    pub tried: u128,
    pub most: u128,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { plain: 50_000, tried: 10_000, most: 1_000_000 }
    }
}

/// Where something is too large, what, and what helps.
pub(super) type TooLarge = (Option<Place>, String, &'static str);

/// For each component and each of its labels, how many alternatives an event chooses from.
type Weights = Vec<Rc<[u64]>>;

/// How the edges of a component with one label become parts of events.
enum Form {
    /// The numbers of the edges by label: those of label `l` are between the starts `l` and `l + 1`.
    Edges {
        starts: Vec<usize>,
        order: Vec<u32>,
    },
    Tables(Rc<Tables>),
}

pub(super) fn lower(network: &Network, source: Source, limits: Limits) -> Result<System, TooLarge> {
    let (weights, tabled) = choose(network, limits)?;
    let mut known: Map<usize, Rc<Tables>> = Map::default();
    let forms = network.components.iter().zip(&weights).zip(&tabled).map(|((component, ranks), tabled)| match tabled {
        true => {
            let key = Rc::as_ptr(&component.lts) as usize;
            Form::Tables(known.entry(key).or_insert_with(|| Rc::new(Tables::new(&component.lts, ranks))).clone())
        }
        false => by_label(&component.lts),
    });
    let forms: Vec<Form> = forms.collect();
    let mut system = processes(network, source);
    let places = spans(&network.joints, &system.source);
    let mut lowering = Lowering { network, forms: &forms, events: Vec::new() };
    for joint in &network.joints {
        lowering.joint(joint, &weights, places.get(&joint.place.start).copied().unwrap_or_default());
    }
    system.events = lowering.events;
    Ok(system)
}

/// Which components become tables, so that there are few events.
fn choose(network: &Network, limits: Limits) -> Result<(Weights, Vec<bool>), TooLarge> {
    let mut counted: Map<usize, Rc<[u64]>> = Map::default();
    let mut of = |component: &Component| {
        let key = Rc::as_ptr(&component.lts) as usize;
        counted.entry(key).or_insert_with(|| component.lts.edges_of().into()).clone()
    };
    let plain: Weights = network.components.iter().map(&mut of).collect();
    let none = vec![false; plain.len()];
    let count = total(&network.joints, &plain);
    if count <= limits.plain {
        return Ok((plain, none));
    }
    let (weights, tabled) = with_tables(network, &plain, limits);
    let fewer = total(&network.joints, &weights);
    if fewer <= limits.tried || count > limits.most {
        return match fewer <= limits.most {
            true => Ok((weights, tabled)),
            false => Err(too_large(network, &weights, fewer, limits)),
        };
    }
    Ok((plain, none))
}

/// Makes tables of the components with the most edges until there are few events.
fn with_tables(network: &Network, plain: &Weights, limits: Limits) -> (Weights, Vec<bool>) {
    /// Others are too small to matter.
    const TRIED: usize = 64;
    let mut weights = plain.clone();
    let mut tabled = vec![false; plain.len()];
    let mut ranks: Map<usize, Rc<[u64]>> = Map::default();
    let mut order: Vec<usize> = (0..plain.len()).collect();
    order.sort_by_key(|c| std::cmp::Reverse(network.components[*c].lts.edges.len()));
    for component in order.into_iter().take(TRIED) {
        let lts = &network.components[component].lts;
        let key = Rc::as_ptr(lts) as usize;
        weights[component] = ranks.entry(key).or_insert_with(|| lts.ranks().into()).clone();
        tabled[component] = true;
        if total(&network.joints, &weights) <= limits.tried {
            break;
        }
    }
    (weights, tabled)
}

/// How many events there are.
fn total(joints: &[Joint], weights: &Weights) -> u128 {
    joints.iter().fold(0, |sum: u128, joint| sum.saturating_add(events_of(joint, weights)))
}

fn events_of(joint: &Joint, weights: &Weights) -> u128 {
    let weight = |(component, label): &(u32, u32)| weights[*component as usize][*label as usize] as u128;
    joint.parts.iter().map(weight).fold(1, u128::saturating_mul)
}

fn too_large(network: &Network, weights: &Weights, count: u128, limits: Limits) -> TooLarge {
    let worst = network.joints.iter().max_by_key(|joint| events_of(joint, weights));
    let mut message = format!("this composition has {count} events; at most {} are supported", limits.most);
    if let Some(joint) = worst {
        let label = &network.labels[joint.label as usize];
        let parts = joint.parts.iter().map(|(component, label)| {
            let name = &network.components[*component as usize].name;
            format!("{} of {name}", weights[*component as usize][*label as usize])
        });
        let parts = parts.take(8).collect::<Vec<_>>().join(", ");
        message.push_str(&format!(" (most of them for \"{label}\": {parts})"));
    }
    (worst.map(|joint| joint.place), message, "fewer different labels, or fewer edges with the same label, would help")
}

fn by_label(lts: &Lts) -> Form {
    let mut starts = vec![0; lts.labels.len() + 1];
    lts.edges.iter().for_each(|edge| starts[edge.label as usize + 1] += 1);
    for label in 1..starts.len() {
        starts[label] += starts[label - 1];
    }
    let (mut next, mut order) = (starts.clone(), vec![0; lts.edges.len()]);
    for (number, edge) in (0..).zip(&lts.edges) {
        order[next[edge.label as usize]] = number;
        next[edge.label as usize] += 1;
    }
    Form::Edges { starts, order }
}

fn processes(network: &Network, source: Source) -> System {
    let mut system = System::new(source);
    let mut initial = Vec::new();
    for (number, Component { name, lts }) in (0..).zip(&network.components) {
        let (control, name) = (VarId(number), name.clone());
        let domain = Domain::range(0, lts.states as i64 - 1);
        let role = Role::Control(ProcessId(number));
        system.variables.push(Variable { name: name.clone(), owner: None, domain, length: None, role });
        let locations = (0..lts.states).map(|state| state.to_string()).collect();
        system.processes.push(Process { name, control, locations, accepting: Vec::new(), span: Span::default() });
        initial.push(lts.initial as i64);
    }
    system.initial = vec![initial];
    system
}

/// The lines of the places, by their beginnings.
fn spans(joints: &[Joint], source: &Source) -> Map<u32, Span> {
    let mut places: Vec<Place> = joints.iter().map(|joint| joint.place).filter(|place| place.end > 0).collect();
    places.sort_by_key(|place| place.start);
    places.dedup_by_key(|place| place.start);
    let mut lines = Lines::of(source);
    places.into_iter().map(|place| (place.start, lines.span(place))).collect()
}

struct Lowering<'a> {
    network: &'a Network,
    forms: &'a [Form],
    events: Vec<Event>,
}

impl Lowering<'_> {
    /// One event for each way to choose an alternative for every part. Without a span, lines are those of the edges.
    fn joint(&mut self, joint: &Joint, weights: &Weights, span: Span) {
        let count = |(component, label): (u32, u32)| weights[component as usize][label as usize];
        if joint.parts.iter().any(|part| count(*part) == 0) {
            return;
        }
        let mut chosen = vec![0; joint.parts.len()];
        loop {
            self.event(joint, &chosen, span);
            // The next choice: the last part changes first.
            let mut at = chosen.len();
            loop {
                let Some(before) = at.checked_sub(1) else { return };
                at = before;
                chosen[at] += 1;
                if chosen[at] < count(joint.parts[at]) {
                    break;
                }
                chosen[at] = 0;
            }
        }
    }

    fn event(&mut self, joint: &Joint, chosen: &[u64], span: Span) {
        let mut event = Event { label: self.network.labels[joint.label as usize].clone(), span, ..Event::default() };
        for ((component, label), alternative) in joint.parts.iter().zip(chosen) {
            match &self.forms[*component as usize] {
                Form::Edges { starts, order } => {
                    let number = order[starts[*label as usize] + *alternative as usize] as usize;
                    let lts = &self.network.components[*component as usize].lts;
                    let edge = lts.edges[number];
                    event.moves.push(Move { process: ProcessId(*component), from: edge.from, to: edge.to });
                    if let Some(line) = lts.lines.get(number).filter(|_| span.line == 0) {
                        event.span = Span { line: *line, column: 1, ..Span::default() };
                    }
                }
                Form::Tables(tables) => {
                    let control = VarId(*component);
                    let (guard, target) = tables.edge(control, *label, *alternative);
                    event.guard = Expr::and(std::mem::replace(&mut event.guard, Expr::TRUE), guard);
                    event.effects.push(Assign { target: control, index: None, value: target, moment: Moment::Source });
                }
            }
        }
        event.assertion = joint.forbidden.then_some(Expr::FALSE);
        if let [(first, _), .., (last, _)] = &joint.parts[..] {
            // What several do together is drawn from the first of them to the last.
            event.message = Some(Message {
                channel: event.label.clone(),
                queue: None,
                from: Some(ProcessId(*first)),
                to: Some(ProcessId(*last)),
                values: vec![],
                shown_by: vec![],
            });
        }
        self.events.push(event);
    }
}
