//! From declarations to variables, channels and processes with their initial values.
//!
//! Afterwards every name of the model has a meaning, and the size of a state is known and bounded. Constants need no room
//! in it: they live on in the scopes, and as names for properties.

use super::scope::{Instance, Scopes};
use super::syntax::*;
use crate::diagnostic::{Place, Problem};
use crate::expression::lower::{Budget, Lowering, Meaning};
use crate::expression::syntax::{ExprId, Expressions, Name};
use crate::symbols::{Map, Symbol, Symbols, instance_name};
use scrimp_system::{Constant, ConstantValue, Domain, ProcessId, Role, Valuation, VarId, Variable};

/// Bytes that a state may have.
const MAX_STATE: u64 = 1 << 20;
/// Processes that templates may be instantiated to, and rounds that `for` loops may make.
const MAX_INSTANCES: u32 = 20_000;

#[derive(Debug)]
pub(crate) struct Channel<'m> {
    pub declaration: &'m ChannelDeclaration,
    /// 0 for a rendezvous.
    pub capacity: u32,
    /// The fill level, then one array per position of the tuple; none for a rendezvous.
    pub variables: Vec<VarId>,
    /// Its number among the queues, where it is one.
    pub queue: Option<u32>,
}

pub(crate) struct Declarations<'a> {
    pub model: &'a Model,
    pub expressions: &'a Expressions,
    pub budget: &'a Budget,
    pub scopes: Scopes<'a>,
    pub variables: Vec<Variable>,
    pub initial: Valuation,
    /// For properties, which are read when the scopes are gone.
    pub constants: Vec<Constant>,
    pub channels: Vec<Channel<'a>>,
    state_bytes: u64,
    rounds: u32,
}

pub(crate) fn declare<'a>(
    model: &'a Model,
    expressions: &'a Expressions,
    symbols: &'a Symbols<'a>,
    budget: &'a Budget,
) -> Result<Declarations<'a>, Problem> {
    let mut d = Declarations {
        model,
        expressions,
        budget,
        scopes: Scopes::new(symbols),
        variables: Vec::new(),
        initial: Vec::new(),
        constants: Vec::new(),
        channels: Vec::new(),
        state_bytes: 0,
        rounds: 0,
    };
    d.scopes.note(model);
    for declaration in &model.variables {
        d.variable(declaration, None)?;
    }
    for declaration in &model.channels {
        d.channel(declaration)?;
    }
    for (number, body) in model.bodies.iter().enumerate() {
        d.scopes.declare_head(body.name, number, body.parameters.is_some())?;
        let states = d.states(body)?;
        d.scopes.states.push(states);
    }
    d.items(&model.items, &mut Vec::new())?;
    d.processes()?;
    Ok(d)
}

impl<'a> Declarations<'a> {
    /// The constant value of an expression as seen from a process, or from within loops.
    fn constant(
        &self,
        id: ExprId,
        process: Option<u32>,
        bindings: &[(Symbol, i64)],
        what: &str,
    ) -> Result<i64, Problem> {
        let mut names = self.scopes.view(process);
        names.bindings = bindings;
        let (expressions, symbols, budget) = (self.expressions, self.scopes.symbols, self.budget);
        Lowering { expressions, symbols, names, budget }.constant(id, what)
    }

    fn variable(&mut self, declaration: &VariableDeclaration, process: Option<u32>) -> Result<(), Problem> {
        let meaning = match declaration.kind {
            Kind::Variable => self.stored(declaration, process)?,
            Kind::Constant | Kind::Input => {
                let meaning = self.constant_meaning(declaration, process)?;
                self.keep_constant(declaration.name, &meaning, process);
                meaning
            }
        };
        match process {
            Some(process) => self.scopes.declare_local(process, declaration.name, meaning),
            None => self.scopes.declare_global(declaration.name, meaning),
        }
    }

    fn constant_meaning(&self, declaration: &VariableDeclaration, process: Option<u32>) -> Result<Meaning, Problem> {
        let name = declaration.name;
        let domain = domain(declaration.ty);
        let value = |id: &ExprId| Ok(domain.wrap(self.constant(*id, process, &[], "the value of a constant")?));
        let word = self.scopes.spell(name);
        match (&declaration.initial, declaration.size) {
            (InitialValue::Single(id), None) => Ok(Meaning::Constant(value(id)?)),
            (InitialValue::List(list), Some(size)) => {
                let mut values = list.iter().map(value).collect::<Result<Vec<_>, Problem>>()?;
                // As many as the size says, like those of a variable.
                let length = self.length(size, word, process)?;
                self.budget.spend(length as u64, name.place)?;
                values.resize(length, 0);
                Ok(Meaning::Table(values.into()))
            }
            (InitialValue::None, _) => Err(Problem::new(name.place, format!("constant `{word}` has no value"))),
            (_, size) => Err(wrong_initialiser(name.place, word, size.is_some())),
        }
    }

