//! Where a document draws its nodes, if it says so of every one of them.

use super::wrong::Wrong;
use super::xml::Xml;
use scrimp_net::Positions;
use std::io::BufRead;

/// Nets of more nodes are never drawn whole.
const MOST: usize = 2000;
/// Space between pages, which are put one below the other.
const APART: f32 = 80.0;
/// What is further away is a mistake.
const FARTHEST: f32 = 1e6;

/// The positions read so far.
#[derive(Debug, Default)]
pub(super) struct Placing {
    positions: Positions,
    /// Some node has none, or there are too many.
    given_up: bool,
    /// How far down the pages that are open begin.
    tops: Vec<f32>,
    /// How far down there is a node.
    lowest: Option<f32>,
}

impl Placing {
    /// A page begins: below all that was there before, since each has coordinates of its own.
    pub fn open_page(&mut self) {
        self.tops.push(self.lowest.map_or(0.0, |lowest| lowest + APART));
    }

    pub fn close_page(&mut self) {
        self.tops.pop();
    }

    pub fn place(&mut self, position: Option<[f32; 2]>) {
        let position = self.on_page(position);
        self.positions.places.extend(position);
    }

    pub fn transition(&mut self, position: Option<[f32; 2]>) {
        let position = self.on_page(position);
        self.positions.transitions.extend(position);
    }

    fn on_page(&mut self, position: Option<[f32; 2]>) -> Option<[f32; 2]> {
        let nodes = self.positions.places.len() + self.positions.transitions.len();
        if self.given_up || position.is_none() || nodes == MOST {
            (self.given_up, self.positions) = (true, Positions::default());
            return None;
        }
        let [x, y] = position?;
        let y = y + self.tops.last().copied().unwrap_or(0.0);
        self.lowest = Some(self.lowest.map_or(y, |lowest| lowest.max(y)));
        Some([x, y])
    }

    /// The positions, where every node has one.
    pub fn done(self) -> Option<Positions> {
        (!self.given_up).then_some(self.positions)
    }
}

/// The position in the `<graphics>` just entered.
pub(super) fn graphics<R: BufRead>(xml: &mut Xml<R>) -> Result<Option<[f32; 2]>, Wrong> {
    let depth = xml.depth();
    let mut found = None;
    while xml.child(depth)? {
        if xml.name() == "position" {
            found = attributes(xml, "x", "y").or(found);
        }
    }
    Ok(found)
}

/// The position that two attributes of the element just entered give.
pub(super) fn attributes<R: BufRead>(xml: &Xml<R>, x: &str, y: &str) -> Option<[f32; 2]> {
    let number = |name: &str| {
        let number: f32 = xml.attribute(name)?.trim().parse().ok()?;
        (number.abs() <= FARTHEST).then_some(number)
    };
    Some([number(x)?, number(y)?])
}
