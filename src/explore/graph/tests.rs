use super::*;
use crate::{Loaded, Mode, NativeModel};
use std::path::Path;

fn model(name: &str) -> NativeModel {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name);
    let loaded = Loaded::open(&path).unwrap_or_else(|e| panic!("{e}"));
    NativeModel::new(loaded.system.clone(), Mode::Interpreted).unwrap()
}

fn initial(model: &NativeModel) -> Vec<u8> {
    let mut batch = Batch::new(model.state_bytes());
    model.initial(&mut batch);
    batch.state(0).to_vec()
}

fn after(model: &NativeModel, state: &[u8], choice: usize) -> Vec<u8> {
    let mut batch = Batch::new(model.state_bytes());
    model.expand(state, &mut batch);
    batch.state(choice).to_vec()
}

fn list<'a>(view: &'a Value, what: &str) -> &'a Vec<Value> {
    view[what].as_array().unwrap()
}

fn numbers(view: &Value) -> Vec<VertexId> {
    list(view, "vertices").iter().map(|v| v["vertex"].as_u64().unwrap() as u32).collect()
}

#[test]
fn the_graph_around_a_state_grows_on_demand() {
    let model = model("phils3.dve");
    let start = initial(&model);
    let mut graph = Graph::default();
    let first = graph.view(&model, &[&start], &[], 200);
    let around = numbers(&first);
    let top = &first["vertices"][0];
    assert!(top["current"] == true && top["initial"] == true && top["expanded"] == true);
    assert_eq!(top["successors"], around.len() - 1);
    assert!(list(&first, "edges").len() >= around.len() - 1 && first["cut"] == false);
    // What changed is on every other vertex.
    assert!(list(&first, "vertices")[1..].iter().all(|v| !v["label"].as_array().unwrap().is_empty()));
    let more = graph.view(&model, &[&start], &around[1..2], 200);
    let now = numbers(&more);
    assert!(now.len() > around.len() && around.iter().all(|v| now.contains(v)), "numbers stay");
    // Everything at last: as many vertices as there are states.
    let mut expanded = now;
    loop {
        let view = graph.view(&model, &[&start], &expanded, 400);
        let all = numbers(&view);
        if all.len() == expanded.len() {
            assert!(list(&view, "vertices").iter().any(|v| v["dead"] == true && v["bad"] == true), "a deadlock");
            break;
        }
        assert!(view["cut"] == false);
        expanded = all;
    }
    // A few at most: then it says so.
    let few = graph.view(&model, &[&start], &expanded, 10);
    assert!(numbers(&few).len() == 10 && few["cut"] == true);
}

#[test]
fn the_way_that_was_gone_is_marked() {
    let model = model("peterson3.dve");
    let mut path = vec![initial(&model)];
    for _ in 0..8 {
        let next = after(&model, &path[path.len() - 1], 0);
        path.push(next);
    }
    let states: Vec<&[u8]> = path.iter().map(Vec::as_slice).collect();
    let view = Graph::default().view(&model, &states, &[], 200);
    // The first of them too, by what was before it.
    assert!(list(&view, "vertices").iter().all(|v| !v["label"].as_array().unwrap().is_empty()));
    let on_path = |what: &str| list(&view, what).iter().filter(|v| v["on_path"] == true).count();
    assert_eq!((on_path("vertices"), on_path("edges")), (ANCESTORS + 1, ANCESTORS));
    assert!(list(&view, "edges").iter().all(|e| e["points"].as_array().unwrap().len() >= 2));
}

#[test]
fn a_shortest_way_leads_to_every_vertex() {
    let model = model("bakery2.dve");
    let start = initial(&model);
    let mut graph = Graph::default();
    let mut expanded = Vec::new();
    for _ in 0..4 {
        expanded = numbers(&graph.view(&model, &[&start], &expanded, 300));
    }
    for vertex in expanded {
        let choices = graph.way(&start, vertex).expect("a way");
        let end = choices.iter().fold(start.clone(), |state, &choice| after(&model, &state, choice));
        assert_eq!(*graph.vertices[&vertex].state, *end);
        assert!(choices.len() <= 5);
    }
    assert_eq!(graph.way(&start, 9999), None);
    assert_eq!(graph.way(b"no state", 0), None);
    graph.clear();
    assert!(!graph.knows(0));
    let again = graph.view(&model, &[&start], &[0, 1, 2], 300);
    assert!(numbers(&again).iter().all(|v| *v > 2), "numbers are not given twice");
}

#[test]
fn what_is_not_drawn_is_forgotten_when_there_is_too_much() {
    let model = model("phils5.dve");
    let start = initial(&model);
    let mut graph = Graph::default();
    let mut expanded = Vec::new();
    for _ in 0..3 {
        expanded = numbers(&graph.view(&model, &[&start], &expanded, 400));
    }
    let before = graph.vertices.len();
    let view = |graph: &mut Graph, expanded: &[VertexId]| graph.view(&model, &[&start], expanded, 400);
    let small = view(&mut graph, &[]);
    assert_eq!(graph.vertices.len(), before);
    graph.bytes = MOST_BYTES + 1;
    assert_eq!(view(&mut graph, &[]), small);
    assert_eq!(graph.vertices.len(), numbers(&small).len());
    assert!(graph.vertices.len() < before && graph.bytes < MOST_BYTES);
    assert_eq!(graph.numbers.len(), graph.vertices.len());
    // Those that were expanded and are forgotten are left out.
    let later = view(&mut graph, &expanded);
    assert!(numbers(&later).len() >= numbers(&small).len());
}
