//! Events as C functions, and the tables by which kernels find those of a place.
//!
//! Events get numbers anew, so that those whose first move leaves one place of one process follow each other: a kernel
//! goes through a range of numbers. Events that no place guards come next, in groups, and late ones after them.

use crate::packing::Packing;
use crate::term::{Tables, Term, Writer};
use scrimp_system::{Assign, Event, Expr, Fault, Moment, Overflow, System, Then};
use std::fmt::Write;
use std::ops::Range;

/// Events without a place that are tried by one thread.
const GROUP: usize = 16;

/// The events of a system in the order in which kernels know them.
pub struct Numbering {
    /// The event with each number.
    pub events: Vec<u32>,
    /// Those that are not late: `places[process][location]`.
    places: Vec<Vec<Range<u32>>>,
    always: Range<u32>,
    late_places: Vec<Vec<Range<u32>>>,
    late_always: Range<u32>,
    /// Who tries what: processes, then groups of events without a place.
    pub groups: Vec<Group>,
}

/// What one thread tries in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Group {
    Process(usize),
    Always(Range<u32>),
}

impl Numbering {
    pub fn new(system: &System) -> Numbering {
        let mut events = Vec::with_capacity(system.events.len());
        let (places, always) = sorted(system, false, &mut events);
        let (late_places, late_always) = sorted(system, true, &mut events);
        let busy = |process: &usize| places[*process].iter().any(|range| !range.is_empty());
        let mut groups: Vec<Group> = (0..places.len()).filter(busy).map(Group::Process).collect();
        groups.extend(always.clone().step_by(GROUP).map(|first| {
            let end = always.end.min(first + GROUP as u32);
            Group::Always(first..end)
        }));
        if groups.is_empty() {
            groups.push(Group::Always(0..0));
        }
        Numbering { events, places, always, late_places, late_always, groups }
    }

    pub fn has_late(&self) -> bool {
        !self.late_always.is_empty() || self.late_places.iter().flatten().any(|range| !range.is_empty())
    }
}

type Places = Vec<Vec<Range<u32>>>;

fn sorted(system: &System, late: bool, events: &mut Vec<u32>) -> (Places, Range<u32>) {
    let mut by_place: Vec<Vec<Vec<u32>>> =
        system.processes.iter().map(|process| vec![Vec::new(); process.locations.len()]).collect();
    let mut always = Vec::new();
    for (number, event) in system.events.iter().enumerate().filter(|(_, event)| event.late == late) {
        match event.moves.first() {
            Some(m) => by_place[m.process.index()][m.from as usize].push(number as u32),
            None => always.push(number as u32),
        }
    }
    let mut range = |numbers: Vec<u32>| {
        let first = events.len() as u32;
        events.extend(numbers);
        first..events.len() as u32
    };
    let places = by_place.into_iter().map(|places| places.into_iter().map(&mut range).collect()).collect();
    let always = range(always);
    (places, always)
}

/// Writes functions for all that a system and the conditions asked about need.
pub struct Functions<'a> {
    system: &'a System,
    packing: &'a Packing,
    tables: Tables,
    out: String,
}

impl<'a> Functions<'a> {
    /// The text of all functions, with conditions of states that are looked for: each with the value that it has there.
    pub fn text(system: &System, packing: &Packing, numbering: &Numbering, wanted: &[(Expr, bool)]) -> String {
        let mut functions = Functions { system, packing, tables: Tables::default(), out: String::new() };
        for (number, event) in numbering.events.iter().enumerate() {
            functions.event(number, &system.events[*event as usize]);
        }
        functions.run(numbering);
        functions.ranges("places", &numbering.places, &numbering.always);
        functions.ranges("late_places", &numbering.late_places, &numbering.late_always);
        functions.groups(numbering);
        functions.claim();
        functions.condition("valid_end", system.valid_end.as_ref().unwrap_or(&Expr::FALSE));
        for (number, (condition, _)) in wanted.iter().enumerate() {
            functions.condition(&format!("condition_{number}"), condition);
        }
        functions.judge(wanted);
        functions.tables.text() + &functions.out
    }

