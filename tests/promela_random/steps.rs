//! Bodies of `d_step`: they may wait at their first statement, never later, and they end.

use super::features::Feature;
use super::tree::{Form, Node};
use super::{Maker, Mode, Type};

impl Maker {
    pub(super) fn d_step(&mut self) -> Node {
        let mut nodes = Vec::new();
        self.body.no_remote = true;
        let channel = self.a_channel(|channel| channel.capacity.is_some_and(|n| n > 0));
        if let Some(channel) = channel.filter(|_| self.uses(Feature::DStepChannel, 40)) {
            let text = self.channel_text(&channel);
            // A second message would need room of its own: it is sent only where there is.
            let first = match self.chance(50) {
                true => self.send(&channel, &text),
                false => self.receive(&channel, &text, Mode::Atomic).into_iter().next(),
            };
            nodes.extend(first);
        } else if self.chance(40) {
            // A question to a channel, alone at the beginning of a d_step, makes SPIN write C that does not compile.
            nodes.push(Node::line(self.pure_condition()));
        }
        for _ in 0..1 + self.below(3) {
            nodes.extend(self.step(0));
        }
        // A loop at the end of a d_step can make SPIN jump to a place that it forgot.
        nodes.push(self.assignment());
        self.body.no_remote = false;
        self.note(Feature::DStep);
        Node::braces("d_step", nodes)
    }

    fn step(&mut self, depth: usize) -> Vec<Node> {
        if depth < 2 && self.uses(Feature::DStepChoice, 35) {
            let overlap = self.uses(Feature::DStepOverlap, 40);
            let condition = self.pure_condition();
            let mut parts = vec![vec![Node::line(condition)]];
            if overlap {
                let condition = self.pure_condition();
                parts.push(vec![Node::line(condition)]);
            }
            parts.push(vec![Node::line("else")]);
            for part in &mut parts {
                part.extend(self.step(depth + 1));
            }
            return vec![Node::block(Form::If, parts)];
        }
        if depth < 1 && self.uses(Feature::DStepLoop, 30) {
            return self.bounded_loop(|maker| maker.step(1));
        }
        vec![self.assignment()]
    }

    /// A loop that counts, in one of the ways to write one.
    pub(super) fn bounded_loop(&mut self, inside: impl FnOnce(&mut Maker) -> Vec<Node>) -> Vec<Node> {
        let counter = self.counter();
        let times = 1 + self.below(2);
        self.body.loops += 1;
        let mut part = inside(self);
        self.body.loops -= 1;
        let array = self.places().into_iter().find(|place| place.length > 1 && place.suffix.is_empty());
        // Only whole variables can be named after `in`.
        let array = array.filter(|place| !place.prefix.contains(['.', '[']));
        match self.below(3) {
            0 if self.on.has(Feature::For) => {
                self.note(Feature::For);
                vec![Node::braces(format!("for ({counter} : 1 .. {times})"), part)]
            }
            1 if self.on.has(Feature::For) && array.is_some() => {
                self.note(Feature::For);
                let name = array.map(|place| place.prefix).unwrap_or_default();
                vec![Node::braces(format!("for ({counter} in {name})"), part)]
            }
            _ => {
                let mut turn = vec![Node::line(format!("{counter} < {times}")), Node::line(format!("{counter}++"))];
                turn.append(&mut part);
                let end = vec![Node::line("else"), Node::line("break")];
                vec![Node::line(format!("{counter} = 0")), Node::block(Form::Do, vec![turn, end])]
            }
        }
    }

    /// A variable that nothing else writes.
    fn counter(&mut self) -> String {
        self.body.counters += 1;
        let name = format!("i{}", self.body.counters);
        self.body.declarations.push(Node::line(Type::Byte.declare(&name)));
        name
    }
}
