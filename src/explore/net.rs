//! A net with its tokens, as the explorer draws it: whole where it is small, else what is near to what happens.

use super::net_drawing::{Kind, NetDrawing, arcs_of};
use crate::NativeModel;
use scrimp_net::{Net, PlaceId, TransitionId};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// Nodes that are drawn at most.
const MOST: usize = 300;
/// A transition with more places is drawn only with those that are there anyway.
const WIDE: usize = 60;

/// Parts of a large net that stay drawn, so that what happens within one is seen there and nothing jumps.
const PARTS: usize = 8;

/// Draws a net.
#[derive(Debug)]
pub struct NetView {
    net: Arc<Net>,
    /// What was laid out, the last one used at the end: the whole net where it is small, else parts of it.
    drawings: Vec<Drawing>,
    /// How many drawings there were.
    made: u32,
    /// The transitions at each place, made when they are first asked for.
    users: OnceLock<Vec<Vec<TransitionId>>>,
}

#[derive(Debug)]
struct Drawing {
    number: u32,
    sheet: NetDrawing,
    whole: bool,
}

/// What there is to see at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// Tokens place by place, now and before the last step.
    pub tokens: &'a [u64],
    pub before: Option<&'a [u64]>,
    /// The enabled transitions with the numbers of the choices that fire them, in the order of choices.
    pub enabled: &'a [(TransitionId, usize)],
    /// What the last step fired.
    pub fired: Option<TransitionId>,
}

impl NetView {
    /// Nothing is laid out before it is asked for.
    pub fn new(net: Arc<Net>) -> NetView {
        NetView { net, drawings: Vec::new(), made: 0, users: OnceLock::new() }
    }

    /// The answer to `api/net`. Who has the drawing already is told only what changes in it.
    pub fn view(&mut self, moment: &Moment<'_>, known: Option<u32>) -> Value {
        let whole = self.net.places.len() + self.net.transitions.len() <= MOST;
        let mut near = Near { net: &self.net, places: Vec::new(), transitions: Vec::new(), known: HashSet::new() };
        // Half of the room for what happens, so that there is something around it.
        moment.firing().take(MOST / 2).for_each(|t| near.add(t));
        let suits = |drawing: &Drawing| drawing.whole || drawing.has(&near.transitions);
        match self.drawings.iter().rposition(suits) {
            Some(place) => {
                let drawing = self.drawings.remove(place);
                self.drawings.push(drawing);
            }
            None => {
                let sheet = match whole {
                    true => NetDrawing::whole(&self.net),
                    false => {
                        near.spread(self.users.get_or_init(|| users(&self.net)), moment.tokens);
                        NetDrawing::part(&self.net, &near.places, &near.transitions)
                    }
                };
                self.drawings.drain(..(self.drawings.len() + 1).saturating_sub(PARTS));
                self.drawings.push(Drawing { number: self.made, sheet, whole });
                self.made += 1;
            }
        }
        self.drawings.last().map_or(Value::Null, |drawing| self.told(drawing, moment, known == Some(drawing.number)))
    }

