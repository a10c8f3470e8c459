//! Properties as written on the command line or in a property file, in terms of a [`System`].
//!
//! `deadlock`, `faults`, `assertions`, `invariant: EXPR`, `reach: EXPR`, `ltl: FORMULA`, `ctl: FORMULA`, `accepting` and
//! `progress`, each with an optional `NAME =` before it; and what the model itself asks by the
//! name that reports have for it, `ltl NAME` and `assertion: NAME`. The operators are those of DVE whatever the model's language; names
//! are those of the system, constants included: `x`, `a[i]`, `P@location`, `P.x`, `P->x`.
//!
//! Formulas have besides, in the order of how strongly they bind: `[] <> X` (`G F`, `always eventually next`, and in `ctl`
//! `A E`, `AG` and so on, `A[p U q]`), `U W R M` (`until weakuntil release`, and `V` for `R`), `&&`, `||`, `->` (`implies`)
//! and `<->`, the last two and `U` grouping to the right. What compares and calculates binds more strongly than all of these.

use crate::advice::advice;
use crate::diagnostic::{Diagnostic, Place, Problem};
use crate::expression::lower::{Budget, Lowering, Meaning, Names, ProcessReference, Reference};
use crate::expression::parser::Parser;
use crate::expression::ranking::Locations;
use crate::expression::syntax::{ExprId, Name, Separator};
use crate::expression::temporal::Vocabulary;
use crate::formula::{Atoms, Logic, constant_or_atom, formula};
use crate::lexer::Token;
use crate::symbols::{Map, Symbols, instance_name, nearest, some_names, suggestion, suggestion_or_all};
use scrimp_core::{Property, PropertyKind};
use scrimp_system::{ConstantValue, Expr, ProcessId, Role, Source, System, VarId};
use scrimp_temporal::Formula;

/// What properties can begin with.
const WORDS: [&str; 9] =
    ["deadlock", "faults", "assertions", "invariant", "reach", "ltl", "ctl", "accepting", "progress"];

/// What only nets can be asked.
const NET_WORDS: [&str; 6] = ["one-safe", "stable-marking", "quasi-live", "live", "bounded", "bound"];

const KEYWORD_MISSING: &str = "a condition is written `invariant: …` or `reach: …`, a formula `ltl: …` or `ctl: …`";

/// Operators that a property may have.
const MAX_WORK: u64 = 1 << 20;
/// Columns are numbers of 32 bits, like those of models.
const MAX_TEXT: usize = 1 << 26;

/// Reads a property such as `invariant: not (P@critical and Q@critical)`.
pub fn parse_property(system: &System, text: &str) -> Result<Property<Expr>, Diagnostic> {
    let source = Source::new("property", text);
    let names = SystemNames::new(system);
    check_length(text).and_then(|_| property(&names, text, 0, text.len())).map_err(|p| p.locate(&source))
}

/// Reads a condition such as `x > 0 && P@critical`; `name` is what problems call the text.
pub fn parse_condition(system: &System, name: &str, text: &str) -> Result<Expr, Diagnostic> {
    let names = SystemNames::new(system);
    let read = || condition(&names, &mut Parser::new(text, 0, text.len())?);
    check_length(text).and_then(|_| read()).map_err(|p| p.locate(&Source::new(name, text)))
}

/// Reads a file with one property per line. Empty lines, and what follows `#` or `//`, mean nothing.
pub fn parse_property_file(system: &System, source: Source) -> Result<Vec<Property<Expr>>, Diagnostic> {
    let names = SystemNames::new(system);
    check_length(&source.text).map_err(|p| p.locate(&source))?;
    let (mut properties, mut problems) = (Vec::new(), Vec::new());
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        let end = ["#", "//"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
        if !line[..end].trim().is_empty() {
            match property(&names, &source.text, start, start + end) {
                Ok(property) => properties.push(property),
                Err(problem) => problems.push(problem),
            }
        }
        start += line.len();
    }
    Problem::all(problems).map_err(|p| p.locate(&source))?;
    Ok(properties)
}