    /// How many elements an array has.
    fn length(&self, size: ExprId, word: &str, process: Option<u32>) -> Result<usize, Problem> {
        let place = self.expressions.place(size);
        match self.constant(size, process, &[], "the size of an array")? {
            size @ ..=0 => {
                Err(Problem::new(place, format!("array `{word}` has size {size}; it needs at least one element")))
            }
            size => Ok(size as usize),
        }
    }

    fn keep_constant(&mut self, name: Name, meaning: &Meaning, process: Option<u32>) {
        let value = match meaning {
            Meaning::Constant(value) => ConstantValue::Number(*value),
            Meaning::Table(values) => ConstantValue::Array(values.clone()),
            Meaning::Scalar(_) | Meaning::Array(_) | Meaning::Location(..) | Meaning::View(_) => return,
        };
        let (name, owner) = (self.scopes.spell(name).to_string(), process.map(ProcessId));
        self.constants.push(Constant { name, owner, value });
    }

    fn stored(&mut self, declaration: &VariableDeclaration, process: Option<u32>) -> Result<Meaning, Problem> {
        let name = declaration.name;
        let word = self.scopes.spell(name);
        let domain = domain(declaration.ty);
        let length = declaration.size.map(|size| self.length(size, word, process)).transpose()?;
        let cells = length.map_or(1, |size| size as u64);
        self.count_bytes(domain, cells, name.place)?;
        let what = "an initial value";
        let mut values = vec![0; cells as usize];
        match (&declaration.initial, length) {
            (InitialValue::None, _) => {}
            (InitialValue::Single(id), None) => values[0] = domain.wrap(self.constant(*id, process, &[], what)?),
            (InitialValue::List(list), Some(_)) => {
                // Values beyond the size are not used, but must still be constants.
                for (i, id) in list.iter().enumerate() {
                    let value = domain.wrap(self.constant(*id, process, &[], what)?);
                    if let Some(cell) = values.get_mut(i) {
                        *cell = value;
                    }
                }
            }
            (_, length) => return Err(wrong_initialiser(name.place, word, length.is_some())),
        }
        let variable = self.add(Variable {
            name: word.to_string(),
            owner: process.map(ProcessId),
            domain,
            length: length.map(|size| size as u32),
            role: Role::Data,
        });
        self.initial.extend(values);
        Ok(if length.is_some() { Meaning::Array(variable) } else { Meaning::Scalar(variable) })
    }

    fn add(&mut self, variable: Variable) -> VarId {
        self.variables.push(variable);
        VarId(self.variables.len() as u32 - 1)
    }

    fn count_bytes(&mut self, domain: Domain, cells: u64, place: Place) -> Result<(), Problem> {
        self.state_bytes = self.state_bytes.saturating_add(cells.saturating_mul(domain.width() as u64));
        if self.state_bytes <= MAX_STATE {
            return Ok(());
        }
        let message =
            format!("with this variable a state has {} bytes; at most {MAX_STATE} are supported", self.state_bytes);
        Err(Problem::new(place, message))
    }

    fn channel(&mut self, declaration: &'a ChannelDeclaration) -> Result<(), Problem> {
        let name = declaration.name;
        let word = self.scopes.spell(name);
        self.scopes.declare_channel(name, self.channels.len())?;
        let capacity = match declaration.capacity {
            Some(id) => self.constant(id, None, &[], "the capacity of a channel")?,
            None => 0,
        };
        if capacity < 0 {
            return Err(Problem::new(name.place, format!("channel `{word}` has capacity {capacity}")));
        }
        let mut variables = Vec::new();
        if capacity > 0 {
            let Some(types) = &declaration.types else {
                return Err(Problem::new(name.place, format!("buffered channel `{word}` has no type"))
                    .help(format!("say what it carries: `channel {{byte}} {word}[{capacity}];`")));
            };
            let level = Domain::range(0, capacity);
            self.count_bytes(level, 1, name.place)?;
            for ty in types {
                self.count_bytes(domain(*ty), capacity as u64, name.place)?;
            }
            let role = Role::Channel;
            variables.push(self.add(Variable {
                name: format!("{word}.len"),
                owner: None,
                domain: level,
                length: None,
                role,
            }));
            self.initial.push(0);
            for (position, ty) in types.iter().enumerate() {
                let (name, length) = (format!("{word}.{position}"), Some(capacity as u32));
                variables.push(self.add(Variable { name, owner: None, domain: domain(*ty), length, role }));
                self.initial.extend(std::iter::repeat_n(0, capacity as usize));
            }
        }
        let buffered = self.channels.iter().filter(|channel| channel.capacity > 0).count();
        let queue = (capacity > 0).then_some(buffered as u32);
        self.channels.push(Channel { declaration, capacity: capacity as u32, variables, queue });
        Ok(())
    }

    /// The states of a body by name, each declared once, and the initial one among them.
    fn states(&self, body: &Body) -> Result<Map<Symbol, (u32, Place)>, Problem> {
        let word = self.scopes.spell(body.name);
        let mut states: Map<Symbol, (u32, Place)> = Map::default();
        for (number, state) in body.states.iter().enumerate() {
            if let Some((_, earlier)) = states.insert(state.symbol, (number as u32, state.place)) {
                let message = format!("a state `{}` is already declared", self.scopes.spell(*state));
                return Err(Problem::new(state.place, message).on_line_of(earlier));
            }
        }
        if states.is_empty() {
            return Err(Problem::new(body.name.place, format!("process `{word}` has no states")));
        }
        if body.initial.is_none() {
            return Err(Problem::new(body.name.place, format!("process `{word}` has no initial state"))
                .help(format!("add `init {};`", self.scopes.spell(body.states[0]))));
        }
        Ok(states)
    }

