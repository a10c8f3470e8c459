//! The grammar of DVE: which production may stand directly inside which, and what a model has of it.

use super::tree::*;
use crate::coverage::{Exclusion, Grammar, Nesting, Written};

const OPERATORS: &[&str] = &[
    "minus", "~", "not", "imply", "or", "and", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-",
    "*", "/", "%",
];
const CONSTANTS: &[&str] = &["number", "true", "false", "constant", "constant element"];
const READS: &[&str] = &[
    "variable",
    "element",
    "array",
    "foreign variable",
    "foreign element",
    "foreign constant",
    "foreign constant element",
    "location",
    "parameter",
];
const ELEMENTS: &[&str] = &[
    "element",
    "foreign element",
    "constant element",
    "foreign constant element",
    "message",
    "element =",
    "foreign element =",
];
const TARGETS: &[&str] = &["variable =", "element =", "array =", "foreign variable =", "foreign element ="];
const SENDS: &[&str] = &["send untyped", "send typed", "send buffered"];
const RECEIVES: &[&str] = &["receive untyped", "receive typed", "receive buffered"];
/// Where any value of the model may be read.
const RUNNING: &[&str] =
    &["guard", "effect", "send untyped", "send typed", "send buffered", "assertion", "watching guard"];
const ASKED: &[&str] = &["invariant", "reach", "ltl", "ctl"];
/// Where only what is known beforehand may stand.
const KNOWN: &[&str] = &["variable declaration", "const declaration", "size", "capacity", "argument", "bound"];

pub static GRAMMAR: Grammar = Grammar {
    productions: &[
        "model",
        "process",
        "template",
        "instance",
        "for",
        "property process",
        "expression",
        "variable declaration",
        "const declaration",
        "input",
        "size",
        "channel",
        "typed channel",
        "buffered channel",
        "capacity",
        "parameter name",
        "key parameter",
        "accept",
        "commit",
        "assertion",
        "transition",
        "watching guard",
        "guard",
        "effect",
        "send untyped",
        "send typed",
        "send buffered",
        "receive untyped",
        "receive typed",
        "receive buffered",
        "argument",
        "bound",
        "invariant",
        "reach",
        "ltl",
        "ctl",
        "variable =",
        "element =",
        "array =",
        "foreign variable =",
        "foreign element =",
        "number",
        "true",
        "false",
        "constant",
        "constant element",
        "variable",
        "element",
        "array",
        "foreign variable",
        "foreign element",
        "foreign constant",
        "foreign constant element",
        "location",
        "parameter",
        "round",
        "waiting",
        "message",
        "minus",
        "~",
        "not",
        "imply",
        "or",
        "and",
        "|",
        "^",
        "&",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "<<",
        ">>",
        "+",
        "-",
        "*",
        "/",
        "%",
    ],
    allowed: &[
        Nesting {
            outer: &["model"],
            inner: &[
                "process",
                "template",
                "instance",
                "for",
                "property process",
                "expression",
                "variable declaration",
                "const declaration",
                "input",
                "channel",
                "typed channel",
                "buffered channel",
                "invariant",
                "reach",
                "ltl",
                "ctl",
            ],
        },
        Nesting {
            outer: &["process", "template"],
            inner: &["variable declaration", "const declaration", "accept", "commit", "assertion", "transition"],
        },
        Nesting {
            outer: &["property process"],
            inner: &["variable declaration", "const declaration", "accept", "commit", "assertion", "transition"],
        },
        Nesting { outer: &["template"], inner: &["parameter name", "key parameter"] },
        Nesting { outer: &["for"], inner: &["for", "instance", "bound"] },
        Nesting { outer: &["instance"], inner: &["argument"] },
        Nesting { outer: &["transition"], inner: &["guard", "watching guard", "effect"] },
        Nesting { outer: &["transition"], inner: SENDS },
        Nesting { outer: &["transition"], inner: RECEIVES },
        Nesting { outer: &["effect"], inner: TARGETS },
        Nesting { outer: RECEIVES, inner: TARGETS },
        Nesting { outer: &["typed channel", "buffered channel"], inner: &["capacity"] },
        Nesting { outer: &["variable declaration", "const declaration"], inner: &["size"] },
        Nesting { outer: KNOWN, inner: CONSTANTS },
        Nesting { outer: &["input"], inner: CONSTANTS },
        Nesting { outer: KNOWN, inner: OPERATORS },
        Nesting { outer: &["input"], inner: OPERATORS },
        Nesting { outer: &["argument", "bound"], inner: &["round"] },
        Nesting { outer: &["variable declaration", "const declaration"], inner: &["parameter"] },
        Nesting { outer: RUNNING, inner: CONSTANTS },
        Nesting { outer: RUNNING, inner: READS },
        Nesting { outer: RUNNING, inner: OPERATORS },
        Nesting { outer: &["expression"], inner: CONSTANTS },
        Nesting { outer: &["expression"], inner: OPERATORS },
        Nesting { outer: &["expression"], inner: READS },
        Nesting { outer: ASKED, inner: CONSTANTS },
        Nesting { outer: ASKED, inner: OPERATORS },
        Nesting { outer: ASKED, inner: READS },
        Nesting { outer: ASKED, inner: &["waiting", "message"] },
        Nesting { outer: OPERATORS, inner: CONSTANTS },
        Nesting { outer: OPERATORS, inner: READS },
        Nesting { outer: OPERATORS, inner: &["waiting", "message", "round"] },
        Nesting { outer: OPERATORS, inner: OPERATORS },
        Nesting { outer: ELEMENTS, inner: CONSTANTS },
        Nesting { outer: ELEMENTS, inner: READS },
        Nesting { outer: ELEMENTS, inner: OPERATORS },
        Nesting {
            outer: &["element", "foreign element", "constant element", "foreign constant element", "message"],
            inner: &["waiting", "message"],
        },
    ],
    excluded: &[
        Exclusion {
            outer: &["property process"],
            inner: &["commit", "assertion"],
            why: "not comparable: the manual does not say what a process that only watches commits to or asserts",
        },
        Exclusion {
            outer: &["expression", "invariant", "reach", "ltl", "ctl"],
            inner: &["parameter"],
            why: "the language does not allow it: a parameter is known in its template alone",
        },
        Exclusion {
            outer: &["watching guard"],
            inner: &["parameter"],
            why: "the language does not allow it: a property process is no template",
        },
        Exclusion {
            outer: &["message"],
            inner: &["parameter"],
            why: "the language does not allow it: a message is looked at in properties alone",
        },
        Exclusion {
            outer: &["invariant", "reach", "ltl", "ctl"],
            inner: &["array"],
            why: "the language does not allow it: a property names an element of an array",
        },
        Exclusion {
            outer: &["message"],
            inner: &["array"],
            why: "the language does not allow it: a property names an element of an array",
        },
        Exclusion { outer: &["size"], inner: &["false"], why: "the language does not allow it: no array is empty" },
    ],
};

