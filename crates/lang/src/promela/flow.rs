//! From elements to control states and the transitions between them, the second half of making a control graph.
//!
//! A transition leads to the next element at which something can happen: dots, jumps and the ends of loops are passed
//! through, but not from within an `atomic` to its last element, which then is a step of its own. A selection has the
//! transitions of all its options; what covers a statement by `unless` is tried before it.

use super::core::{Action, Alternative, Flow, Next, State, Statement, Transition, Value};
use super::element::{Block, Id, Kinds, Part};
use super::link::Linked;
use crate::diagnostic::Problem;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Elements that may be passed through in a row, beyond which the text jumps in circles.
pub(super) const MAX_HOPS: usize = 500;

/// The control graph of a body.
pub(crate) fn flow(mut body: Linked) -> Result<Flow, Problem> {
    let whole = body.whole;
    let mut maker = Maker { body: &mut body, raw: HashMap::new(), done: HashSet::new() };
    maker.sequence(whole)?;
    let start = maker.hunt(whole.first, false)?;
    let labels: Vec<(Arc<str>, Id)> = maker.body.labels.iter().map(|l| (l.name.clone(), l.element)).collect();
    let Maker { raw, .. } = maker;
    Assembly::new(&body, raw)?.flow(start, labels)
}

/// What leaves an element, before selections are written out.
#[derive(Debug)]
pub(super) enum Raw {
    Step {
        target: Option<Id>,
        atomic: bool,
        escapes: Vec<Id>,
    },
    DStep {
        first: Part,
        exit: Id,
        atomic: bool,
        escapes: Vec<Id>,
    },
    /// The transitions of these elements.
    Choice(Vec<Id>),
}

struct Maker<'b> {
    body: &'b mut Linked,
    raw: HashMap<Id, Raw>,
    done: HashSet<Id>,
}

