//! The grammar of Promela, as far as what stands inside what goes: the units of a program, statements, and expressions.
//!
//! From SPIN's own grammar (`spin.y`); what this lets stand where SPIN then refuses it is excluded, each with the reason.

use crate::coverage::{Exclusion, Grammar, Nesting};
use std::sync::OnceLock;

/// What holds statements.
const SEQUENCES: &[&str] = &[
    "proctype", "init", "inline", "if", "do", "atomic", "d_step", "block", "for range", "for in", "unless", "escape",
];

const STATEMENTS: &[&str] = &[
    "assignment",
    "increment",
    "decrement",
    "condition",
    "skip",
    "else",
    "send",
    "sorted send",
    "receive",
    "random receive",
    "peek",
    "random peek",
    "if",
    "do",
    "for range",
    "for in",
    "select",
    "break",
    "goto",
    "label",
    "atomic",
    "d_step",
    "block",
    "unless",
    "inline call",
    "returning call",
    "macro",
    "assert",
    "printf",
    "printm",
    "run",
    "set_priority",
    "declaration",
    "array declaration",
    "record declaration",
];

/// What holds expressions: operators and the statements that have some.
const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!", "~",
    "minus", "conditional",
];

const OPERANDS: &[&str] = &[
    "number",
    "true or false",
    "variable",
    "element",
    "field",
    "_pid",
    "_nr_pr",
    "_last",
    "len",
    "poll",
    "random poll",
    "remote label",
    "remote variable",
    "get_priority",
];

const WITH_EXPRESSIONS: &[&str] = &[
    "assignment", "condition", "assert", "printf", "index", "send", "sorted send", "eval", "argument", "initial value",
];

