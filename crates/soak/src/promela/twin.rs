//! Programs that mean the same: renamed, put in another order, with more than is needed, and said otherwise.

use super::tree::{Block, Form, Node, Program};
use super::{Model, Question};
use crate::language::Twin;
use scrimp_system::Random;

/// A twin in one of several ways.
pub(super) fn twin(model: &Model, random: &mut Random) -> Option<Twin<Model>> {
    let (how, program, same_counts) = match random.below(7) {
        0 => ("renamed", renamed(model), true),
        1 => ("options change places", reordered(&model.program, random), true),
        2 => ("with a process that is never run", with_idle_process(&model.program), true),
        3 => ("said by De Morgan", Program(model.program.0.iter().map(by_de_morgan).collect()), true),
        4 => ("an assignment is split", split(&model.program, random)?, false),
        5 => ("a loop is unrolled once", unrolled(&model.program, random)?, false),
        _ => ("processes change places", permuted(model, random)?, false),
    };
    let model = Model { program, ..model.clone() };
    Some(Twin { model, how, same_counts, property: |_, property| Some(property.to_string()) })
}

/// Every line after a change.
fn each_line(nodes: &[Node], change: &dyn Fn(&str) -> String) -> Vec<Node> {
    let one = |node: &Node| match node {
        Node::Line(text) => Node::Line(change(text)),
        Node::Block(block) => Node::Block(Block {
            head: change(&block.head),
            parts: block.parts.iter().map(|part| each_line(part, change)).collect(),
            ..block.clone()
        }),
    };
    nodes.iter().map(one).collect()
}

/// All that is declared is called otherwise.
fn renamed(model: &Model) -> Program {
    let change = |text: &str| {
        let mut out = String::new();
        let mut word = String::new();
        for c in text.chars().chain(['\0']) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            let known = model.names.contains(&word);
            out.push_str(&word);
            if known {
                out.push_str("Other");
            }
            word.clear();
            out.push(c);
        }
        out.pop();
        out
    };
    Program(each_line(&model.program.0, &change))
}

/// The options of every choice in another order.
fn reordered(program: &Program, random: &mut Random) -> Program {
    fn change(nodes: &[Node], random: &mut Random) -> Vec<Node> {
        let mut done = Vec::new();
        for node in nodes {
            let Node::Block(block) = node else {
                done.push(node.clone());
                continue;
            };
            let mut block = block.clone();
            block.parts = block.parts.iter().map(|part| change(part, random)).collect();
            // Which option of a d_step is taken depends on the order, and so does what `else` means in a choice that an option
            // begins with.
            let plain = block.parts.iter().all(|part| matches!(part.first(), Some(Node::Line(_))));
            if plain && matches!(block.form, Form::If | Form::Do) {
                let by = random.below(block.parts.len());
                block.parts.rotate_left(by);
            }
            done.push(if block.head == "d_step" || block.head.starts_with("inline") {
                node.clone()
            } else {
                Node::Block(block)
            });
        }
        done
    }
    Program(change(&program.0, random))
}

/// With a process that could do harm and is never run.
fn with_idle_process(program: &Program) -> Program {
    let body = vec![Node::line("byte z = 1"), Node::line("z = 0"), Node::line("assert(z)")];
    let mut nodes = program.0.clone();
    let first = nodes.iter().position(is_process).unwrap_or(nodes.len());
    nodes.insert(first, Node::braces("proctype Idle()", body));
    Program(nodes)
}

/// `a && b` as `!(!a || !b)`.
fn by_de_morgan(node: &Node) -> Node {
    let change = |text: &str| text.replace('\u{1}', "(!(!(").replace('\u{2}', ") || !(").replace('\u{3}', ")))");
    each_line(std::slice::from_ref(node), &change).swap_remove(0)
}

fn is_process(node: &Node) -> bool {
    matches!(node, Node::Block(block) if block.head.contains("proctype ") || block.head == "init")
}

/// What a place among statements can be replaced by.
type Fits = dyn Fn(&[Node], usize) -> Option<Vec<Node>>;

/// Changes the `number`th place that `fits` says can be changed, in the order of the text.
fn replaced(nodes: &[Node], left: &mut usize, fits: &Fits) -> Option<Vec<Node>> {
    for (i, node) in nodes.iter().enumerate() {
        if let Some(with) = fits(nodes, i) {
            if *left == 0 {
                return Some([&nodes[..i], &with, &nodes[i + 1..]].concat());
            }
            *left -= 1;
        }
        let Node::Block(block) = node else { continue };
        // What is a step by itself stays one.
        if block.head == "d_step" || block.head == "atomic" || block.head.starts_with("inline") {
            continue;
        }
        for (k, part) in block.parts.iter().enumerate() {
            if let Some(part) = replaced(part, left, fits) {
                let mut block = block.clone();
                block.parts[k] = part;
                return Some([&nodes[..i], &[Node::Block(block)], &nodes[i + 1..]].concat());
            }
        }
    }
    None
}