pub(crate) fn check_length(text: &str) -> Result<(), Problem> {
    match text.len() <= MAX_TEXT {
        true => Ok(()),
        false => Err(Problem::new(Default::default(), format!("more than {MAX_TEXT} bytes are not supported"))),
    }
}

/// The property in `text[start..end]`, or what is wrong with it and what may have been meant.
fn property<'n>(
    names: &'n SystemNames<'n>,
    text: &'n str,
    start: usize,
    end: usize,
) -> Result<Property<Expr>, Problem> {
    read(names, text, start, end).map_err(|problem| {
        let attempt = |text: &str| read(names, text, 0, text.len()).map(drop);
        problem.maybe_help(advice(text[start..end].trim(), &attempt))
    })
}

fn read<'n>(names: &'n SystemNames<'n>, text: &'n str, start: usize, end: usize) -> Result<Property<Expr>, Problem> {
    let written = text[start..end].trim();
    if let Some(own) = own(names.system, written) {
        return Ok(own);
    }
    let mut p = Parser::new(text, start, end)?;
    let wanted = |problem: Problem| {
        problem.or_help(
            "properties are `deadlock`, `faults`, `assertions`, `invariant: EXPR`, `reach: EXPR`, `ltl: FORMULA`, \
             `ctl: FORMULA`, `accepting` and `progress`",
        )
    };
    let mut keyword = p.current;
    let mut word = p.word();
    p.expect(Token::Word, "a property").map_err(wanted)?;
    let mut name = written.to_string();
    if p.accept(Token::Assign)? {
        name = word.to_string();
        keyword = p.current;
        word = p.word();
        p.expect(Token::Word, "a property").map_err(wanted)?;
    }
    let said = |what: &Option<Expr>, of: &str| {
        let nothing = || Problem::new(keyword.place(), format!("the model has no {of}"));
        what.clone().ok_or_else(nothing)
    };
    let kind = match word {
        "deadlock" => PropertyKind::Deadlock,
        "faults" => PropertyKind::Faults,
        "assertions" => PropertyKind::Assertions,
        "invariant" => PropertyKind::Invariant(stated(names, &mut p)?),
        "reach" => PropertyKind::Reach(stated(names, &mut p)?),
        "ltl" => match unknown_formula(names.system, &p, written) {
            Some(problem) => return Err(problem),
            None => PropertyKind::Ltl(temporal(names, &mut p, Logic::Linear)?),
        },
        "ctl" => PropertyKind::Ctl(temporal(names, &mut p, Logic::Branching)?),
        "accepting" => PropertyKind::Accepting(said(&names.system.accepting, "accepting locations or labels")?),
        "progress" => PropertyKind::Progress(said(&names.system.no_progress, "progress labels")?),
        _ => {
            let of_nets = || [written, word].into_iter().find(|word| NET_WORDS.contains(word));
            let of_nets = || of_nets().map(|word| format!("`{word}` is a property of Petri nets only"));
            let help = own_near(names.system, &name).or_else(of_nets).or_else(|| suggestion(word, WORDS));
            let problem = Problem::new(keyword.place(), format!("unknown property `{word}`")).maybe_help(help);
            return Err(match written.contains(['=', '<', '>', '@', '!', '&', '|', '(']) {
                true => problem.or_help(KEYWORD_MISSING),
                false => wanted(problem),
            });
        }
    };
    match p.at(Token::End) {
        true => Ok(Property { name, kind }),
        false => Err(p.unexpected("the end of the property")),
    }
}

/// A property that the model has, by the name that reports have for it: `ltl NAME`, `assertion: NAME`.
fn own(system: &System, written: &str) -> Option<Property<Expr>> {
    let name = written.to_string();
    if let Some(wanted) = written.strip_prefix("ltl ") {
        let formula = system.formulas.iter().find(|formula| formula.name == wanted.trim())?;
        return Some(Property { name, kind: PropertyKind::Ltl(formula.formula.clone()) });
    }
    let wanted = written.strip_prefix("assertion:")?.trim();
    let assertion = system.assertions.iter().find(|assertion| assertion.name == wanted)?;
    Some(Property { name, kind: PropertyKind::Invariant(assertion.condition.clone()) })
}