/// Notes what a model has inside what.
pub fn note(model: &Model, written: &mut Written) {
    Noting { model, body: None, written }.model();
}

struct Noting<'m, 'w> {
    model: &'m Model,
    body: Option<&'m Body>,
    written: &'w mut Written,
}

impl<'m> Noting<'m, '_> {
    fn within(&mut self, production: &str, inner: impl FnOnce(&mut Self)) {
        self.written.enter(production);
        inner(self);
        self.written.leave();
    }

    fn model(&mut self) {
        let model = self.model;
        self.within("model", |n| {
            n.variables(&model.variables);
            for channel in &model.channels {
                let production = match (&channel.types, channel.room()) {
                    (None, _) => "channel",
                    (_, 0) => "typed channel",
                    _ => "buffered channel",
                };
                n.within(production, |n| {
                    if let Some((_, e)) = &channel.capacity {
                        n.within("capacity", |n| n.expr(e));
                    }
                });
            }
            for body in model.bodies.iter().filter(|body| !body.parameters.is_empty()) {
                n.body("template", body);
            }
            for (number, item) in model.items.iter().enumerate() {
                let watches = model.property.is_some() && number + 1 == model.items.len();
                n.item(item, watches);
            }
            model.expressions.iter().for_each(|(_, e)| n.within("expression", |n| n.expr(e)));
            model.questions.iter().for_each(|question| n.question(question));
        });
    }

    fn variables(&mut self, variables: &[Variable]) {
        for v in variables {
            let production = match v.kind {
                Kind::Variable => "variable declaration",
                Kind::Constant => "const declaration",
                Kind::Input => "input",
            };
            self.within(production, |n| {
                if let Some((_, e)) = &v.size {
                    n.within("size", |n| n.expr(e));
                }
                v.initial.iter().for_each(|e| n.expr(e));
            });
        }
    }

    fn item(&mut self, item: &Item, watches: bool) {
        let model = self.model;
        match item {
            Item::Process(body) => {
                self.body(if watches { "property process" } else { "process" }, &model.bodies[*body])
            }
            Item::Instance(_, arguments) => {
                self.within("instance", |n| arguments.iter().for_each(|e| n.within("argument", |n| n.expr(e))));
            }
            Item::For(_, low, high, items) => self.within("for", |n| {
                [low, high].into_iter().for_each(|e| n.within("bound", |n| n.expr(e)));
                items.iter().for_each(|item| n.item(item, false));
            }),
        }
    }

    fn body(&mut self, production: &str, body: &'m Body) {
        self.body = Some(body);
        self.within(production, |n| {
            for parameter in &body.parameters {
                n.written.leaf(if parameter.is_key { "key parameter" } else { "parameter name" });
            }
            n.variables(&body.variables);
            body.accepting.iter().for_each(|_| n.written.leaf("accept"));
            body.committed.iter().for_each(|_| n.written.leaf("commit"));
            body.assertions.iter().for_each(|(_, e)| n.within("assertion", |n| n.expr(e)));
            let guard = if production == "property process" { "watching guard" } else { "guard" };
            for transition in &body.transitions {
                n.within("transition", |n| n.transition(transition, guard));
            }
        });
        self.body = None;
    }

    fn transition(&mut self, transition: &Transition, guard: &str) {
        transition.guards.iter().for_each(|e| self.within(guard, |n| n.expr(e)));
        if let Some(Sync { channel, passed }) = &transition.sync {
            let channel = &self.model.channels[*channel];
            let production = match (passed, &channel.types, channel.room()) {
                (Passed::Sent(_), None, _) => "send untyped",
                (Passed::Sent(_), _, 0) => "send typed",
                (Passed::Sent(_), ..) => "send buffered",
                (Passed::Received(_), None, _) => "receive untyped",
                (Passed::Received(_), _, 0) => "receive typed",
                (Passed::Received(_), ..) => "receive buffered",
            };
            self.within(production, |n| match passed {
                Passed::Sent(values) => values.iter().for_each(|e| n.expr(e)),
                Passed::Received(targets) => targets.iter().for_each(|target| n.target(target)),
            });
        }
        for (target, e) in &transition.effects {
            self.within("effect", |n| {
                n.target(target);
                n.expr(e);
            });
        }
    }

    fn target(&mut self, target: &Reference) {
        let production = match (target.scope, &target.index, self.declared(target).size.is_some()) {
            (Scope::Of(_), Some(_), _) => "foreign element =",
            (Scope::Of(_), None, _) => "foreign variable =",
            (_, Some(_), _) => "element =",
            (_, None, true) => "array =",
            (_, None, false) => "variable =",
        };
        self.within(production, |n| target.index.iter().for_each(|e| n.expr(e)));
    }

    fn declared(&self, reference: &Reference) -> &'m Variable {
        let model = self.model;
        match (reference.scope, self.body) {
            (Scope::Of(process), _) => &model.body(process).variables[reference.number],
            (Scope::Own, Some(body)) => &body.variables[reference.number],
            _ => &model.variables[reference.number],
        }
    }

    fn question(&mut self, question: &Question) {
        match question {
            Question::Invariant(e) => self.within("invariant", |n| n.expr(e)),
            Question::Reach(e) => self.within("reach", |n| n.expr(e)),
            Question::Formula { branching, atoms, .. } => {
                self.within(if *branching { "ctl" } else { "ltl" }, |n| atoms.iter().for_each(|e| n.expr(e)));
            }
        }
    }

    fn expr(&mut self, e: &Expr) {
        let production = match e {
            Expr::Number(_) => "number",
            Expr::Truth(true) => "true",
            Expr::Truth(false) => "false",
            Expr::Parameter(_) => "parameter",
            Expr::Round(_) => "round",
            Expr::At(..) => "location",
            Expr::Waiting(_) => "waiting",
            Expr::Message(..) => "message",
            Expr::Unary(Unary::Minus, _) => "minus",
            Expr::Unary(Unary::Complement, _) => "~",
            Expr::Unary(Unary::Not, _) => "not",
            Expr::Binary(op, ..) => op.written().0[0],
            Expr::Read(reference) => {
                let declared = self.declared(reference);
                let foreign = matches!(reference.scope, Scope::Of(_));
                match (declared.kind == Kind::Variable, foreign, &reference.index, declared.size.is_some()) {
                    (false, true, Some(_), _) => "foreign constant element",
                    (false, true, None, _) => "foreign constant",
                    (false, _, Some(_), _) => "constant element",
                    (false, ..) => "constant",
                    (_, true, Some(_), _) => "foreign element",
                    (_, true, None, _) => "foreign variable",
                    (_, _, Some(_), _) => "element",
                    (_, _, None, true) => "array",
                    (_, _, None, false) => "variable",
                }
            }
        };
        self.within(production, |n| e.parts().into_iter().for_each(|part| n.expr(part)));
    }
}