    fn items(&mut self, items: &[Item], bindings: &mut Vec<(Symbol, i64)>) -> Result<(), Problem> {
        for item in items {
            match item {
                Item::Process(body) => {
                    let name = self.model.bodies[*body].name;
                    if self.model.bodies[*body].parameters.is_some() {
                        continue;
                    }
                    if !bindings.is_empty() {
                        return Err(Problem::new(name.place, "a process without parameters cannot stand in a loop"));
                    }
                    let (body, word) = (*body, self.scopes.spell(name).to_string());
                    let instance = Instance { body, name: word, arguments: Vec::new(), control: VarId(0) };
                    self.scopes.add_process(name, instance);
                }
                Item::Instance { template, arguments } => self.instance(*template, arguments, bindings)?,
                Item::For { variable, low, high, items } => {
                    let bound = |id: &ExprId| self.constant(*id, None, bindings, "the bound of a loop");
                    let (low, high) = (bound(low)?, bound(high)?);
                    for value in low..=high {
                        self.count_round(variable.place)?;
                        bindings.push((variable.symbol, value));
                        self.items(items, bindings)?;
                        bindings.pop();
                    }
                }
            }
        }
        Ok(())
    }

    fn count_round(&mut self, place: Place) -> Result<(), Problem> {
        self.rounds += 1;
        match self.rounds <= MAX_INSTANCES {
            true => Ok(()),
            false => Err(Problem::new(place, format!("more than {MAX_INSTANCES} instances of processes"))),
        }
    }

    fn instance(&mut self, template: Name, values: &[ExprId], bindings: &[(Symbol, i64)]) -> Result<(), Problem> {
        self.count_round(template.place)?;
        let body = self.scopes.template(template)?;
        let word = self.scopes.spell(template);
        let model = self.model;
        let parameters = model.bodies[body].parameters.as_deref().unwrap_or_default();
        if parameters.len() != values.len() {
            let message = format!("`{word}` has {} parameters but {} values", parameters.len(), values.len());
            return Err(Problem::new(template.place, message));
        }
        let no_keys = parameters.iter().all(|p| !p.is_key);
        let mut arguments = Vec::with_capacity(values.len());
        let mut key = Vec::new();
        for (parameter, id) in parameters.iter().zip(values) {
            let value = self.constant(*id, None, bindings, "the value of a parameter")?;
            arguments.push((parameter.name, value));
            if parameter.is_key || no_keys {
                key.push(value);
            }
        }
        let name = instance_name(word, &key);
        self.scopes.add_instance(template, key, Instance { body, name, arguments, control: VarId(0) })
    }

    /// Gives every process its control variable and its own variables.
    fn processes(&mut self) -> Result<(), Problem> {
        let model = self.model;
        // Control variables are numbered first, because any expression may ask for any process's state.
        let mut next = self.variables.len() as u32;
        for instance in &mut self.scopes.instances {
            instance.control = VarId(next);
            let stored = model.bodies[instance.body].variables.iter().filter(|v| v.kind == Kind::Variable).count();
            next += 1 + stored as u32;
        }
        for number in 0..self.scopes.instances.len() as u32 {
            let instance = &self.scopes.instances[number as usize];
            let (body, name) = (&model.bodies[instance.body], instance.name.clone());
            let arguments = instance.arguments.clone();
            let initial = match body.initial {
                Some(initial) => self.scopes.state(instance.body, initial)?,
                None => 0,
            };
            let domain = Domain::range(0, body.states.len() as i64 - 1);
            self.count_bytes(domain, 1, body.name.place)?;
            let role = Role::Control(ProcessId(number));
            let control = self.add(Variable { name, owner: None, domain, length: None, role });
            debug_assert_eq!(control, self.scopes.instances[number as usize].control);
            self.initial.push(initial as i64);
            for (parameter, value) in arguments {
                let meaning = Meaning::Constant(value);
                self.keep_constant(parameter, &meaning, Some(number));
                self.scopes.declare_local(number, parameter, meaning)?;
            }
            for declaration in &body.variables {
                self.variable(declaration, Some(number))?;
            }
        }
        Ok(())
    }
}

fn domain(ty: Type) -> Domain {
    match ty {
        Type::Byte => Domain::BYTE,
        Type::Int => Domain::INT16,
    }
}

fn wrong_initialiser(place: Place, word: &str, is_array: bool) -> Problem {
    match is_array {
        true => Problem::new(place, format!("array `{word}` needs a list of values"))
            .help("write the values in braces: `{1, 2, 3}`"),
        false => Problem::new(place, format!("`{word}` is not an array but has a list of values"))
            .help("give it a size, or a single value"),
    }
}
