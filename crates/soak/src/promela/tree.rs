//! A Promela program as a tree of lines, which is all that generating, printing and shrinking need.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A statement, a declaration, or a label (which ends in a colon) in front of the statement that follows.
    Line(String),
    Block(Block),
}

/// What a block's parts are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `head { part }`
    Braces,
    /// `{ part } unless { part }`
    Unless,
    /// `if :: part :: part fi`
    If,
    /// `do :: part :: part od`
    Do,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub form: Form,
    /// What stands before the brace: `atomic`, `proctype P()`.
    pub head: String,
    pub parts: Vec<Vec<Node>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program(pub Vec<Node>);

impl Node {
    pub fn line(text: impl Into<String>) -> Node {
        Node::Line(text.into())
    }

    pub fn braces(head: impl Into<String>, part: Vec<Node>) -> Node {
        Node::Block(Block { form: Form::Braces, head: head.into(), parts: vec![part] })
    }

    pub fn block(form: Form, parts: Vec<Vec<Node>>) -> Node {
        Node::Block(Block { form, head: String::new(), parts })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        for node in &self.0 {
            match node {
                Node::Line(text) => line(&mut out, 0, text),
                Node::Block(block) => {
                    print(&mut out, 0, block);
                    out.push('\n');
                }
            }
        }
        f.write_str(&out)
    }
}

/// At the end of a line: an arrow follows and not a semicolon.
const ARROW: char = '\u{5}';

/// A line without the marks that the generator leaves for others.
fn plain(text: &str) -> String {
    text.trim_end_matches(ARROW).replace('\u{1}', "(").replace('\u{2}', " && ").replace('\u{3}', ")")
}

fn line(out: &mut String, depth: usize, text: &str) {
    let closed = ["ltl ", "never ", "trace ", "notrace "].iter().any(|word| text.starts_with(word));
    let end = match () {
        _ if text.ends_with(':') || text.starts_with('#') || closed => "\n",
        _ if text.ends_with(ARROW) => " ->\n",
        _ => ";\n",
    };
    out.push_str(&"  ".repeat(depth));
    out.push_str(&plain(text));
    out.push_str(end);
}

/// Without what ends its last line.
fn print(out: &mut String, depth: usize, block: &Block) {
    let indent = "  ".repeat(depth);
    let space = if block.head.is_empty() { "" } else { " " };
    let (open, between, close) = match block.form {
        Form::Braces => (format!("{}{space}{{", block.head), "}", "}"),
        Form::Unless => ("{".to_string(), "} unless {", "}"),
        Form::If => ("if".to_string(), "::", "fi"),
        Form::Do => ("do".to_string(), "::", "od"),
    };
    out.push_str(&format!("{indent}{}\n", plain(&open)));
    for (i, part) in block.parts.iter().enumerate() {
        if i > 0 || between == "::" {
            out.push_str(&format!("{indent}{between}\n"));
        }
        let shell = matches!(block.form, Form::Unless | Form::Braces) && matches!(block.head.as_str(), "" | "atomic");
        if shell && part.first().is_some_and(is_step) {
            line(out, depth + 1, "skip");
        }
        statements(out, depth + 1, part);
    }
    out.push_str(&format!("{indent}{close}"));
}

fn statements(out: &mut String, depth: usize, nodes: &[Node]) {
    for (i, node) in nodes.iter().enumerate() {
        // SPIN takes the end of a loop for a jump into the d_step that follows, as it does a label, and refuses that.
        if i > 0 && jumped_over(&nodes[i - 1]) && is_step(node) {
            line(out, depth, "skip");
        }
        match node {
            Node::Line(text) => line(out, depth, text),
            Node::Block(block) => {
                print(out, depth, block);
                out.push_str(";\n");
            }
        }
    }
    // A shrunken block must still be a block, and a label must stand before something.
    match nodes.last() {
        None => line(out, depth, "skip"),
        Some(Node::Line(text)) if text.ends_with(':') => line(out, depth, "skip"),
        _ => {}
    }
}

fn jumped_over(node: &Node) -> bool {
    match node {
        Node::Line(text) => text.starts_with("select") || text.ends_with(':') || text.starts_with("change"),
        Node::Block(block) => block.head != "d_step",
    }
}

fn is_step(node: &Node) -> bool {
    matches!(node, Node::Block(block) if block.head == "d_step")
}