/// Which property of the model is meant by a name that is none of its properties, if one is near.
fn own_near(system: &System, written: &str) -> Option<String> {
    let bare = written.strip_prefix("ltl ").unwrap_or(written).trim();
    let formulas = || system.formulas.iter().map(|formula| formula.name.as_str());
    let assertions = || system.assertions.iter().map(|assertion| assertion.name.as_str());
    if let Some(name) = formulas().find(|name| *name == bare).or_else(|| nearest(bare, formulas())) {
        return Some(format!("did you mean `ltl {name}`?"));
    }
    let name = assertions().find(|name| *name == bare).or_else(|| nearest(bare, assertions()))?;
    Some(format!("did you mean `assertion: {name}`?"))
}

/// Says which formulas the model has, where one of them is asked for that it does not have.
fn unknown_formula(system: &System, p: &Parser<'_>, written: &str) -> Option<Problem> {
    let name = written.strip_prefix("ltl ")?.trim();
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !is_word || p.at(Token::Colon) {
        return None;
    }
    let known: Vec<&str> = system.formulas.iter().map(|formula| formula.name.as_str()).collect();
    let help = own_near(system, name).or_else(|| match &known[..] {
        [] => Some("a formula of your own is written `ltl: [] (x == 1 -> <> y == 1)`".into()),
        known => Some(format!("the model has {}", known.join(", "))),
    });
    let what = if known.is_empty() { "the model has no formulas" } else { "the model has no formula" };
    let message = if known.is_empty() { what.to_string() } else { format!("{what} `{name}`") };
    Some(Problem::new(p.current.place(), message).maybe_help(help))
}

/// The condition behind the word that says what it is for.
fn stated(names: &SystemNames<'_>, p: &mut Parser<'_>) -> Result<Expr, Problem> {
    p.expect(Token::Colon, "`:` and a condition")?;
    condition(names, p)
}

fn condition(names: &SystemNames<'_>, p: &mut Parser<'_>) -> Result<Expr, Problem> {
    let id = p.expression()?;
    // What stands behind the condition is the better complaint: with `x = 1`, that `=` does not compare.
    if !p.at(Token::End) {
        return Err(p.unexpected("an operator or the end of the property"));
    }
    value(names, p, id)
}

fn temporal<'n>(names: &'n SystemNames<'n>, p: &mut Parser<'n>, logic: Logic) -> Result<Formula<Expr>, Problem> {
    let budget = Budget::new(MAX_WORK);
    formula(p, logic, names, &mut Conditions { names, budget: &budget })
}

/// The atoms of a formula about a system.
struct Conditions<'n> {
    names: &'n SystemNames<'n>,
    budget: &'n Budget,
}

impl Conditions<'_> {
    fn value(&self, p: &Parser<'_>, id: ExprId) -> Result<Expr, Problem> {
        let names = WithSpelling { names: self.names, symbols: &p.symbols };
        Lowering { expressions: &p.expressions, symbols: &p.symbols, names, budget: self.budget }.value(id)
    }
}

impl Atoms<Expr> for Conditions<'_> {
    fn atom(&mut self, p: &Parser<'_>, id: ExprId) -> Result<Formula<Expr>, Problem> {
        self.value(p, id).map(constant_or_atom)
    }

    fn is_risky(&mut self, p: &Parser<'_>, id: ExprId) -> Result<bool, Problem> {
        Ok(self.value(p, id)?.may_fault(&self.names.system.variables))
    }
}

/// The meaning of an expression that was read.
pub(crate) fn value(names: &SystemNames<'_>, p: &Parser<'_>, id: ExprId) -> Result<Expr, Problem> {
    let budget = Budget::new(MAX_WORK);
    let names = WithSpelling { names, symbols: &p.symbols };
    Lowering { expressions: &p.expressions, symbols: &p.symbols, names, budget: &budget }.value(id)
}

/// The names of a system, for looking up.
#[derive(Debug)]
pub(crate) struct SystemNames<'s> {
    system: &'s System,
    globals: Map<&'s str, Meaning>,
    locals: Map<(u32, &'s str), Meaning>,
    processes: Map<&'s str, ProcessId>,
}

