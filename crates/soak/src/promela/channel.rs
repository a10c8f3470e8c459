//! What is done with channels: sending, receiving, looking, asking.

use super::tree::Node;
use super::{Channel, Field, Here, Maker, Mode, Type};

impl Maker<'_> {
    pub(super) fn a_channel(&mut self, fits: impl Fn(&Channel) -> bool) -> Option<Channel> {
        let all: Vec<Channel> = self.channels.iter().chain(&self.body.channels).cloned().collect();
        self.pick_where(&all, fits)
    }

    pub(super) fn channel_text(&mut self, channel: &Channel) -> String {
        if channel.length == 1 {
            return channel.name.clone();
        }
        match self.a_number().filter(|_| self.chance(30)) {
            Some(variable) => format!("{}[{} & 1]", channel.name, self.fixed_text(&variable)),
            None => self.steady_text(channel),
        }
    }

    /// A channel to receive from: SPIN reads the index of an array again for each field, when the first may have changed
    /// the variable that it depends on.
    fn steady_text(&mut self, channel: &Channel) -> String {
        match channel.length {
            1 => channel.name.clone(),
            _ if self.on.pids && self.chance(30) => format!("{}[_pid & 1]", channel.name),
            length => format!("{}[{}]", channel.name, self.below(length)),
        }
    }

    /// A channel that outlives every process, for a message to carry.
    fn lasting_channel(&mut self, signature: usize) -> Option<String> {
        let all = self.channels.clone();
        let channel = self.pick_where(&all, |channel| channel.signature == signature && !channel.name.contains('.'))?;
        Some(self.channel_text(&channel))
    }

    /// The channel for a send or a receive here, if there is one that may be used.
    fn usable(&mut self, here: Here) -> Option<Channel> {
        let loops = self.body.loops;
        let rendezvous = match here.mode {
            Mode::Plain => true,
            Mode::Atomic => loops == 0,
            Mode::Step => false,
        };
        self.a_channel(|channel| rendezvous || channel.capacity.is_some_and(|n| n > 0))
    }

    /// A send, in a d_step one that does not wait.
    pub(super) fn sending(&mut self, here: Here, sorted: bool) -> Option<Vec<Node>> {
        let channel = self.usable(here).filter(|c| !sorted || c.capacity.is_some_and(|n| n > 0))?;
        let text = self.channel_text(&channel);
        let mark = self.written.mark();
        let Some(line) = self.send(&channel, &text, sorted) else {
            self.written.back_to(mark);
            return None;
        };
        Some(self.without_waiting(here, line, &format!("nfull({text})"), &format!("full({text})")))
    }

    /// A statement that waits for a condition; where it must not wait, in a choice that has another way.
    fn without_waiting(&mut self, here: Here, line: Node, ready: &str, not: &str) -> Vec<Node> {
        if here.mode != Mode::Step || here.may_wait || (self.on.risky && self.chance(30)) {
            return vec![line];
        }
        let parts = vec![vec![Node::line(ready), line], vec![Node::line(not)]];
        vec![Node::block(super::tree::Form::If, parts)]
    }

    pub(super) fn send(&mut self, channel: &Channel, text: &str, sorted: bool) -> Option<Node> {
        self.inside(if sorted { "sorted send" } else { "send" }, |maker| {
            let mut values = Vec::new();
            for field in maker.signatures[channel.signature].clone() {
                values.push(match field {
                    Field::Value(of) => maker.value(of),
                    Field::Channel(signature) => maker.lasting_channel(signature)?,
                    Field::Record => "whole".to_string(),
                });
            }
            let operator = if sorted { "!!" } else { "!" };
            Some(Node::line(match values.len() {
                2 if maker.chance(30) => format!("{text}{operator}{}({})", values[0], values[1]),
                _ => format!("{text}{operator}{}", values.join(",")),
            }))
        })
    }

    /// A receive of one of four kinds, possibly followed by the use of a channel that came in.
    pub(super) fn receiving(&mut self, here: Here, random: bool, look: bool) -> Option<Vec<Node>> {
        // At the beginning of a d_step, a look makes SPIN write C that does not compile.
        if look && here.mode == Mode::Step && here.may_wait {
            return None;
        }
        let buffered = random || look;
        let channel = self.usable(here).filter(|c| !buffered || c.capacity.is_some_and(|n| n > 0))?;
        let text = self.steady_text(&channel);
        // A message that does not come would block.
        let certain = here.mode == Mode::Step && !here.may_wait && !self.on.risky;
        let production = match (random, look) {
            (false, false) => "receive",
            (true, false) => "random receive",
            (false, true) => "peek",
            (true, true) => "random peek",
        };
        let mut came = None;
        let wanted = self.inside(production, |maker| {
            let mut wanted = Vec::new();
            for field in maker.signatures[channel.signature].clone() {
                wanted.push(match field {
                    Field::Value(of) => maker.wanted(of, true, &wanted, certain),
                    Field::Channel(_) if maker.chance(20) => maker.wildcard(),
                    Field::Channel(signature) => {
                        let name = maker.fresh("came");
                        maker.body.declarations.push(Node::line(format!("chan {name}")));
                        came = Some(Channel { name: name.clone(), length: 1, signature, capacity: None });
                        name
                    }
                    Field::Record => "whole".to_string(),
                });
            }
            match wanted.len() {
                2 if maker.chance(20) => format!("{}({})", wanted[0], wanted[1]),
                _ => wanted.join(","),
            }
        });
        let operator = if random { "??" } else { "?" };
        // Apart, or the preprocessor sees a trigraph.
        let line = if look { format!("{text}{operator} <{wanted}>") } else { format!("{text}{operator}{wanted}") };
        let mut nodes =
            self.without_waiting(here, Node::line(line), &format!("nempty({text})"), &format!("empty({text})"));
        let Some(channel) = came else { return Some(nodes) };
        if self.chance(60) && here.mode == Mode::Plain {
            let name = channel.name.clone();
            nodes.extend(self.send(&channel, &name, false));
        }
        Some(nodes)
    }

    fn wildcard(&mut self) -> String {
        self.written.leaf("wildcard");
        "_".to_string()
    }

    /// What a receive asks of one field. SPIN lets it name a variable once only; `certain`: whatever the message is.
    fn wanted(&mut self, of: Type, store: bool, before: &[String], certain: bool) -> String {
        if !certain && self.chance(25) {
            let production = if of.is_word() { "mtype constant" } else { "number" };
            if !of.is_word() && of != Type::Bool && self.chance(15) {
                self.written.leaf("negative constant");
                return "-1".to_string();
            }
            self.written.leaf(production);
            return match of {
                Type::Bool => self.below(2).to_string(),
                _ => self.constant(of),
            };
        }
        if self.chance(15) {
            return self.wildcard();
        }
        // A message that does not fit the variable is lost when SPIN undoes the receive.
        let variable = self.a_variable(|other| other.of.holds(of));
        let variable = variable.filter(|variable| !before.iter().any(|text| text.contains(variable.base())));
        match variable {
            Some(variable) if store && (certain || !self.chance(25)) => self.fixed(&variable),
            _ if certain => self.wildcard(),
            _ if of.is_word() => {
                self.written.leaf("mtype constant");
                self.constant(of)
            }
            _ => {
                let asks = std::mem::replace(&mut self.asks, false);
                self.in_eval = true;
                let expression = self.inside("eval", |maker| {
                    // Not what the same receive changes.
                    match before.iter().all(|text| text.parse::<i64>().is_ok()) {
                        true => maker.few_value(),
                        false => {
                            maker.written.leaf("number");
                            maker.below(2).to_string()
                        }
                    }
                });
                self.in_eval = false;
                self.asks = asks;
                format!("eval({expression})")
            }
        }
    }

    fn few_value(&mut self) -> String {
        self.given(Type::Byte)
    }

    /// Whether a receive could be done.
    pub(super) fn poll(&mut self, channel: &Channel, text: &str) -> String {
        let random = self.chance(40);
        self.inside(if random { "random poll" } else { "poll" }, |maker| {
            let mut wanted = Vec::new();
            for field in maker.signatures[channel.signature].clone() {
                wanted.push(match field {
                    Field::Value(of) => maker.wanted(of, false, &wanted, false),
                    Field::Channel(_) => maker.wildcard(),
                    Field::Record => format!("{},{}", maker.wildcard(), maker.wildcard()),
                });
            }
            let operator = if random { "??" } else { "?" };
            format!("{text}{operator}[{}]", wanted.join(","))
        })
    }
}
