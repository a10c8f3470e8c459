//! A model as DVE text, and its questions in the words of properties.

use super::tree::*;
use std::fmt::Write;

/// Writes a model, choosing among the ways to write the same.
pub struct Printer<'m> {
    model: &'m Model,
    style: u64,
    /// In a property, processes are called from outside.
    outside: bool,
    /// The process or body in which an expression stands.
    body: Option<&'m Body>,
    rounds: Vec<String>,
}

impl<'m> Printer<'m> {
    pub fn new(model: &'m Model) -> Printer<'m> {
        Printer { model, style: model.style, outside: false, body: None, rounds: Vec::new() }
    }

    fn choose(&mut self, ways: usize) -> usize {
        self.style = self.style.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.style >> 33) as usize % ways
    }

    pub fn text(&mut self) -> String {
        let model = self.model;
        let mut out = String::new();
        self.variables(&model.variables, "", &mut out);
        for channel in &model.channels {
            let types: Vec<&str> = channel.types.iter().flatten().map(|ty| ty_name(*ty)).collect();
            let types = if types.is_empty() { String::new() } else { format!("{{{}}} ", types.join(", ")) };
            let capacity = channel.capacity.as_ref().map_or(String::new(), |(_, e)| format!("[{}]", self.expr(e)));
            let _ = writeln!(out, "channel {types}{}{capacity};", channel.name);
        }
        for body in model.bodies.iter().filter(|body| !body.parameters.is_empty()) {
            self.process(body, "", &mut out);
        }
        for (number, item) in model.items.iter().enumerate() {
            let declared = model.property == Some(true) && number + 1 == model.items.len();
            self.item(item, if declared { "property " } else { "" }, 0, &mut out);
        }
        for (name, e) in &model.expressions {
            let e = self.expr(e);
            let _ = writeln!(out, "expression {name}() {{ {e} }}");
        }
        match (model.property, model.watcher()) {
            (Some(false), Some(watcher)) => {
                let _ = writeln!(out, "system async property {};", model.body(watcher).name);
            }
            _ => out.push_str("system async;\n"),
        }
        out
    }

    fn variables(&mut self, variables: &[Variable], indent: &str, out: &mut String) {
        for v in variables {
            let kind = match v.kind {
                Kind::Variable => "",
                Kind::Constant => "const ",
                Kind::Input => "input ",
            };
            let size = v.size.as_ref().map_or(String::new(), |(_, e)| format!("[{}]", self.expr(e)));
            let values: Vec<String> = v.initial.iter().map(|e| self.expr(e)).collect();
            let initial = match (values.is_empty(), &v.size) {
                (true, _) => String::new(),
                (false, Some(_)) => format!(" = {{{}}}", values.join(", ")),
                (false, None) => format!(" = {}", values[0]),
            };
            let _ = writeln!(out, "{indent}{kind}{} {}{size}{initial};", ty_name(v.ty), v.name);
        }
    }