pub static GRAMMAR: Grammar = Grammar {
    productions: &[
        // Units.
        "program", "proctype", "init", "inline", "typedef", "mtype", "named mtype", "define", "variable declaration",
        "ltl", "never", "trace", "notrace", "priority", "provided", "active", "active several", "parameter",
        "channel parameter", "hidden", "show", "local",
        // Statements.
        "assignment", "increment", "decrement", "condition", "skip", "else", "send", "sorted send", "receive",
        "random receive", "peek", "random peek", "if", "do", "for range", "for in", "select", "break", "goto", "label",
        "atomic", "d_step", "block", "unless", "escape", "inline call", "returning call", "macro", "assert", "printf",
        "printm", "run", "set_priority", "declaration", "array declaration", "record declaration",
        "channel declaration",
        // Expressions.
        "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!", "~",
        "minus", "conditional", "number", "true or false", "variable", "element", "field", "_pid", "_nr_pr", "_last",
        "len", "poll", "random poll", "probe", "timeout", "mtype constant", "remote label", "remote variable",
        "get_priority", "run expression", "index", "eval", "argument", "initial value", "wildcard",
        "negative constant",
    ],
    allowed: &[
        Nesting {
            outer: &["program"],
            inner: &[
                "proctype", "init", "inline", "typedef", "mtype", "named mtype", "define", "variable declaration",
                "array declaration", "record declaration", "channel declaration", "ltl", "never", "trace", "notrace",
            ],
        },
        Nesting {
            outer: &["proctype", "init"],
            inner: &["channel declaration"],
        },
        Nesting {
            outer: &["proctype"],
            inner: &["priority", "provided", "active", "active several", "parameter", "channel parameter"],
        },
        Nesting { outer: &["variable declaration"], inner: &["initial value", "hidden", "show", "local"] },
        Nesting { outer: SEQUENCES, inner: STATEMENTS },
        Nesting { outer: &["label"], inner: &["assignment", "if", "do", "atomic", "block", "condition", "send", "goto"] },
        Nesting { outer: &["trace", "notrace"], inner: &["do", "send", "receive"] },
        Nesting { outer: &["do"], inner: &["send", "receive"] },
        Nesting { outer: WITH_EXPRESSIONS, inner: OPERATORS },
        Nesting { outer: WITH_EXPRESSIONS, inner: OPERANDS },
        Nesting { outer: OPERATORS, inner: OPERATORS },
        Nesting { outer: OPERATORS, inner: OPERANDS },
        Nesting { outer: &["condition", "&&", "||"], inner: &["probe"] },
        Nesting { outer: &["condition", "&&", "||", "provided"], inner: &["timeout"] },
        Nesting { outer: &["condition", "assignment"], inner: &["run expression"] },
        Nesting { outer: &["provided"], inner: &["==", "!=", "<", ">="] },
        Nesting { outer: &["element", "field"], inner: &["index"] },
        Nesting { outer: &["run", "run expression"], inner: &["argument", "priority"] },
        Nesting {
            outer: &["receive", "random receive", "peek", "random peek", "poll", "random poll"],
            inner: &["number", "mtype constant", "negative constant", "eval", "wildcard"],
        },
        Nesting {
            outer: &["receive", "random receive", "peek", "random peek"],
            inner: &["variable", "element", "field"],
        },
        Nesting { outer: &["send", "sorted send", "==", "!=", "assignment", "argument"], inner: &["mtype constant"] },
    ],
    excluded: &[
        Exclusion {
            outer: &["proctype", "init", "inline", "atomic", "d_step", "block", "for range", "for in", "unless", "escape"],
            inner: &["else"],
            why: "the grammar does not allow it: an option begins with `else`",
        },
        Exclusion {
            outer: &["proctype", "init", "inline"],
            inner: &["break"],
            why: "SPIN refuses: misplaced break statement",
        },
        Exclusion { outer: &["d_step"], inner: &["break"], why: "SPIN refuses: non_local jump in d_step sequence" },
        Exclusion { outer: &["d_step"], inner: &["unless"], why: "SPIN refuses: unless in d_step" },
        Exclusion { outer: &["d_step"], inner: &["run"], why: "SPIN refuses: run operator in d_step" },
        Exclusion {
            outer: &["inline"],
            inner: &["unless", "run"],
            why: "SPIN refuses it in a d_step, and inlines are called there too",
        },
        Exclusion {
            outer: &["index"],
            inner: &[
                "+", "-", "*", "/", "%", "|", "^", "<<", ">>", "~", "minus", "true or false", "_pid", "_nr_pr", "_last",
                "len", "remote label", "remote variable", "get_priority",
            ],
            why: "an index that is out of range in most states ends the comparison: it stands below `&`",
        },
        Exclusion {
            outer: &["index"],
            inner: &["poll", "random poll"],
            why: "not comparable: SPIN reads an index more than once",
        },
        Exclusion {
            outer: &["initial value"],
            inner: &["remote label", "remote variable"],
            why: "SPIN refuses remote references in initial values",
        },
        Exclusion {
            outer: &["initial value", "eval", "argument"],
            inner: &["poll", "random poll"],
            why: "SPIN writes C for it that does not compile",
        },
    ],
};

/// May the second production stand directly inside the first?
pub(super) fn may_hold(outer: &str, inner: &str) -> bool {
    let pair = (GRAMMAR.production(outer), GRAMMAR.production(inner));
    pairs().binary_search(&pair).is_ok()
}

fn pairs() -> &'static [(usize, usize)] {
    static PAIRS: OnceLock<Vec<(usize, usize)>> = OnceLock::new();
    PAIRS.get_or_init(|| GRAMMAR.possible())
}

/// A pair of statements, the one directly inside the other, by a number.
pub(super) fn wish(number: u64) -> Option<(&'static str, &'static str)> {
    static STATEMENTS_IN: OnceLock<Vec<(&str, &str)>> = OnceLock::new();
    let all = STATEMENTS_IN.get_or_init(|| {
        let name = |at: usize| GRAMMAR.productions[at];
        let pairs = pairs().iter().map(|(outer, inner)| (name(*outer), name(*inner)));
        pairs.filter(|(outer, inner)| SEQUENCES.contains(outer) && STATEMENTS.contains(inner)).collect()
    });
    Some(all[number as usize % all.len()])
}
