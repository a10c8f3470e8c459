//! What is done with channels: sending, receiving, looking, asking.

use super::features::Feature;
use super::tree::Node;
use super::{Channel, Field, Maker, Mode, Place, Type};

impl Maker {
    pub(super) fn a_channel(&mut self, fits: impl Fn(&Channel) -> bool) -> Option<Channel> {
        let all = self.channels.iter().chain(&self.body.channels);
        let fitting: Vec<Channel> = all.filter(|channel| fits(channel)).cloned().collect();
        if fitting.is_empty() { None } else { Some(self.pick(&fitting)) }
    }

    pub(super) fn channel_text(&mut self, channel: &Channel) -> String {
        let place = self.a_place(|of| of != Type::Mtype).filter(|_| self.chance(30));
        self.channel_at(channel, place)
    }

    /// A channel to receive from: SPIN reads the index of an array again for each field, when the first may have changed
    /// the variable that it depends on.
    fn channel_to_receive_from(&mut self, channel: &Channel) -> String {
        self.channel_at(channel, None)
    }

    fn channel_at(&mut self, channel: &Channel, place: Option<Place>) -> String {
        if channel.length == 1 {
            return channel.name.clone();
        }
        match place {
            Some(place) => format!("{}[{} & 1]", channel.name, self.fixed(&place)),
            None if self.uses(Feature::Pid, 30) => format!("{}[_pid & 1]", channel.name),
            None => format!("{}[{}]", channel.name, self.below(channel.length)),
        }
    }

    /// A channel that outlives every process, for a message to carry.
    pub(super) fn lasting_channel(&mut self, signature: usize) -> Option<String> {
        let fitting: Vec<Channel> = self.channels.iter().filter(|c| c.signature == signature).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let channel = self.pick(&fitting);
        Some(self.channel_text(&channel))
    }

    /// Input or output, possibly followed by the use of a channel that came in.
    pub(super) fn communication(&mut self, mode: Mode, first: bool) -> Option<Vec<Node>> {
        let blocking = mode == Mode::Plain || first || self.uses(Feature::BlockingAtomic, 100);
        if !blocking {
            return None;
        }
        let rendezvous = match mode {
            Mode::Plain => !self.body.inside_unless || self.on.has(Feature::UnlessInput),
            Mode::Atomic => self.body.loops == 0 && self.on.has(Feature::RendezvousInAtomic),
        };
        let channel = self.a_channel(|channel| rendezvous || channel.capacity.is_some_and(|n| n > 0))?;
        if channel.capacity.is_none_or(|n| n == 0) {
            match mode {
                Mode::Atomic => self.note(Feature::RendezvousInAtomic),
                Mode::Plain if self.body.inside_unless => self.note(Feature::UnlessInput),
                Mode::Plain => {}
            }
        }
        // Processes take sides, so that most messages meet someone who wants them.
        let sends = (self.body.number + channel.signature + channel.length).is_multiple_of(2) != self.chance(20);
        if sends {
            let text = self.channel_text(&channel);
            self.send(&channel, &text).map(|line| vec![line])
        } else {
            let text = self.channel_to_receive_from(&channel);
            Some(self.receive(&channel, &text, mode))
        }
    }

    pub(super) fn send(&mut self, channel: &Channel, text: &str) -> Option<Node> {
        let mut values = Vec::new();
        for field in self.signatures[channel.signature].clone() {
            values.push(match field {
                Field::Value(of) => self.value(of),
                Field::Channel(signature) => self.lasting_channel(signature)?,
            });
        }
        let sorted = channel.capacity.is_some_and(|n| n > 0) && self.uses(Feature::SortedSend, 40);
        let operator = if sorted { "!!" } else { "!" };
        Some(Node::line(match values.len() {
            2 if self.chance(30) => format!("{text}{operator}{}({})", values[0], values[1]),
            _ => format!("{text}{operator}{}", values.join(",")),
        }))
    }

    pub(super) fn receive(&mut self, channel: &Channel, text: &str, mode: Mode) -> Vec<Node> {
        let fields = self.signatures[channel.signature].clone();
        let (mut wanted, mut came) = (Vec::new(), None);
        for field in fields {
            wanted.push(match field {
                Field::Value(of) => self.wanted(of, true, &wanted),
                Field::Channel(_) if self.uses(Feature::Underscore, 20) => "_".to_string(),
                Field::Channel(signature) => {
                    let name = self.fresh("came");
                    self.body.declarations.push(Node::line(format!("chan {name}")));
                    self.note(Feature::ChannelsInMessages);
                    came = Some(Channel { name: name.clone(), length: 1, signature, capacity: None });
                    name
                }
            });
        }
        let buffered = channel.capacity.is_some_and(|n| n > 0);
        let operator = if buffered && self.uses(Feature::RandomReceive, 35) { "??" } else { "?" };
        let wanted = wanted.join(",");
        // At the beginning of a d_step, a look makes SPIN write C that does not compile.
        let looks = buffered && !self.body.no_remote && self.uses(Feature::Peek, 25);
        let line = match looks {
            // Apart, or the preprocessor sees a trigraph.
            true => format!("{text}{operator} <{wanted}>"),
            false => format!("{text}{operator}{wanted}"),
        };
        let mut nodes = vec![Node::line(line)];
        let Some(channel) = came else { return nodes };
        if self.chance(70) && mode == Mode::Plain {
            let name = channel.name.clone();
            // A channel of the plain signature holds no channels, so this ends.
            if self.chance(50) {
                nodes.extend(self.send(&channel, &name));
            } else {
                nodes.extend(self.receive(&channel, &name, mode));
            }
        }
        nodes
    }

    /// What a receive asks of one field. SPIN lets it name a variable once only.
    fn wanted(&mut self, of: Type, store: bool, before: &[String]) -> String {
        if self.uses(Feature::ConstantInReceive, 25) {
            return match of {
                Type::Bool => self.below(2).to_string(),
                _ => self.constant(of),
            };
        }
        if self.uses(Feature::Underscore, 15) {
            return "_".to_string();
        }
        // A message that does not fit the variable is lost when SPIN undoes the receive.
        let place = self.a_place(|other| other.holds(of));
        let place = place.filter(|place| !before.iter().any(|text| text.contains(place.base())));
        match place {
            Some(place) if store && !self.uses(Feature::Eval, 20) => self.fixed(&place),
            Some(place) if self.on.has(Feature::Eval) => {
                self.note(Feature::Eval);
                format!("eval({})", self.fixed(&place))
            }
            _ if of == Type::Bool => "1".to_string(),
            _ => self.constant(of),
        }
    }

    /// Whether a receive could be done.
    pub(super) fn poll(&mut self, channel: &Channel, text: &str) -> String {
        let fields = self.signatures[channel.signature].clone();
        let mut wanted = Vec::new();
        for field in fields {
            wanted.push(match field {
                Field::Value(of) => self.wanted(of, false, &wanted),
                Field::Channel(_) => "_".to_string(),
            });
        }
        let operator = if self.uses(Feature::RandomReceive, 35) { "??" } else { "?" };
        format!("{text}{operator}[{}]", wanted.join(","))
    }
}