/// The names of a system, asked for in the symbols of one text.
struct WithSpelling<'p> {
    names: &'p SystemNames<'p>,
    symbols: &'p Symbols<'p>,
}

impl<'s> SystemNames<'s> {
    pub(crate) fn new(system: &'s System) -> SystemNames<'s> {
        let (mut globals, mut locals) = (Map::default(), Map::default());
        let mut declare = |name: &'s str, owner: Option<ProcessId>, meaning: Meaning| match owner {
            Some(owner) => drop(locals.insert((owner.0, name), meaning)),
            None => drop(globals.insert(name, meaning)),
        };
        for constant in &system.constants {
            let meaning = match &constant.value {
                ConstantValue::Number(value) => Meaning::Constant(*value),
                ConstantValue::Array(values) => Meaning::Table(values.clone()),
            };
            declare(&constant.name, constant.owner, meaning);
        }
        for view in system.views.iter().chain(&system.also_named) {
            declare(&view.name, None, Meaning::View(view.value.clone()));
        }
        let hidden = !system.views.is_empty();
        for (number, variable) in system.variables.iter().enumerate().filter(|_| !hidden) {
            let id = VarId(number as u32);
            let meaning = if variable.length.is_some() { Meaning::Array(id) } else { Meaning::Scalar(id) };
            if !matches!(variable.role, Role::Control(_)) {
                declare(&variable.name, variable.owner, meaning);
            }
        }
        let ids = (0..system.processes.len() as u32).map(ProcessId);
        let processes = system.processes.iter().map(|p| p.name.as_str()).zip(ids).collect();
        SystemNames { system, globals, locals, processes }
    }

    /// Variables and constants with their owners, in the order of the system.
    fn all(&self) -> impl Iterator<Item = (&'s str, Option<ProcessId>)> {
        let variables = self.system.variables.iter().filter(|v| v.role == Role::Data);
        let variables = variables.filter(|_| self.system.views.is_empty());
        let constants = self.system.constants.iter().map(|c| (c.name.as_str(), c.owner));
        let views = self.system.views.iter().chain(&self.system.also_named).map(|view| (view.name.as_str(), None));
        variables.map(|v| (v.name.as_str(), v.owner)).chain(constants).chain(views)
    }

    /// The names that an owner declares.
    fn own(&self, owner: Option<ProcessId>) -> impl Iterator<Item = &'s str> {
        self.all().filter(move |(_, other)| *other == owner).map(|(name, _)| name)
    }
}

impl Vocabulary for SystemNames<'_> {
    fn has(&self, word: &str) -> bool {
        self.globals.contains_key(word) || self.processes.contains_key(word)
    }

    fn is_process(&self, word: &str) -> bool {
        self.processes.contains_key(word) && !self.globals.contains_key(word)
    }
}

impl Names for WithSpelling<'_> {
    fn look_up(&self, reference: Reference<'_>) -> Result<Meaning, Problem> {
        let word = self.symbols.name(reference.name.symbol);
        match reference.process {
            Some(process) => self.member(process, reference.name),
            None => match self.names.globals.get(word) {
                Some(meaning) => Ok(meaning.clone()),
                None => Err(self.unknown(reference.name)),
            },
        }
    }

    /// A property is written for this program, so it can be strict.
    fn allows_unindexed(&self, _: Place) -> bool {
        false
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn locations(&self, process: Name, arguments: Option<&[i64]>) -> Result<Locations<'_>, Problem> {
        let base = self.symbols.name(process.symbol);
        let name = match arguments {
            Some(key) => instance_name(base, key),
            None => base.to_string(),
        };
        match self.names.processes.get(name.as_str()) {
            Some(process) => {
                let known = &self.names.system.processes[process.index()];
                Ok(Locations { control: known.control, names: &known.locations })
            }
            None => Err(self.unknown_process(process.place, &name)),
        }
    }
}