    fn item(&mut self, item: &Item, before: &str, depth: usize, out: &mut String) {
        let model = self.model;
        let indent = "  ".repeat(depth);
        match item {
            Item::Process(body) => self.process(&model.bodies[*body], before, out),
            Item::Instance(body, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|e| self.expr(e)).collect();
                let _ = writeln!(out, "{indent}process {}({});", model.bodies[*body].name, arguments.join(", "));
            }
            Item::For(name, low, high, items) => {
                let (low, high) = (self.expr(low), self.expr(high));
                let _ = writeln!(out, "{indent}for ({name} : {low} .. {high}) {{");
                self.rounds.push(name.clone());
                items.iter().for_each(|item| self.item(item, "", depth + 1, out));
                self.rounds.pop();
                let _ = writeln!(out, "{indent}}}");
            }
        }
    }

    fn process(&mut self, body: &'m Body, before: &str, out: &mut String) {
        let parameter = |p: &Parameter| format!("{}{}", if p.is_key { "key " } else { "" }, p.name);
        let parameters: Vec<String> = body.parameters.iter().map(parameter).collect();
        let parameters = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
        let _ = writeln!(out, "{before}process {}{parameters} {{", body.name);
        self.body = Some(body);
        self.variables(&body.variables, "  ", out);
        let names = |list: &[usize]| list.iter().map(|s| body.states[*s].as_str()).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "  state {};\n  init {};", body.states.join(", "), body.states[body.initial]);
        if !body.accepting.is_empty() {
            let _ = writeln!(out, "  accept {};", names(&body.accepting));
        }
        if !body.committed.is_empty() {
            let _ = writeln!(out, "  commit {};", names(&body.committed));
        }
        let lines: Vec<String> =
            body.assertions.iter().map(|(state, e)| format!("{}: {}", body.states[*state], self.expr(e))).collect();
        if !lines.is_empty() {
            let _ = writeln!(out, "  assert {};", lines.join(", "));
        }
        let mut before: Option<usize> = None;
        let lines: Vec<String> = (body.transitions.iter())
            .map(|t| {
                let from = match before.replace(t.from) == Some(t.from) && self.choose(3) == 0 {
                    true => "",
                    false => &body.states[t.from],
                };
                format!("    {from} -> {} {}", body.states[t.to], self.transition(t))
            })
            .collect();
        if !lines.is_empty() {
            let _ = writeln!(out, "  trans\n{};", lines.join(",\n"));
        }
        out.push_str("}\n");
        self.body = None;
    }

    fn transition(&mut self, transition: &Transition) -> String {
        let mut out = "{ ".to_string();
        for guard in &transition.guards {
            let guard = self.expr(guard);
            let _ = write!(out, "guard {guard}; ");
        }
        if let Some(Sync { channel, passed }) = &transition.sync {
            let (mark, values): (char, Vec<String>) = match passed {
                Passed::Sent(values) => ('!', values.iter().map(|e| self.expr(e)).collect()),
                Passed::Received(targets) => ('?', targets.iter().map(|t| self.reference(t)).collect()),
            };
            let values = match values.as_slice() {
                [] => String::new(),
                [one] if self.choose(3) > 0 => one.clone(),
                list => format!("{{{}}}", list.join(", ")),
            };
            let _ = write!(out, "sync {}{mark}{values}; ", self.model.channels[*channel].name);
        }
        let effects: Vec<String> = transition
            .effects
            .iter()
            .map(|(target, e)| format!("{} = {}", self.reference(target), self.expr(e)))
            .collect();
        if !effects.is_empty() {
            let _ = write!(out, "effect {}; ", effects.join(", "));
        }
        out.push('}');
        out
    }

    fn reference(&mut self, reference: &Reference) -> String {
        let model = self.model;
        let name = match reference.scope {
            Scope::Global => model.variables[reference.number].name.clone(),
            Scope::Own => self.body.map_or(String::new(), |body| body.variables[reference.number].name.clone()),
            Scope::Of(process) => {
                let arrow = if self.outside && self.choose(2) == 0 { "." } else { "->" };
                format!(
                    "{}{arrow}{}",
                    model.process_name(process),
                    model.body(process).variables[reference.number].name
                )
            }
        };
        match &reference.index {
            Some(index) => format!("{name}[{}]", self.expr(index)),
            None => name,
        }
    }

    pub fn expr(&mut self, e: &Expr) -> String {
        let mut out = String::new();
        self.write(e, 0, &mut out);
        out
    }

    fn write(&mut self, e: &Expr, least: u8, out: &mut String) {
        let strength = match e {
            Expr::Binary(op, ..) => op.written().1,
            Expr::Unary(..) => 12,
            _ => 13,
        };
        let open = strength < least || self.choose(12) == 0;
        if open {
            out.push('(');
        }
        match e {
            Expr::Number(value) => {
                let _ = write!(out, "{value}");
            }
            Expr::Truth(value) => out.push_str(if *value { "true" } else { "false" }),
            Expr::Read(reference) => out.push_str(&self.reference(reference)),
            Expr::Parameter(number) => out.push_str(self.body.map_or("", |body| &body.parameters[*number].name)),
            Expr::Round(number) => out.push_str(&self.rounds[*number]),
            Expr::At(process, state) => {
                let mark = if self.outside && self.choose(2) == 0 { '@' } else { '.' };
                let _ = write!(
                    out,
                    "{}{mark}{}",
                    self.model.process_name(*process),
                    self.model.body(*process).states[*state]
                );
            }
            Expr::Waiting(channel) => {
                let _ = write!(out, "{}.len", self.model.channels[*channel].name);
            }
            Expr::Message(channel, component, index) => {
                let index = self.expr(index);
                let _ = write!(out, "{}.{component}[{index}]", self.model.channels[*channel].name);
            }
            Expr::Unary(op, a) => {
                out.push_str(match op {
                    Unary::Minus => "- ",
                    Unary::Complement => "~",
                    Unary::Not if self.choose(2) == 0 => "!",
                    Unary::Not => "not ",
                });
                self.write(a, 12, out);
            }
            Expr::Binary(op, a, b) => {
                let (words, strength) = op.written();
                let word = words[self.choose(words.len())];
                self.write(a, strength, out);
                let _ = write!(out, " {word} ");
                self.write(b, strength + 1, out);
            }
        }
        if open {
            out.push(')');
        }
    }

    /// A question, as `--property` takes it.
    pub fn question(&mut self, question: &Question) -> String {
        self.outside = true;
        let text = match question {
            Question::Invariant(e) => format!("invariant: {}", self.expr(e)),
            Question::Reach(e) => format!("reach: {}", self.expr(e)),
            Question::Formula { formula, branching, atoms, .. } => {
                let atoms: Vec<String> = atoms.iter().map(|e| self.expr(e)).collect();
                format!("{}: {}", if *branching { "ctl" } else { "ltl" }, formula.text(&atoms, self.style))
            }
        };
        self.outside = false;
        text
    }
}

fn ty_name(ty: Type) -> &'static str {
    match ty {
        Type::Byte => "byte",
        Type::Int => "int",
    }
}