impl Maker<'_> {
    /// The first element from `from` on that is not passed through; `atomic` when coming from within an `atomic`.
    fn hunt(&self, from: Id, atomic: bool) -> Result<Id, Problem> {
        let mut at = from;
        for _ in 0..MAX_HOPS {
            let element = &self.body.elements[at];
            let next = match &element.kind {
                Kinds::Goto(..) | Kinds::Leave(_) | Kinds::Dot | Kinds::Break => self.body.next(at).unwrap_or(at),
                Kinds::Unless(parts) => self.hunt(parts[0].first, atomic)?,
                _ => return Ok(at),
            };
            if next == at || atomic && !self.body.elements[next].atomic {
                return Ok(at);
            }
            at = next;
        }
        Err(Problem::new(self.body.elements[from].place, "the jumps from here form a cycle without a statement"))
    }

    /// The first element of an option at which something happens.
    fn hunt_start(&self, from: Id) -> Id {
        let mut at = from;
        for _ in 0..MAX_HOPS {
            let element = &self.body.elements[at];
            at = match &element.kind {
                Kinds::Dot => self.body.behind(at),
                Kinds::Unless(parts) => parts[0].first,
                _ => break,
            };
        }
        at
    }

    fn escapes(&self, id: Id) -> Result<Vec<Id>, Problem> {
        let element = &self.body.elements[id];
        element.escapes.iter().map(|escape| self.hunt(escape.first, element.atomic)).collect()
    }

    fn cover(&mut self, id: Id) -> Result<(), Problem> {
        for escape in self.body.elements[id].escapes.clone() {
            self.sequence(escape)?;
        }
        Ok(())
    }

    fn sequence(&mut self, part: Part) -> Result<(), Problem> {
        let mut at = Some(part.first);
        while let Some(id) = at {
            if self.done.insert(id) {
                self.element(id)?;
            }
            at = (id != part.last).then(|| self.body.behind(id));
        }
        Ok(())
    }

    fn element(&mut self, id: Id) -> Result<(), Problem> {
        match &self.body.elements[id].kind {
            Kinds::Unless(parts) => {
                let main = parts[0];
                self.sequence(main)
            }
            Kinds::Select(parts) => {
                let parts = parts.clone();
                let starts = parts.iter().map(|part| self.hunt_start(part.first));
                let alive = |start: &Id| !self.is_false(*start);
                let options = starts.filter(alive).collect();
                self.raw.insert(id, Raw::Choice(options));
                parts.into_iter().try_for_each(|part| self.sequence(part))
            }
            Kinds::Block(block, part) => {
                let (block, part) = (*block, *part);
                self.block(id, block, part)
            }
            _ => {
                let element = &self.body.elements[id];
                let atomic = element.atomic;
                let target = self.body.next(id).map(|next| self.hunt(next, atomic)).transpose()?;
                let escapes = match element.kind {
                    Kinds::Dot => vec![],
                    _ => self.escapes(id)?,
                };
                let covered = !escapes.is_empty();
                self.raw.insert(id, Raw::Step { target, atomic, escapes });
                if covered { self.cover(id) } else { Ok(()) }
            }
        }
    }

    /// An option that is the constant `false` is none.
    fn is_false(&self, id: Id) -> bool {
        let element = &self.body.elements[id];
        match &element.kind {
            Kinds::Action(action) => {
                matches!(action.statement, Statement::Condition(Value::Number(0))) && element.escapes.is_empty()
            }
            _ => false,
        }
    }

    fn block(&mut self, id: Id, block: Block, part: Part) -> Result<(), Problem> {
        self.patch(part);
        if block == Block::DStep {
            let atomic = self.body.elements[id].atomic;
            let exit = self.hunt(self.body.behind(id), atomic)?;
            let escapes = self.escapes(id)?;
            self.raw.insert(id, Raw::DStep { first: part, exit, atomic, escapes });
            return self.cover(id);
        }
        self.raw.insert(id, Raw::Choice(vec![self.hunt_start(part.first)]));
        self.sequence(part)
    }

    /// A jump out of an `atomic` ends it, one into another goes on with it.
    fn patch(&mut self, part: Part) {
        let mut at = Some(part.first);
        while let Some(id) = at {
            if let Some(target) = self.body.target(id) {
                let target = &self.body.elements[target];
                let into = target.atomic || target.last_of_atomic;
                let element = &mut self.body.elements[id];
                if (element.atomic || element.last_of_atomic) && !into {
                    element.atomic = false;
                    element.last_of_atomic = true;
                }
                if element.last_of_atomic && into {
                    element.last_of_atomic = false;
                    element.atomic = true;
                }
            } else if let Kinds::Select(parts) | Kinds::Unless(parts) = &self.body.elements[id].kind {
                parts.clone().into_iter().for_each(|part| self.patch(part));
            }
            at = (id != part.extent).then(|| self.body.behind(id));
        }
    }
}

/// Writes out selections and escapes, and numbers what can be reached.
pub(super) struct Assembly<'b> {
    pub(super) body: &'b Linked,
    pub(super) raw: HashMap<Id, Raw>,
    /// For each element, the steps that leave it: which element each is the step of, and the escape it belongs to.
    pub(super) lists: HashMap<Id, Vec<(Id, usize)>>,
    pub(super) flow: Flow,
    pub(super) numbers: HashMap<Id, usize>,
    pub(super) inner: HashMap<(Id, Id), usize>,
}