    fn writer(&mut self) -> Writer<'_> {
        Writer::new(self.system, self.packing, &mut self.tables)
    }

    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    fn event(&mut self, number: usize, event: &Event) {
        let body = self.body(event);
        self.line(format!("EVENT int event_{number}(const State &s, State &t) {{"));
        self.out.push_str(&body);
        self.line("}");
    }

    fn body(&mut self, event: &Event) -> String {
        const NEVER: &str = "  return 0;\n";
        let system = self.system;
        let mut writer = self.writer();
        for m in &event.moves {
            let control = writer.scalar(system.processes[m.process.index()].control, "s");
            if control.is_constant() && control.low != m.from as i64 {
                return NEVER.to_string();
            }
            writer.line(format!("if ({} != {}) return 0;", control.text, m.from));
        }
        let guard = writer.term(&event.guard, "s");
        match (guard.is_constant(), guard.low) {
            (true, 0) => return writer.finish() + NEVER,
            (true, _) => {}
            _ => writer.line(format!("if (({}) == 0) return 0;", guard.text)),
        }
        if let Some(fault) = event.fault {
            let outgrown = if system.outgrown == Some(fault) { " | TOO_SMALL" } else { "" };
            writer.line(format!("return FAULT({}){outgrown};", Fault::Model as u32));
        } else {
            if let Some(assertion) = &event.assertion {
                let holds = writer.term(assertion, "s");
                writer.line(format!("const int violated = ({}) == 0 ? VIOLATED : 0;", holds.text));
                writer.with_faults(" | violated");
            }
            writer.line("t = s;");
            for m in &event.moves {
                let to = Term::constant(m.to as i64);
                let control = system.processes[m.process.index()].control;
                let field = writer.field(control);
                if !(field.low..=field.high).contains(&(m.to as i64)) {
                    writer.outgrown_if("true", control);
                }
                writer.write(control, None, &to, "t");
            }
            event.effects.iter().for_each(|a| assign(system, &mut writer, a));
            writer.line(if event.assertion.is_some() { "return HAPPENS | violated;" } else { "return HAPPENS;" });
        }
        writer.finish()
    }

    /// The function that runs an event by its number, and who may move after it.
    fn run(&mut self, numbering: &Numbering) {
        self.line("DEVICE int run(int number, const State &s, State &t) {");
        self.line("  switch (number) {");
        for number in 0..numbering.events.len() {
            self.line(format!("  case {number}: return event_{number}(s, t);"));
        }
        self.line("  }\n  return 0;\n}");
        let then = |number: &u32| match self.system.events[*number as usize].then {
            Then::Free => -1,
            Then::Atomic(process) => 2 * process.0 as i64,
            Then::DStep(process) => 2 * process.0 as i64 + 1,
        };
        let thens: Vec<String> = numbering.events.iter().map(|number| then(number).to_string()).collect();
        let thens = if thens.is_empty() { "-1".to_string() } else { thens.join(", ") };
        self.line(format!("TABLE int then_of[] = {{{thens}}};"));
    }

    /// The function that tells the range of events of a process where it is; one process more has those without a place.
    fn ranges(&mut self, name: &str, places: &[Vec<Range<u32>>], always: &Range<u32>) {
        let system = self.system;
        let mut ends = Vec::new();
        let mut cases = String::new();
        for (process, places) in places.iter().enumerate().filter(|(_, p)| p.iter().any(|range| !range.is_empty())) {
            let control = self.writer().scalar(system.processes[process].control, "s");
            let _ = writeln!(cases, "  case {process}: place = {} + {}; break;", ends.len(), control.text);
            ends.extend(places.iter().cloned());
        }
        let _ = writeln!(cases, "  case {}: place = {}; break;", places.len(), ends.len());
        ends.push(always.clone());
        let text = |of: &dyn Fn(&Range<u32>) -> u32| {
            ends.iter().map(|range| of(range).to_string()).collect::<Vec<String>>().join(", ")
        };
        let (starts, ends) = (text(&|range| range.start), text(&|range| range.end));
        self.line(format!("TABLE int {name}_from[] = {{{starts}}};"));
        self.line(format!("TABLE int {name}_to[] = {{{ends}}};"));
        self.line(format!("DEVICE void {name}(int process, const State &s, int &from, int &to) {{"));
        self.line("  int place;\n  switch (process) {");
        self.out.push_str(&cases);
        self.line("  default: from = to = 0; return; }");
        self.line(format!("  from = {name}_from[place]; to = {name}_to[place];\n}}"));
    }

    fn groups(&mut self, numbering: &Numbering) {
        self.line("DEVICE void events_of(int number, const State &s, int &from, int &to) {\n  switch (number) {");
        for (number, group) in numbering.groups.iter().enumerate() {
            match group {
                Group::Process(process) => {
                    self.line(format!("  case {number}: places({process}, s, from, to); return;"))
                }
                Group::Always(range) => {
                    self.line(format!("  case {number}: from = {}; to = {}; return;", range.start, range.end))
                }
            }
        }
        self.line("  default: from = to = 0; return; }\n}");
        self.line(format!("#define PROCESSES {}", self.system.processes.len()));
    }

    /// The moves of a claim: whether each is enabled, and where it leads.
    fn claim(&mut self) {
        let system = self.system;
        let moves = system.claim.as_ref().map_or(&[][..], |claim| &claim.moves);
        self.line(format!("#define CLAIM {}\n#define CLAIM_MOVES {}", system.claim.is_some() as u32, moves.len()));
        let Some(claim) = &system.claim else { return };
        let control = system.processes[claim.process.index()].control;
        let mut entering = String::new();
        for (number, m) in moves.iter().enumerate() {
            let mut writer = self.writer();
            let place = writer.scalar(control, "s");
            writer.line(format!("if ({} != {}) return 0;", place.text, m.from));
            let guard = writer.term(&m.guard, "s");
            writer.line(format!("return ({}) != 0 ? HAPPENS : 0;", guard.text));
            let body = writer.finish();
            let mut writer = self.writer();
            let field = writer.field(control);
            if !(field.low..=field.high).contains(&(m.to as i64)) {
                writer.outgrown_if("true", control);
            }
            writer.write(control, None, &Term::constant(m.to as i64), "t");
            let enter = writer.finish();
            let _ = writeln!(entering, "  case {number}: {{\n{enter}  return 0; }}");
            self.line(format!("DEVICE int claim_{number}(const State &s) {{\n{body}}}"));
        }
        self.line("DEVICE int claim_moves(int number, const State &s) {\n  switch (number) {");
        (0..moves.len()).for_each(|number| self.line(format!("  case {number}: return claim_{number}(s);")));
        self.line("  }\n  return 0;\n}");
        self.line("DEVICE int claim_enters(int number, State &t) {\n  switch (number) {");
        self.out.push_str(&entering);
        self.line("  }\n  return 0;\n}");
    }

    /// A function for the value of a condition: 0, 1, or a fault.
    fn condition(&mut self, name: &str, condition: &Expr) {
        let mut writer = self.writer();
        let value = writer.term(condition, "s");
        writer.line(format!("return ({}) != 0 ? HAPPENS : 0;", value.text));
        let body = writer.finish();
        self.line(format!("DEVICE int {name}(const State &s) {{\n{body}}}"));
    }

    /// The function that says, bit by bit, which of the conditions are as they are looked for. A fault is not as demanded.
    fn judge(&mut self, wanted: &[(Expr, bool)]) {
        self.line("DEVICE u64 judge(const State &s) {\n  u64 found = 0;");
        for (number, (_, value)) in wanted.iter().enumerate() {
            let sign = if *value { "==" } else { "!=" };
            self.line(format!("  if (condition_{number}(s) {sign} HAPPENS) found |= 1ULL << {number};"));
        }
        self.line("  return found;\n}");
    }
}