impl WithSpelling<'_> {
    fn unknown_process(&self, place: Place, name: &str) -> Problem {
        let known = || self.names.system.processes.iter().map(|p| p.name.as_str());
        let problem = Problem::new(place, format!("unknown process `{name}`"));
        // Of a proctype that runs several times, each has its number; one that runs once has none.
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('_');
        let is_near =
            |own: &&str| own.strip_prefix(name).is_some_and(|rest| rest.starts_with(['_', '('])) || bare == Some(*own);
        let numbered = known().find(is_near);
        let near = numbered.map(|own| format!("did you mean `{own}`?"));
        problem.maybe_help(near.or_else(|| suggestion_or_all("known processes", name, known())))
    }

    fn unknown(&self, name: Name) -> Problem {
        let word = self.symbols.name(name.symbol);
        let SystemNames { system, processes, .. } = self.names;
        if let Some(process) = processes.get(word) {
            let location = system.processes[process.index()].locations.first().map_or("location", String::as_str);
            return Problem::new(name.place, format!("`{word}` is a process, not a variable"))
                .help(format!("ask where it is: `{word}@{location}`"));
        }
        let problem = Problem::new(name.place, format!("unknown name `{word}`"));
        let owners = self.names.all().filter(|(name, _)| *name == word).filter_map(|(_, owner)| owner);
        if let Some(owner) = owners.min() {
            let owner = &system.processes[owner.index()].name;
            return problem.help(format!("a variable of a process is written `{owner}.{word}`"));
        }
        if let Some(process) = system.processes.iter().find(|p| p.locations.iter().any(|l| l == word)) {
            return problem.help(format!("that a process is at a location is written `{}@{word}`", process.name));
        }
        let processes = system.processes.iter().map(|p| p.name.as_str());
        if let Some(near) = nearest(word, self.names.own(None).chain(processes)) {
            return problem.help(format!("did you mean `{near}`?"));
        }
        let locals = || self.names.all().filter_map(|(name, owner)| Some((name, owner?)));
        let near = nearest(word, locals().map(|(name, _)| name));
        let near = near.and_then(|near| locals().find(|(name, _)| *name == near));
        match near {
            Some((near, owner)) => {
                problem.help(format!("did you mean `{}.{near}`?", system.processes[owner.index()].name))
            }
            None => problem.maybe_help(some_names("known names", self.names.own(None))),
        }
    }

    fn member(&self, reference: ProcessReference<'_>, name: Name) -> Result<Meaning, Problem> {
        let SystemNames { system, globals, locals, processes } = self.names;
        let (base, word) = (self.symbols.name(reference.name.symbol), self.symbols.name(name.symbol));
        let owner = match reference.arguments {
            Some(key) => instance_name(base, key),
            None => base.to_string(),
        };
        let Some(&process) = processes.get(owner.as_str()) else {
            // What channels hold is stored in global variables with a dot in their names.
            if let (Separator::Dot, Some(variable)) = (reference.separator, globals.get(&*format!("{owner}.{word}"))) {
                return Ok(variable.clone());
            }
            return Err(self.unknown_process(reference.name.place, &owner));
        };
        let known = &system.processes[process.index()];
        let location = known.locations.iter().position(|l| l == word);
        let location = location.map(|l| Meaning::Location(known.control, l as i64));
        let variable = locals.get(&(process.0, word)).cloned();
        let refuse = |what: &str| Problem::new(name.place, format!("process `{owner}` has no {what} `{word}`"));
        let locations = || known.locations.iter().map(String::as_str);
        match reference.separator {
            Separator::At => location.ok_or_else(|| refuse("location").maybe_help(suggestion(word, locations()))),
            Separator::Arrow => {
                variable.ok_or_else(|| refuse("variable").maybe_help(suggestion(word, self.names.own(Some(process)))))
            }
            Separator::Dot => match (location, variable) {
                (Some(_), Some(_)) => {
                    let message = format!("`{owner}.{word}` is both a location and a variable");
                    let help = format!("write `{owner}@{word}` or `{owner}->{word}`");
                    Err(Problem::new(name.place, message).help(help))
                }
                (None, None) => {
                    let candidates = locations().chain(self.names.own(Some(process)));
                    Err(refuse("location or variable").maybe_help(suggestion(word, candidates)))
                }
                (location, variable) => location.or(variable).ok_or_else(|| refuse("location or variable")),
            },
        }
    }
}