    fn told(&self, drawing: &Drawing, moment: &Moment<'_>, known: bool) -> Value {
        let Drawing { number, sheet, whole } = drawing;
        let tokens = |of: &[u64], place: PlaceId| of.get(place as usize).copied().unwrap_or(0);
        let places = sheet.places.iter().map(|&(place, (x, y))| {
            let now = tokens(moment.tokens, place);
            let mut told = Map::new();
            told.insert("tokens".into(), now.into());
            if let Some(before) = moment.before.map(|before| tokens(before, place)).filter(|&before| before != now) {
                told.insert("before".into(), before.into());
            }
            if !known {
                told.insert("place".into(), place.into());
                told.insert("name".into(), self.net.places[place as usize].name.as_str().into());
                told.insert("x".into(), tenth(x));
                told.insert("y".into(), tenth(y));
            }
            Value::Object(told)
        });
        let drawn: HashSet<PlaceId> = sheet.places.iter().map(|&(place, _)| place).collect();
        let transitions = sheet.transitions.iter().map(|&(t, (x, y), upright)| {
            let transition = &self.net.transitions[t as usize];
            let choice = moment.enabled.iter().find(|&&(enabled, _)| enabled == t).map(|&(_, choice)| choice);
            let mut told = Map::new();
            told.insert("choice".into(), choice.into());
            if moment.fired == Some(t) {
                told.insert("fired".into(), true.into());
            }
            if known {
                return Value::Object(told);
            }
            told.insert("transition".into(), t.into());
            told.insert("name".into(), transition.name.as_str().into());
            told.insert("x".into(), tenth(x));
            told.insert("y".into(), tenth(y));
            told.insert("upright".into(), upright.into());
            if !whole {
                let missing: HashSet<PlaceId> =
                    arcs_of(t, transition).map(|arc| arc.place).filter(|place| !drawn.contains(place)).collect();
                if !missing.is_empty() {
                    told.insert("more".into(), missing.len().into());
                }
            }
            Value::Object(told)
        });
        let arcs = sheet.arcs.iter().map(|arc| {
            let points: Vec<Value> = arc.points.iter().map(|&(x, y)| json!([tenth(x), tenth(y)])).collect();
            let (place, transition, out) = (arc.place, arc.transition, arc.kind.is_out());
            let mut told = json!({
                "place": place, "transition": transition, "out": out, "weight": arc.weight, "points": points
            });
            let kind = match arc.kind {
                Kind::Input | Kind::Output => None,
                Kind::Inhibitor => Some("inhibitor"),
                Kind::Reset => Some("reset"),
            };
            if let (Some(kind), Some(told)) = (kind, told.as_object_mut()) {
                told.insert("kind".into(), kind.into());
            }
            told
        });
        let mut told = json!({
            "drawing": number,
            "places": places.collect::<Vec<_>>(),
            "transitions": transitions.collect::<Vec<_>>(),
        });
        if !known {
            told["width"] = tenth(sheet.width);
            told["height"] = tenth(sheet.height);
            told["whole"] = (*whole).into();
            told["places_total"] = self.net.places.len().into();
            told["transitions_total"] = self.net.transitions.len().into();
            told["arcs"] = arcs.collect();
        }
        told
    }
}

impl Moment<'_> {
    /// What was fired, and what is enabled.
    fn firing(&self) -> impl Iterator<Item = TransitionId> {
        self.fired.into_iter().chain(self.enabled.iter().map(|&(t, _)| t))
    }
}

impl Drawing {
    /// Are these in it, and is there any?
    fn has(&self, transitions: &[TransitionId]) -> bool {
        let drawn = |t: &TransitionId| self.sheet.transitions.iter().any(|(drawn, ..)| drawn == t);
        !transitions.is_empty() && transitions.iter().all(drawn)
    }
}

/// What is near to what happens, and what is around that.
struct Near<'a> {
    net: &'a Net,
    places: Vec<PlaceId>,
    transitions: Vec<TransitionId>,
    /// Places and transitions, told apart by the flag.
    known: HashSet<(bool, u32)>,
}

impl Near<'_> {
    /// Adds a transition with its places, if there is room.
    fn add(&mut self, t: TransitionId) {
        let mut places: Vec<PlaceId> = arcs_of(t, &self.net.transitions[t as usize]).map(|arc| arc.place).collect();
        places.sort_unstable();
        places.dedup();
        places.retain(|&place| !self.known.contains(&(true, place)));
        if places.len() > WIDE {
            places.clear();
        }
        let nodes = self.places.len() + self.transitions.len() + places.len() + 1;
        if nodes <= MOST && self.known.insert((false, t)) {
            self.known.extend(places.iter().map(|&place| (true, place)));
            self.places.extend(places);
            self.transitions.push(t);
        }
    }

    /// Adds what else takes from places that are there, and so on outwards.
    fn spread(&mut self, users: &[Vec<TransitionId>], tokens: &[u64]) {
        let mut at = 0;
        while self.places.len() + self.transitions.len() < MOST {
            // In a net where nothing happens, the marked places are what there is to see.
            let Some(place) = self.places.get(at).copied().or_else(|| self.next_marked(tokens)) else { break };
            at += 1;
            users[place as usize].iter().for_each(|&t| self.add(t));
        }
        self.places.sort_unstable();
        self.transitions.sort_unstable();
    }

    /// Adds a marked place that is not there yet.
    fn next_marked(&mut self, tokens: &[u64]) -> Option<PlaceId> {
        let marked = |&(place, &tokens): &(usize, &u64)| tokens > 0 && !self.known.contains(&(true, place as u32));
        let (place, _) = tokens.iter().enumerate().find(marked)?;
        self.known.insert((true, place as u32));
        self.places.push(place as u32);
        Some(place as u32)
    }
}

