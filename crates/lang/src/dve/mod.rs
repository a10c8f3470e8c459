//! DVE, the language of the BEEM models: text to [`System`].
//!
//! The text is parsed as a whole, then all names are declared, then transitions become events. Arithmetic, rendezvous and
//! committed states follow the semantics that the published state counts of BEEM were made with.

mod committed;
mod declare;
mod events;
mod parser;
mod scope;
mod syntax;

use crate::diagnostic::{Diagnostic, Place, Problem};
use crate::expression::lower::{Budget, Lowering, all_of};
use crate::expression::parser::Parser;
use crate::symbols::Map;
use declare::{Channel, Declarations};
use scrimp_system::outline::{Outline, Queue};
use scrimp_system::{Assertion, BinaryOp, Claim, ClaimMove, Expr, Process, ProcessId, Source, System};

/// Operators, operands and events that a model may have once templates and rendezvous are written out.
const MAX_WORK: u64 = 1 << 24;

/// Places that are shown when a model does the same odd thing over and over.
const MAX_WARNINGS: usize = 5;

/// The system that a DVE model describes, or the first thing that is wrong with it.
pub fn parse_dve(source: Source) -> Result<System, Diagnostic> {
    let text = source.text.clone();
    match system(&text, &source) {
        Ok(system) => Ok(system),
        Err(problem) => Err(problem.locate(&source)),
    }
}

fn system(text: &str, source: &Source) -> Result<System, Problem> {
    if text.len() as u64 > crate::MAX_TEXT {
        let message = format!("the model has {} bytes; at most {} are supported", text.len(), crate::MAX_TEXT);
        return Err(Problem::new(Place::default(), message));
    }
    let mut parser = Parser::new(text, 0, text.len())?;
    let model = parser::model(&mut parser)?;
    let end = parser.last_place();
    let Parser { expressions, symbols, .. } = parser;
    let budget = Budget::new(MAX_WORK);
    let d = declare::declare(&model, &expressions, &symbols, &budget)?;
    if d.scopes.instances.is_empty() {
        return Err(Problem::new(end, "the model has no process")
            .help("before the `system` line, add for instance `process P { state s; init s; }`"));
    }
    let claim = claim_process(&d)?;
    check_expressions(&d)?;
    let processes = processes(&d)?;
    let assertions = assertions(text, &d)?;
    let (events, transitions) = events::events(text, &d, claim)?;
    let claim = match claim {
        Some(process) => Some(claim_moves(&d, process)?),
        None => None,
    };
    let warnings = warnings(source, d.scopes.unindexed.take());
    let outline = Outline { queues: queues(&d), transitions, ..Outline::default() };
    let Declarations { variables, initial, constants, .. } = d;
    let source = source.clone();
    let initial = vec![initial];
    let system = System::new(source);
    Ok(System { variables, processes, events, initial, assertions, claim, constants, warnings, outline, ..system })
}

/// The channels that hold messages.
fn queues(d: &Declarations<'_>) -> Vec<Queue> {
    let queue = |channel: &Channel<'_>| {
        let (length, fields) = channel.variables.split_first()?;
        let name = d.scopes.spell(channel.declaration.name).to_string();
        Some(Queue { name, owner: None, length: *length, fields: fields.to_vec() })
    };
    d.channels.iter().filter_map(queue).collect()
}

/// Remarks on arrays that are used without an index, each place once and the first few in full.
fn warnings(source: &Source, mut places: Vec<Place>) -> Vec<String> {
    places.sort_unstable_by_key(|place| place.start);
    places.dedup();
    let mut warnings = Vec::new();
    for place in places.iter().take(MAX_WARNINGS) {
        let name = &source.text[place.start as usize..place.end as usize];
        let message = format!("array `{name}` is used without an index: its first element is taken");
        let problem = Problem::new(*place, message).help(format!("write `{name}[0]` if that is meant"));
        warnings.push(problem.locate(source).into_warning());
    }
    if let more @ 1.. = places.len().saturating_sub(MAX_WARNINGS) {
        let places = if more == 1 { "place" } else { "places" };
        warnings.push(format!("{}: warning: arrays are used without an index in {more} more {places}", source.name));
    }
    warnings
}

