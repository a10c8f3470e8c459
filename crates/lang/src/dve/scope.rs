//! Which names a DVE model declares, and what a name means at a given point of it.
//!
//! Variables and channels share one global scope; a process's own names hide global ones; processes have a scope of their
//! own, and so have the states of each process: `P.s` is always a state and `P->s` always a variable.

use super::syntax::{Model, VariableDeclaration};
use crate::diagnostic::{Place, Problem};
use crate::expression::lower::{Meaning, Names, ProcessReference, Reference};
use crate::expression::syntax::{Name, Separator};
use crate::symbols::{Map, Symbol, Symbols, instance_name, sorted_suggestion, suggestion_or_all};
use scrimp_system::VarId;
use std::cell::RefCell;

/// A process of the system: a body, with values for its parameters if it is a template's.
#[derive(Debug)]
pub(crate) struct Instance {
    pub body: usize,
    /// `P`, or `node(2)` for an instance of a template.
    pub name: String,
    pub arguments: Vec<(Name, i64)>,
    pub control: VarId,
}

/// What a process name in the text stands for.
#[derive(Debug)]
struct Head {
    place: Place,
    body: usize,
    /// `None` for a template, whose instances are found by their key.
    instance: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Scopes<'a> {
    pub symbols: &'a Symbols<'a>,
    /// By symbol: what it means outside processes, and whether some process has a variable of that name.
    globals: Vec<Global>,
    locals: Map<(u32, Symbol), (Meaning, Place)>,
    channels: Map<Symbol, (usize, Place)>,
    heads: Map<Symbol, Head>,
    keys: Map<(Symbol, Vec<i64>), (u32, Place)>,
    /// For each body, the numbers of its states.
    pub states: Vec<Map<Symbol, (u32, Place)>>,
    pub instances: Vec<Instance>,
    /// Where constants and variables are declared, also those whose turn is yet to come: outside processes, and per body.
    written: Map<(Option<usize>, Symbol), Place>,
    /// Where arrays are used without an index.
    pub unindexed: RefCell<Vec<Place>>,
}

#[derive(Debug, Clone, Default)]
struct Global {
    declared: Option<(Meaning, Place)>,
    is_hidden_somewhere: bool,
}

/// The scopes as seen from one point: inside a process, or inside `for` loops, or neither.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'v> {
    pub scopes: &'v Scopes<'v>,
    pub process: Option<u32>,
    pub bindings: &'v [(Symbol, i64)],
}