impl<'b> Assembly<'b> {
    fn new(body: &'b Linked, raw: HashMap<Id, Raw>) -> Result<Assembly<'b>, Problem> {
        let mut assembly = Assembly {
            body,
            raw,
            lists: HashMap::new(),
            flow: Flow::default(),
            numbers: HashMap::new(),
            inner: HashMap::new(),
        };
        let mut ids: Vec<Id> = assembly.raw.keys().copied().collect();
        ids.sort_unstable();
        for &id in &ids {
            let mut steps = Vec::new();
            assembly.flatten(id, &mut steps, 0)?;
            assembly.lists.insert(id, steps.into_iter().map(|step| (step, 0)).collect());
        }
        for &id in &ids {
            assembly.prepend_escapes(id);
        }
        Ok(assembly)
    }

    /// The elements whose steps leave `id`.
    fn flatten(&self, id: Id, into: &mut Vec<Id>, depth: usize) -> Result<(), Problem> {
        if depth > MAX_HOPS {
            return Err(Problem::new(self.body.elements[id].place, "selections are nested too deeply here"));
        }
        match self.raw.get(&id) {
            Some(Raw::Choice(options)) => options.iter().try_for_each(|option| self.flatten(*option, into, depth + 1)),
            Some(_) => {
                into.push(id);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The steps of escapes come before the steps that they cover, the outermost escape first.
    fn prepend_escapes(&mut self, id: Id) {
        let own = self.lists[&id].clone();
        let mut list = own.clone();
        for (step, _) in own {
            let escapes = match &self.raw[&step] {
                Raw::Step { escapes, .. } | Raw::DStep { escapes, .. } => escapes.clone(),
                Raw::Choice(_) => vec![],
            };
            for escape in escapes.into_iter().rev() {
                for (step, _) in self.lists.get(&escape).cloned().unwrap_or_default() {
                    if list.iter().all(|(other, _)| *other != step) {
                        list.insert(0, (step, escape + 1));
                    }
                }
            }
        }
        self.lists.insert(id, list);
    }

    fn flow(mut self, start: Id, labels: Vec<(Arc<str>, Id)>) -> Result<Flow, Problem> {
        // Labels are states of their own for whoever refers to them, also where nothing jumps there.
        let mut waiting = vec![start];
        self.number(start);
        while let Some(id) = waiting.pop() {
            let state = self.numbers[&id];
            let transitions = self.transitions(id, &mut waiting)?;
            self.flow.states[state].transitions = transitions;
        }
        self.flow.start = self.numbers[&start];
        for (name, element) in &labels {
            match self.numbers.get(element) {
                Some(&state) => self.flow.labels.push((name.clone(), state)),
                None => self.flow.unreachable.push(name.clone()),
            }
        }
        self.mark(&labels);
        self.flow.dead = self.dead();
        Ok(self.flow)
    }

    /// The statements that are in no transition.
    fn dead(&self) -> Vec<(Arc<Action>, u32)> {
        let alternatives = self.flow.states.iter().flat_map(|s| &s.transitions).flat_map(|t| &t.alternatives);
        let alive: HashSet<*const Action> = alternatives.map(|a| Arc::as_ptr(&a.action)).collect();
        let actions = self.body.elements.iter().enumerate().filter_map(|(id, element)| match &element.kind {
            Kinds::Action(action) => Some((action.clone(), number_of(id))),
            _ => None,
        });
        actions.filter(|(action, _)| !alive.contains(&Arc::as_ptr(action))).collect()
    }

    fn number(&mut self, id: Id) -> (usize, bool) {
        if let Some(&number) = self.numbers.get(&id) {
            return (number, false);
        }
        let number = self.flow.states.len();
        self.numbers.insert(id, number);
        self.flow.states.push(State { place: self.body.elements[id].place, number: number_of(id), ..State::default() });
        (number, true)
    }

    fn target(&mut self, id: Id, waiting: &mut Vec<Id>) -> usize {
        let (number, new) = self.number(id);
        if new {
            waiting.push(id);
        }
        number
    }

    fn transitions(&mut self, id: Id, waiting: &mut Vec<Id>) -> Result<Vec<Transition>, Problem> {
        let mut transitions = Vec::new();
        for (step, escape) in self.lists.get(&id).cloned().unwrap_or_default() {
            let alternatives = match &self.raw[&step] {
                Raw::Step { target, atomic, .. } => {
                    let then = if *atomic { Next::Atomic } else { Next::Free };
                    let target = *target;
                    let action = self.action(step);
                    let target = target.map(|target| self.target(target, waiting));
                    vec![Alternative { action, target, then, number: number_of(step) }]
                }
                Raw::DStep { first, exit, atomic, .. } => {
                    let (first, exit) = (first.first, *exit);
                    let then = if *atomic { Next::Atomic } else { Next::Free };
                    let exit = self.target(exit, waiting);
                    self.d_step(step, first, exit, then)?
                }
                Raw::Choice(_) => continue,
            };
            transitions.push(Transition { alternatives, escape });
        }
        Ok(transitions)
    }

    pub(super) fn action(&self, id: Id) -> Arc<Action> {
        let element = &self.body.elements[id];
        match &element.kind {
            Kinds::Action(action) => action.clone(),
            kind => {
                let text = match kind {
                    Kinds::Goto(label, _) => format!("goto {}", label.name),
                    Kinds::Leave(_) => "break".to_string(),
                    _ => ".(goto)".to_string(),
                };
                Arc::new(Action { statement: Statement::Nothing, place: element.place, text })
            }
        }
    }

    /// Labels that mean something. The first statement of an option is executed from the selection, so control is never
    /// before it; as in SPIN, its label then counts for where it leads.
    fn mark(&mut self, labels: &[(Arc<str>, Id)]) {
        let special = |prefix: &str| {
            let marked = labels.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, id)| *id);
            self.passed_on(marked.collect())
        };
        let (end, progress, accept) = (special("end"), special("progress"), special("accept"));
        for (&id, &number) in &self.numbers {
            let is_end = match &self.body.elements[id].kind {
                Kinds::Action(action) => matches!(action.statement, Statement::End),
                _ => false,
            };
            let state = &mut self.flow.states[number];
            state.valid_end = is_end || end.contains(&id);
            state.progress = progress.contains(&id);
            state.accept = accept.contains(&id);
        }
        // A join that is a valid end makes what follows it one.
        let joins: Vec<usize> = self
            .numbers
            .iter()
            .filter(|(id, number)| {
                matches!(self.body.elements[**id].kind, Kinds::Dot | Kinds::Break)
                    && self.flow.states[**number].valid_end
            })
            .filter_map(|(_, number)| self.flow.states[*number].transitions.first()?.alternatives.first()?.target)
            .collect();
        for target in joins {
            self.flow.states[target].valid_end = true;
        }
    }

    /// The marked elements, with those to which options pass their marks.
    fn passed_on(&self, mut marked: HashSet<Id>) -> HashSet<Id> {
        let choices: Vec<&Vec<Id>> = self
            .raw
            .values()
            .filter_map(|raw| match raw {
                Raw::Choice(options) => Some(options),
                _ => None,
            })
            .collect();
        // From an option that is a selection to its options, as deep as they are nested.
        loop {
            let before = marked.len();
            let more: Vec<Id> = choices
                .iter()
                .copied()
                .flatten()
                .filter(|option| marked.contains(*option))
                .filter_map(|option| match self.raw.get(option) {
                    Some(Raw::Choice(inner)) => Some(inner.clone()),
                    _ => None,
                })
                .flatten()
                .collect();
            marked.extend(more);
            if marked.len() == before {
                break;
            }
        }
        let leads_to = |option: &Id| match self.raw.get(option) {
            Some(Raw::Step { target, .. }) => *target,
            Some(Raw::DStep { exit, .. }) => Some(*exit),
            _ => None,
        };
        let options = choices.into_iter().flatten().filter(|option| marked.contains(*option));
        let targets: Vec<Id> = options.filter_map(leads_to).collect();
        marked.extend(targets);
        marked
    }
}

/// SPIN counts elements from one.
pub(super) fn number_of(id: Id) -> u32 {
    id as u32 + 1
}