/// The process that the `system` line names as the property, or that is declared as one.
fn claim_process(d: &Declarations<'_>) -> Result<Option<u32>, Problem> {
    let mut claim = match d.model.property {
        Some(name) => Some((d.scopes.process(name)?, name)),
        None => None,
    };
    for body in d.model.bodies.iter().filter(|b| b.is_property) {
        let process = d.scopes.process(body.name)?;
        match claim {
            Some((other, name)) if other != process => {
                let message = format!("there is already a property process, `{}`,", d.scopes.spell(name));
                return Err(Problem::new(body.name.place, message).on_line_of(name.place));
            }
            _ => claim = Some((process, body.name)),
        }
    }
    Ok(claim.map(|(process, _)| process))
}

/// Expressions that serve LTL formulas are not used yet, but wrong ones are refused all the same.
fn check_expressions(d: &Declarations<'_>) -> Result<(), Problem> {
    let mut declared: Map<_, Place> = Map::default();
    let names = d.scopes.view(None);
    let lowering = Lowering { expressions: d.expressions, symbols: d.scopes.symbols, names, budget: d.budget };
    for (name, expression) in &d.model.expressions {
        if let Some(earlier) = declared.insert(name.symbol, name.place) {
            let message = format!("an expression `{}` is already declared", d.scopes.spell(*name));
            return Err(Problem::new(name.place, message).on_line_of(earlier));
        }
        lowering.value(*expression)?;
    }
    Ok(())
}

fn processes(d: &Declarations<'_>) -> Result<Vec<Process>, Problem> {
    let mut processes = Vec::with_capacity(d.scopes.instances.len());
    for instance in &d.scopes.instances {
        let body = &d.model.bodies[instance.body];
        d.budget.spend(body.states.len() as u64, body.name.place)?;
        let mut accepting =
            body.accepting.iter().map(|s| d.scopes.state(instance.body, *s)).collect::<Result<Vec<_>, _>>()?;
        accepting.sort_unstable();
        accepting.dedup();
        processes.push(Process {
            name: instance.name.clone(),
            control: instance.control,
            locations: body.states.iter().map(|s| d.scopes.spell(*s).to_string()).collect(),
            accepting,
            span: body.span,
        });
    }
    Ok(processes)
}

fn assertions(text: &str, d: &Declarations<'_>) -> Result<Vec<Assertion>, Problem> {
    let mut assertions = Vec::new();
    for (process, instance) in d.scopes.instances.iter().enumerate() {
        let names = d.scopes.view(Some(process as u32));
        let lowering = Lowering { expressions: d.expressions, symbols: d.scopes.symbols, names, budget: d.budget };
        for line in &d.model.bodies[instance.body].assertions {
            let state = d.scopes.state(instance.body, line.state)?;
            let elsewhere = Expr::binary(BinaryOp::NotEqual, Expr::Var(instance.control), Expr::Const(state as i64));
            let condition = Expr::binary(BinaryOp::Or, elsewhere, lowering.value(line.condition)?);
            let written = &text[line.span.start as usize..line.span.end as usize];
            let written = written.split_once(':').map_or(written, |(_, condition)| condition);
            let name = format!("{}.{}: {}", instance.name, d.scopes.spell(line.state), events::one_line(written, 100));
            assertions.push(Assertion { name, condition, span: line.span });
        }
    }
    Ok(assertions)
}

fn claim_moves(d: &Declarations<'_>, process: u32) -> Result<Claim, Problem> {
    let instance = &d.scopes.instances[process as usize];
    let names = d.scopes.view(Some(process));
    let lowering = Lowering { expressions: d.expressions, symbols: d.scopes.symbols, names, budget: d.budget };
    let mut moves = Vec::new();
    for transition in &d.model.bodies[instance.body].transitions {
        if let Some(sync) = &transition.sync {
            return Err(Problem::new(sync.place, "a property process only watches: it cannot synchronise"));
        }
        if let Some((target, _)) = transition.effects.first() {
            let place = d.expressions.place(*target);
            return Err(Problem::new(place, "a property process only watches: it cannot have effects"));
        }
        let guards = transition.guards.iter().map(|g| lowering.value(*g)).collect::<Result<Vec<_>, _>>()?;
        moves.push(ClaimMove {
            from: d.scopes.state(instance.body, transition.from)?,
            to: d.scopes.state(instance.body, transition.to)?,
            guard: all_of(guards),
            span: transition.span,
        });
    }
    Ok(Claim { process: ProcessId(process), moves })
}