/// The index comes first, then the value, then the check that it fits.
fn assign(system: &System, writer: &mut Writer, a: &Assign) {
    let variable = &system.variables[a.target.index()];
    writer.line("{");
    let index = a.index.as_ref().map(|index| {
        let index = writer.term(index, "t");
        writer.index(index, variable.cells())
    });
    let from = if a.moment == Moment::Source { "s" } else { "t" };
    let value = writer.term(&a.value, from);
    let mut value = writer.bound(value);
    let domain = variable.domain;
    if !value.within(domain.low, domain.high) {
        match domain.overflow {
            Overflow::Error => {
                let guessed = if system.guessed { " | TOO_SMALL" } else { "" };
                writer.fail_if(&outside(&value, domain.low, domain.high), Fault::Range, guessed);
                value = Term { low: value.low.max(domain.low), high: value.high.min(domain.high), ..value };
                // Where every value is outside, nothing comes after.
                value.high = value.high.max(value.low);
            }
            Overflow::Wrap => {
                let kind = match (domain.width(), domain.is_signed()) {
                    (1, false) => "u8",
                    (1, true) => "i8",
                    (2, false) => "u16",
                    (2, true) => "i16",
                    (4, false) => "u32",
                    (4, true) => "int",
                    _ => "i64",
                };
                let wide = domain.high > i32::MAX as i64;
                let outer = if wide { "i64" } else { "int" };
                value = match domain.width() {
                    0 => Term::constant(domain.low),
                    _ => {
                        let text = format!("({outer})({kind}){}", value.text);
                        writer.bound(Term { text: format!("({text})"), low: domain.low, high: domain.high })
                    }
                };
            }
        }
    }
    let field = writer.field(a.target);
    if !value.within(field.low, field.high) {
        writer.outgrown_if(&outside(&value, field.low, field.high), a.target);
    }
    writer.write(a.target, index.as_ref(), &value, "t");
    writer.line("}");
}

/// The condition that a value is not between these.
fn outside(value: &Term, low: i64, high: i64) -> String {
    let (below, above) = (value.low < low, value.high > high);
    let less = format!("{} < {}", value.text, Term::constant(low).text);
    let more = format!("{} > {}", value.text, Term::constant(high).text);
    match (below, above) {
        (true, true) => format!("{less} || {more}"),
        (true, false) => less,
        _ => more,
    }
}