fn users(net: &Net) -> Vec<Vec<TransitionId>> {
    let mut users = vec![Vec::new(); net.places.len()];
    for (t, transition) in net.transitions.iter().enumerate() {
        for arc in arcs_of(t as u32, transition) {
            let users: &mut Vec<TransitionId> = &mut users[arc.place as usize];
            if users.last() != Some(&(t as u32)) {
                users.push(t as u32);
            }
        }
    }
    users
}

/// The tokens place by place in a state of the system that a net was lowered to.
pub fn tokens(model: &NativeModel, state: &[u8]) -> Vec<u64> {
    let layout = model.layout();
    let tokens =
        |view: &scrimp_system::ViewOf| layout.eval(&view.value, state).map_or(0, |tokens| tokens.max(0) as u64);
    model.system().views.iter().map(tokens).collect()
}

/// Tenths are as fine as anyone sees.
pub(super) fn tenth(number: f64) -> Value {
    Value::from((number * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Loaded, Model};
    use scrimp_net::{Arc as NetArc, Place, Transition};
    use std::path::Path;

    fn opened(name: &str) -> Loaded {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name);
        Loaded::open(&path).unwrap_or_else(|e| panic!("{e}"))
    }

    /// The enabled transitions of a state, each with its number among the choices.
    fn enabled(model: &NativeModel, state: &[u8]) -> Vec<(TransitionId, usize)> {
        let mut batch = crate::Batch::new(model.state_bytes());
        model.expand(state, &mut batch);
        (0..batch.len()).filter_map(|choice| Some((model.parts(batch.event(choice)).0?, choice))).collect()
    }

    #[test]
    fn every_net_of_the_models_is_drawn_and_tokens_move() {
        for name in ["philosophers_ring.pnml", "kanban.pnml", "database.pnml", "printer.pnml"] {
            let loaded = opened(name);
            let net = loaded.net.as_ref().unwrap().net.clone();
            let model = NativeModel::new(loaded.system.clone(), crate::Mode::Interpreted).unwrap();
            let mut batch = crate::Batch::new(model.state_bytes());
            model.initial(&mut batch);
            let state = batch.state(0).to_vec();
            let marking = tokens(&model, &state);
            assert_eq!(marking, net.initial());
            let choices = enabled(&model, &state);
            assert!(choices.iter().all(|&(t, _)| net.is_enabled(&marking, t)) && !choices.is_empty());
            batch.clear();
            model.expand(&state, &mut batch);
            let (fired, choice) = choices[0];
            let after = tokens(&model, batch.state(choice));
            let mut view = NetView::new(net.clone());
            let next = enabled(&model, batch.state(choice));
            let moment = Moment { tokens: &after, before: Some(&marking), enabled: &next, fired: Some(fired) };
            let seen = view.view(&moment, None);
            if seen["whole"] == true {
                assert_eq!(seen["places"].as_array().unwrap().len(), net.places.len());
                assert_eq!(seen["transitions"].as_array().unwrap().len(), net.transitions.len());
            }
            let firing: Vec<&Value> =
                seen["transitions"].as_array().unwrap().iter().filter(|t| t["fired"] == true).collect();
            assert_eq!((firing.len(), &firing[0]["transition"]), (1, &json!(fired)));
            for place in seen["places"].as_array().unwrap() {
                let number = place["place"].as_u64().unwrap() as usize;
                assert_eq!(place["tokens"], after[number]);
                assert_eq!(place.get("before").is_some(), marking[number] != after[number]);
            }
            let arcs = seen["arcs"].as_array().unwrap();
            assert!(!arcs.is_empty() && arcs.iter().all(|arc| arc["points"].as_array().unwrap().len() >= 2));
            // Who has the drawing is told the same of its tokens, and nothing else.
            let again = view.view(&moment, Some(seen["drawing"].as_u64().unwrap() as u32));
            assert!(again["arcs"].is_null() && again["drawing"] == seen["drawing"]);
            for (part, told) in [("places", ["tokens", "before"]), ("transitions", ["choice", "fired"])] {
                let (before, after) = (seen[part].as_array().unwrap(), again[part].as_array().unwrap());
                assert_eq!(before.len(), after.len());
                let same = |(a, b): (&Value, &Value)| told.iter().all(|name| a[*name] == b[*name]);
                assert!(before.iter().zip(after).all(same));
            }
        }
    }

    /// A ring of places and transitions, of which one place is marked.
    fn ring(length: u32) -> Net {
        let arc = |place: u32| vec![NetArc { place, weight: 1 }];
        Net {
            places: (0..length).map(|i| Place { name: format!("p{i}"), initial: (i == 0) as u64, line: 0 }).collect(),
            transitions: (0..length)
                .map(|i| Transition { inputs: arc(i), outputs: arc((i + 1) % length), ..Transition::default() })
                .collect(),
            ..Net::default()
        }
    }

    #[test]
    fn of_a_large_net_what_is_near() {
        let net = Arc::new(ring(10_000));
        let mut marking = vec![0; 10_000];
        marking[5000] = 1;
        let mut view = NetView::new(net);
        let seen = view.view(&Moment { tokens: &marking, before: None, enabled: &[(5000, 0)], fired: None }, None);
        let places: Vec<u64> =
            seen["places"].as_array().unwrap().iter().map(|p| p["place"].as_u64().unwrap()).collect();
        assert!(places.contains(&5000) && places.contains(&5001) && places.contains(&4990) && places.len() > 100);
        assert!(places.len() + seen["transitions"].as_array().unwrap().len() <= MOST);
        // A part stays as long as everything happens in it; what was left is found again.
        let at = |place: u32| [(place, 0)];
        let number = |view: &mut NetView, place: u32| {
            let enabled = at(place);
            let moment = Moment { tokens: &marking, before: None, enabled: &enabled, fired: Some(place - 1) };
            view.view(&moment, None)["drawing"].as_u64().unwrap()
        };
        let first = seen["drawing"].as_u64().unwrap();
        assert_eq!([5001, 5002, 4990].map(|place| number(&mut view, place)), [first; 3]);
        let other = number(&mut view, 100);
        assert!(other != first && number(&mut view, 101) == other && number(&mut view, 5001) == first);
        (1..30).for_each(|i| assert!(number(&mut view, i * 300 + 7) >= first));
        assert!(view.drawings.len() <= PARTS);
        // Where nothing is enabled there is still something to see.
        let seen = view.view(&Moment { tokens: &marking, before: None, enabled: &[], fired: None }, None);
        assert!(!seen["places"].as_array().unwrap().is_empty());
    }

    #[test]
    fn positions_of_the_text_are_used_where_nodes_are_apart() {
        let mut net = ring(4);
        let at = |i: usize, y: f32| [i as f32 * 30.0, y];
        let places: Vec<[f32; 2]> = (0..4).map(|i| at(i, 0.0)).collect();
        let transitions: Vec<[f32; 2]> = (0..4).map(|i| at(i, 40.0)).collect();
        net.positions = Some(scrimp_net::Positions { places, transitions });
        let view = |net: &Net| {
            let mut view = NetView::new(Arc::new(net.clone()));
            view.view(&Moment { tokens: &[1, 0, 0, 0], before: None, enabled: &[], fired: None }, None)
        };
        let seen = view(&net);
        let x = |i: usize| seen["places"][i]["x"].as_f64().unwrap();
        assert!((x(1) - x(0) - 72.0).abs() < 0.2 && (x(3) - x(2) - 72.0).abs() < 0.2, "{seen}");
        // Two nodes at one spot: laid out anew.
        if let Some(positions) = &mut net.positions {
            positions.places[1] = positions.places[0];
        }
        let seen = view(&net);
        assert_ne!(seen["places"][0]["y"], seen["places"][1]["y"]);
    }
}