impl<'a> Scopes<'a> {
    pub fn new(symbols: &'a Symbols<'a>) -> Scopes<'a> {
        Scopes {
            symbols,
            globals: vec![Global::default(); symbols.len()],
            locals: Map::default(),
            channels: Map::default(),
            heads: Map::default(),
            keys: Map::default(),
            states: Vec::new(),
            instances: Vec::new(),
            written: Map::default(),
            unindexed: RefCell::default(),
        }
    }

    /// The view from inside a process, or from outside all.
    pub fn view(&self, process: Option<u32>) -> View<'_> {
        View { scopes: self, process, bindings: &[] }
    }

    pub fn spell(&self, name: Name) -> &'a str {
        self.symbols.name(name.symbol)
    }

    fn global(&self, symbol: Symbol) -> Option<&(Meaning, Place)> {
        self.globals[symbol.0 as usize].declared.as_ref()
    }

    fn twice(&self, name: Name, what: &str, earlier: Place) -> Problem {
        Problem::new(name.place, format!("{what} `{}` is already declared", self.spell(name))).on_line_of(earlier)
    }

    /// Notes what a model declares, for the sake of those who use it too early.
    pub fn note(&mut self, model: &Model) {
        let mut note = |body: Option<usize>, declarations: &[VariableDeclaration]| {
            for VariableDeclaration { name, .. } in declarations {
                self.written.entry((body, name.symbol)).or_insert(name.place);
            }
        };
        note(None, &model.variables);
        for (number, body) in model.bodies.iter().enumerate() {
            note(Some(number), &body.variables);
        }
    }

    pub fn declare_global(&mut self, name: Name, meaning: Meaning) -> Result<(), Problem> {
        match self.globals[name.symbol.0 as usize].declared.replace((meaning, name.place)) {
            Some((_, earlier)) => Err(self.twice(name, "a variable", earlier)),
            None => Ok(()),
        }
    }

    pub fn declare_local(&mut self, process: u32, name: Name, meaning: Meaning) -> Result<(), Problem> {
        self.globals[name.symbol.0 as usize].is_hidden_somewhere = true;
        match self.locals.insert((process, name.symbol), (meaning, name.place)) {
            Some((_, earlier)) => Err(self.twice(name, "a variable", earlier)),
            None => Ok(()),
        }
    }

    pub fn declare_channel(&mut self, name: Name, number: usize) -> Result<(), Problem> {
        if let Some((_, other)) = self.global(name.symbol) {
            // All variables are declared before all channels, whatever their order in the text.
            return Err(match other.start < name.place.start {
                true => self.twice(name, "a variable", *other),
                false => self.twice(Name { place: *other, ..name }, "a channel", name.place),
            });
        }
        match self.channels.insert(name.symbol, (number, name.place)) {
            Some((_, earlier)) => Err(self.twice(name, "a channel", earlier)),
            None => Ok(()),
        }
    }

    /// Declares the name of a process, or of a template when `is_template`.
    pub fn declare_head(&mut self, name: Name, body: usize, is_template: bool) -> Result<(), Problem> {
        let instance = (!is_template).then_some(u32::MAX);
        match self.heads.insert(name.symbol, Head { place: name.place, body, instance }) {
            Some(earlier) => Err(self.twice(name, "a process", earlier.place)),
            None => Ok(()),
        }
    }

    /// The body of the template with this name.
    pub fn template(&self, name: Name) -> Result<usize, Problem> {
        match self.heads.get(&name.symbol) {
            Some(Head { instance: None, body, .. }) => Ok(*body),
            Some(_) => {
                let message = format!("process `{}` has no parameters and cannot be instantiated", self.spell(name));
                Err(Problem::new(name.place, message))
            }
            None => Err(self.unknown_process(name)),
        }
    }

    /// Adds a process that is not a template's.
    pub fn add_process(&mut self, name: Name, instance: Instance) {
        let number = self.instances.len() as u32;
        if let Some(head) = self.heads.get_mut(&name.symbol) {
            head.instance = Some(number);
        }
        self.instances.push(instance);
    }

    /// Adds an instance of a template, found by `key` from then on.
    pub fn add_instance(&mut self, template: Name, key: Vec<i64>, instance: Instance) -> Result<(), Problem> {
        let number = self.instances.len() as u32;
        if let Some((_, earlier)) = self.keys.insert((template.symbol, key), (number, template.place)) {
            let message = format!("an instance `{}` already exists", instance.name);
            return Err(Problem::new(template.place, message).on_line_of(earlier));
        }
        self.instances.push(instance);
        Ok(())
    }

    /// The number of the process that is called `name` and is no template's instance.
    pub fn process(&self, name: Name) -> Result<u32, Problem> {
        match self.heads.get(&name.symbol) {
            Some(Head { instance: Some(number), .. }) => Ok(*number),
            Some(_) => Err(Problem::new(name.place, format!("`{}` is a template, not a process", self.spell(name)))),
            None => Err(self.unknown_process(name)),
        }
    }

    pub fn channel(&self, name: Name) -> Result<usize, Problem> {
        if let Some((number, _)) = self.channels.get(&name.symbol) {
            return Ok(*number);
        }
        let word = self.spell(name);
        let message = match self.global(name.symbol).is_some() {
            true => format!("`{word}` is a variable, not a channel"),
            false => format!("unknown channel `{word}`"),
        };
        let candidates = self.channels.keys().map(|s| self.symbols.name(*s));
        Err(Problem::new(name.place, message).maybe_help(sorted_suggestion(word, candidates)))
    }

    /// The number of a state of the body `body`.
    pub fn state(&self, body: usize, name: Name) -> Result<u32, Problem> {
        if let Some((number, _)) = self.states[body].get(&name.symbol) {
            return Ok(*number);
        }
        let word = self.spell(name);
        let candidates = self.states[body].keys().map(|s| self.symbols.name(*s));
        Err(Problem::new(name.place, format!("unknown state `{word}`")).maybe_help(sorted_suggestion(word, candidates)))
    }

    fn unknown_process(&self, name: Name) -> Problem {
        let word = self.spell(name);
        let mut known: Vec<&str> = self.heads.keys().map(|s| self.symbols.name(*s)).collect();
        known.sort_unstable();
        let help = suggestion_or_all("known processes", word, known);
        Problem::new(name.place, format!("unknown process `{word}`")).maybe_help(help)
    }

    /// The process that stands before `.` or `->`.
    fn instance(&self, reference: ProcessReference<'_>) -> Result<u32, Problem> {
        let ProcessReference { name, arguments, .. } = reference;
        let Some(head) = self.heads.get(&name.symbol) else { return Err(self.unknown_process(name)) };
        let word = self.spell(name);
        match (head.instance, arguments) {
            (Some(number), None) => Ok(number),
            (None, Some(key)) => match self.keys.get(&(name.symbol, key.to_vec())) {
                Some((number, _)) => Ok(*number),
                None => Err(Problem::new(name.place, format!("there is no instance `{}`", instance_name(word, key)))),
            },
            (Some(_), Some(_)) => Err(Problem::new(name.place, format!("process `{word}` has no instances"))),
            (None, None) => Err(Problem::new(name.place, format!("`{word}` is a template, not a process"))
                .help(format!("say which instance: `{word}(1)`"))),
        }
    }

    fn member(&self, process: ProcessReference<'_>, name: Name) -> Result<Meaning, Problem> {
        let number = self.instance(process)?;
        let instance = &self.instances[number as usize];
        let state = self.states[instance.body].get(&name.symbol);
        let variable = self.locals.get(&(number, name.symbol));
        let (word, owner) = (self.spell(name), &instance.name);
        let refuse = |what: &str| Problem::new(name.place, format!("process `{owner}` has no {what} `{word}`"));
        match process.separator {
            Separator::Dot => match state {
                Some((state, _)) => Ok(Meaning::Location(instance.control, *state as i64)),
                None if variable.is_some() => Err(refuse("state").help(format!("its variable is `{owner}->{word}`"))),
                None => {
                    let candidates = self.states[instance.body].keys().map(|s| self.symbols.name(*s));
                    Err(refuse("state").maybe_help(sorted_suggestion(word, candidates)))
                }
            },
            Separator::Arrow => match variable {
                Some((meaning, _)) => Ok(meaning.clone()),
                None if state.is_some() => Err(refuse("variable").help(format!("its state is `{owner}.{word}`"))),
                None => {
                    let own = self.locals.keys().filter(|(p, _)| *p == number);
                    let candidates = own.map(|(_, s)| self.symbols.name(*s));
                    Err(refuse("variable").maybe_help(sorted_suggestion(word, candidates)))
                }
            },
            Separator::At => Err(Problem::new(name.place, "`@` belongs to properties, not to models")
                .help(format!("write `{owner}.{word}`"))),
        }
    }

    fn unknown_variable(&self, name: Name, process: Option<u32>) -> Problem {
        let word = self.spell(name);
        if self.channels.contains_key(&name.symbol) {
            return Problem::new(name.place, format!("`{word}` is a channel, not a variable"));
        }
        if self.heads.contains_key(&name.symbol) {
            return Problem::new(name.place, format!("`{word}` is a process, not a variable"))
                .help(format!("`{word}.s` asks whether it is in state s, `{word}->x` reads its variable x"));
        }
        let body = process.map(|p| self.instances[p as usize].body);
        if let Some(place) = [body, None].iter().find_map(|scope| self.written.get(&(*scope, name.symbol))) {
            return match place.start < name.place.start {
                true => Problem::new(name.place, format!("`{word}` cannot be used in its own declaration")),
                false => Problem::new(name.place, format!("`{word}` is declared only later,")).on_line_of(*place),
            };
        }
        let own = self.locals.keys().filter(|(p, _)| Some(*p) == process).map(|(_, s)| *s);
        let globals = (0..self.globals.len() as u32).map(Symbol).filter(|s| self.global(*s).is_some());
        let candidates = own.chain(globals).map(|s| self.symbols.name(s));
        Problem::new(name.place, format!("unknown name `{word}`")).maybe_help(sorted_suggestion(word, candidates))
    }
}

impl Names for View<'_> {
    fn look_up(&self, reference: Reference<'_>) -> Result<Meaning, Problem> {
        let name = reference.name;
        if let Some(process) = reference.process {
            return self.scopes.member(process, name);
        }
        if let Some((_, value)) = self.bindings.iter().rev().find(|(symbol, _)| *symbol == name.symbol) {
            return Ok(Meaning::Constant(*value));
        }
        let global = &self.scopes.globals[name.symbol.0 as usize];
        let local = match self.process {
            Some(process) if global.is_hidden_somewhere => self.scopes.locals.get(&(process, name.symbol)),
            _ => None,
        };
        match local.or(global.declared.as_ref()) {
            Some((meaning, _)) => Ok(meaning.clone()),
            None => Err(self.scopes.unknown_variable(name, self.process)),
        }
    }

    /// Some models of the collection name an array where its first element serves them, so that is only worth a remark.
    fn allows_unindexed(&self, place: Place) -> bool {
        self.scopes.unindexed.borrow_mut().push(place);
        true
    }
}