fn has_unless(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Line(_) => false,
        Node::Block(block) => block.form == Form::Unless || block.parts.iter().any(|part| has_unless(part)),
    })
}

/// An assignment by way of a fresh local variable, in one step.
fn split(program: &Program, random: &mut Random) -> Option<Program> {
    let processes: Vec<usize> = (0..program.0.len()).filter(|i| is_process(&program.0[*i])).collect();
    let at = processes[random.below(processes.len())];
    let Node::Block(process) = &program.0[at] else { return None };
    // An escape could come between.
    if has_unless(&process.parts[0]) {
        return None;
    }
    let fits = |nodes: &[Node], i: usize| {
        let Node::Line(text) = &nodes[i] else { return None };
        let (target, value) = text.split_once(" = ")?;
        let plain = target.chars().all(|c| c.is_alphanumeric() || "_.[] &".contains(c)) && !target.contains(' ');
        let words = ["red", "green", "blue", "up", "down", "run ", "give", "{"];
        if !plain || words.iter().any(|word| value.contains(word)) {
            return None;
        }
        let lines = vec![Node::line(format!("split_off = {value}")), Node::line(format!("{target} = split_off"))];
        Some(vec![Node::braces("atomic", lines)])
    };
    let mut part = replaced(&process.parts[0], &mut random.below(3), &fits)?;
    part.insert(0, Node::line("int split_off"));
    let mut nodes = program.0.clone();
    nodes[at] = Node::Block(Block { parts: vec![part], ..process.clone() });
    Some(Program(nodes))
}

/// The first turn of a loop by itself.
fn unrolled(program: &Program, random: &mut Random) -> Option<Program> {
    let fits = |nodes: &[Node], i: usize| {
        let Node::Block(block) = &nodes[i] else { return None };
        let labelled =
            i.checked_sub(1).is_some_and(|before| matches!(&nodes[before], Node::Line(l) if l.ends_with(':')));
        if block.form != Form::Do || labelled || has_labels(std::slice::from_ref(&nodes[i])) {
            return None;
        }
        let first = block.parts.iter().map(|part| leaving(part)).collect();
        let turn = Node::Block(Block { form: Form::If, parts: first, ..block.clone() });
        Some(vec![turn, nodes[i].clone(), Node::line("after_unrolled:"), Node::line("skip")])
    };
    replaced(&program.0, &mut random.below(2), &fits).map(Program)
}

/// Something that must not be there twice: a label, or what belongs to a place in the text.
fn has_labels(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Line(text) => text.ends_with(':') || super::process::is_declaration(node),
        Node::Block(block) => block.parts.iter().any(|part| has_labels(part)),
    })
}

/// A `break` as a jump behind the loop.
fn leaving(nodes: &[Node]) -> Vec<Node> {
    let one = |node: &Node| match node {
        Node::Line(text) if text == "break" => Node::line("goto after_unrolled"),
        Node::Block(block) if block.form != Form::Do && !block.head.starts_with("for") => {
            Node::Block(Block { parts: block.parts.iter().map(|part| leaving(part)).collect(), ..block.clone() })
        }
        other => other.clone(),
    };
    nodes.iter().map(one).collect()
}

/// The active processes in another order; not where their numbers matter.
fn permuted(model: &Model, random: &mut Random) -> Option<Program> {
    let text = model.text();
    let matters = ["_pid", "_nr_pr", "run ", "_last", "priority", "@here", ":seen", "init"];
    if model.question != Question::States || matters.iter().any(|word| text.contains(word)) {
        return None;
    }
    let mut nodes = model.program.0.clone();
    let places: Vec<usize> = (0..nodes.len()).filter(|i| is_process(&nodes[*i])).collect();
    if places.len() < 2 {
        return None;
    }
    let by = 1 + random.below(places.len() - 1);
    let processes: Vec<Node> = places.iter().map(|place| nodes[*place].clone()).collect();
    for (k, place) in places.iter().enumerate() {
        nodes[*place] = processes[(k + by) % processes.len()].clone();
    }
    Some(Program(nodes))
}
