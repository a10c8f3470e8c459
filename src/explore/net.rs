//! A net with its tokens, as the explorer draws it: whole where it is small, else what is near to what happens.

use super::sheet::{Kind, Sheet, arcs_of};
use crate::NativeModel;
use scrimp_net::{Net, PlaceId, TransitionId};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// Nodes that are drawn at most.
const MOST: usize = 300;
/// A transition with more places is drawn only with those that are there anyway.
const WIDE: usize = 60;

/// Draws a net.
#[derive(Debug)]
pub struct NetView {
    net: Arc<Net>,
    /// The whole net, if it is small enough; made when it is first asked for.
    whole: OnceLock<Option<Sheet>>,
    /// The transitions at each place, made when they are first asked for.
    users: OnceLock<Vec<Vec<TransitionId>>>,
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
        NetView { net, whole: OnceLock::new(), users: OnceLock::new() }
    }

    /// The answer to `api/net`.
    pub fn view(&self, moment: &Moment<'_>) -> Value {
        let small = self.net.places.len() + self.net.transitions.len() <= MOST;
        match self.whole.get_or_init(|| small.then(|| Sheet::whole(&self.net))) {
            Some(sheet) => self.told(sheet, true, moment),
            None => {
                let (places, transitions) = self.near(moment);
                self.told(&Sheet::part(&self.net, &places, &transitions), false, moment)
            }
        }
    }

    fn told(&self, sheet: &Sheet, whole: bool, moment: &Moment<'_>) -> Value {
        let tokens = |of: &[u64], place: PlaceId| of.get(place as usize).copied().unwrap_or(0);
        let places = sheet.places.iter().map(|&(place, (x, y))| {
            let name = &self.net.places[place as usize].name;
            let now = tokens(moment.tokens, place);
            let mut told = json!({"place": place, "name": name, "x": tenth(x), "y": tenth(y), "tokens": now});
            let before = moment.before.map(|before| tokens(before, place)).filter(|&before| before != now);
            if let (Some(before), Some(told)) = (before, told.as_object_mut()) {
                told.insert("before".into(), before.into());
            }
            told
        });
        let drawn: HashSet<PlaceId> = sheet.places.iter().map(|&(place, _)| place).collect();
        let transitions = sheet.transitions.iter().map(|&(t, (x, y), upright)| {
            let transition = &self.net.transitions[t as usize];
            let choice = moment.enabled.iter().find(|&&(enabled, _)| enabled == t).map(|&(_, choice)| choice);
            let mut told = Map::new();
            told.insert("transition".into(), t.into());
            told.insert("name".into(), transition.name.as_str().into());
            told.insert("x".into(), tenth(x));
            told.insert("y".into(), tenth(y));
            told.insert("choice".into(), choice.into());
            told.insert("upright".into(), upright.into());
            if moment.fired == Some(t) {
                told.insert("fired".into(), true.into());
            }
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
        json!({
            "width": tenth(sheet.width),
            "height": tenth(sheet.height),
            "whole": whole,
            "places_total": self.net.places.len(),
            "transitions_total": self.net.transitions.len(),
            "places": places.collect::<Vec<_>>(),
            "transitions": transitions.collect::<Vec<_>>(),
            "arcs": arcs.collect::<Vec<_>>(),
        })
    }

    /// What is near: what was fired, what is enabled, what else takes from marked places, and so on outwards.
    fn near(&self, moment: &Moment<'_>) -> (Vec<PlaceId>, Vec<TransitionId>) {
        let mut near = Near { net: &self.net, places: Vec::new(), transitions: Vec::new(), known: HashSet::new() };
        let firing = moment.fired.into_iter().chain(moment.enabled.iter().map(|&(t, _)| t));
        // Half of the room for what happens, so that there is something around it.
        firing.take(MOST / 2).for_each(|t| near.add(t));
        let users = self.users.get_or_init(|| users(&self.net));
        let mut at = 0;
        while near.places.len() + near.transitions.len() < MOST {
            // In a net where nothing happens, the marked places are what there is to see.
            let Some(place) = near.places.get(at).copied().or_else(|| near.next_marked(moment.tokens)) else { break };
            at += 1;
            users[place as usize].iter().for_each(|&t| near.add(t));
        }
        near.places.sort_unstable();
        near.transitions.sort_unstable();
        (near.places, near.transitions)
    }
}

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
            let view = NetView::new(net.clone());
            let next = enabled(&model, batch.state(choice));
            let seen =
                view.view(&Moment { tokens: &after, before: Some(&marking), enabled: &next, fired: Some(fired) });
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
        let view = NetView::new(net);
        let seen = view.view(&Moment { tokens: &marking, before: None, enabled: &[(5000, 0)], fired: None });
        let places: Vec<u64> =
            seen["places"].as_array().unwrap().iter().map(|p| p["place"].as_u64().unwrap()).collect();
        assert!(places.contains(&5000) && places.contains(&5001) && places.contains(&4990) && places.len() > 100);
        assert!(places.len() + seen["transitions"].as_array().unwrap().len() <= MOST);
        // Where nothing is enabled there is still something to see.
        let seen = view.view(&Moment { tokens: &marking, before: None, enabled: &[], fired: None });
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
            let view = NetView::new(Arc::new(net.clone()));
            view.view(&Moment { tokens: &[1, 0, 0, 0], before: None, enabled: &[], fired: None })
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
