//! A net on a sheet of paper: where nodes and arcs are, as its author drew them or laid out in layers.

use scrimp_draw::{Drawing, Size, layered};
use scrimp_net::{Net, PlaceId, Transition, TransitionId};
use std::collections::HashMap;

/// The radius of a place, and the length and thickness of a transition.
pub const RADIUS: f64 = 16.0;
pub const LENGTH: f64 = 28.0;
pub const THICKNESS: f64 = 9.0;

/// Space around everything.
const MARGIN: f64 = 24.0;
/// Space for a name beside its node: for each character, and at most.
const CHARACTER: f64 = 6.5;
const NAME: f64 = 110.0;
/// How far apart nodes should be, how close an author may have drawn them, and how large a sheet may become by that.
const APART: f64 = 72.0;
const CLOSEST: f64 = 8.0;
const LARGEST: f64 = 8000.0;
/// The shape of the panel in which nets are drawn: its height by its width.
const TALLER: f64 = 1.4;

/// A net, or a part of one, with places for its nodes.
#[derive(Debug, Default)]
pub struct NetDrawing {
    pub width: f64,
    pub height: f64,
    pub places: Vec<(PlaceId, (f64, f64))>,
    /// With whether it stands upright.
    pub transitions: Vec<(TransitionId, (f64, f64), bool)>,
    pub arcs: Vec<Drawn>,
}

/// An arc with its line.
#[derive(Debug)]
pub struct Drawn {
    pub place: PlaceId,
    pub transition: TransitionId,
    pub kind: Kind,
    pub weight: u64,
    pub points: Vec<(f64, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Input,
    Output,
    Inhibitor,
    Reset,
}

impl Kind {
    /// The line leads from the transition to the place.
    pub fn is_out(self) -> bool {
        matches!(self, Kind::Output | Kind::Reset)
    }
}

impl NetDrawing {
    /// The whole net: as its author drew it, if that is readable.
    pub fn whole(net: &Net) -> NetDrawing {
        let places: Vec<PlaceId> = (0..net.places.len() as u32).collect();
        let transitions: Vec<TransitionId> = (0..net.transitions.len() as u32).collect();
        NetDrawing::as_drawn(net).unwrap_or_else(|| NetDrawing::part(net, &places, &transitions))
    }

    /// Some nodes of a net, with all arcs between them, in layers.
    pub fn part(net: &Net, places: &[PlaceId], transitions: &[TransitionId]) -> NetDrawing {
        let number: HashMap<PlaceId, usize> = places.iter().enumerate().map(|(i, &place)| (place, i)).collect();
        let arcs: Vec<Drawn> = transitions
            .iter()
            .flat_map(|&t| arcs_of(t, &net.transitions[t as usize]))
            .filter(|arc| number.contains_key(&arc.place))
            .collect();
        let beside = |name: &str| (name.chars().count() as f64 * CHARACTER).min(NAME);
        let size = |name: &str, left: f64, height: f64| Size { left, right: left + 4.0 + beside(name), height };
        let mut sizes: Vec<Size> =
            places.iter().map(|&place| size(&net.places[place as usize].name, RADIUS, RADIUS * 2.0)).collect();
        let bar = |&t: &TransitionId| size(&net.transitions[t as usize].name, LENGTH / 2.0, THICKNESS);
        sizes.extend(transitions.iter().map(bar));
        let bars: HashMap<TransitionId, usize> =
            transitions.iter().enumerate().map(|(i, &t)| (t, places.len() + i)).collect();
        let ends = |arc: &Drawn| match arc.kind.is_out() {
            true => (bars[&arc.transition], number[&arc.place]),
            false => (number[&arc.place], bars[&arc.transition]),
        };
        let edges: Vec<(usize, usize)> = arcs.iter().map(ends).collect();
        let marked: Vec<usize> = (0..places.len()).filter(|&i| net.places[places[i] as usize].initial > 0).collect();
        // All that is marked on top, or one of them: whichever can be drawn larger.
        let [all, one] = [&marked[..], &marked[..marked.len().min(1)]].map(|first| layered(&sizes, &edges, first));
        let extent = |drawing: &Drawing| drawing.width.max(drawing.height / TALLER);
        let drawing = if extent(&one) < extent(&all) { one } else { all };
        let shift = |(x, y): (f64, f64)| (x + MARGIN, y + MARGIN);
        let mut sheet = NetDrawing {
            width: drawing.width + 2.0 * MARGIN,
            height: drawing.height + 2.0 * MARGIN,
            places: places.iter().zip(&drawing.places).map(|(&place, &at)| (place, shift(at))).collect(),
            transitions: Vec::with_capacity(transitions.len()),
            arcs,
        };
        let bars = transitions.iter().zip(&drawing.places[places.len()..]);
        sheet.transitions.extend(bars.map(|(&t, &at)| (t, shift(at), false)));
        for (arc, line) in sheet.arcs.iter_mut().zip(drawing.lines) {
            arc.points = line.into_iter().map(shift).collect();
            let (_, centre) = sheet.places[number[&arc.place]];
            let end = if arc.kind.is_out() { arc.points.last_mut() } else { arc.points.first_mut() };
            if let Some(end) = end {
                *end = onto_circle(*end, centre);
            }
        }
        sheet
    }

    /// The positions of the text, scaled so that nodes do not touch. `None` where there are none, or they are too close.
    fn as_drawn(net: &Net) -> Option<NetDrawing> {
        let positions = net.positions.as_ref()?;
        let point = |&[x, y]: &[f32; 2]| (x as f64, y as f64);
        let all: Vec<(f64, f64)> = positions.places.iter().chain(&positions.transitions).map(point).collect();
        if all.len() != net.places.len() + net.transitions.len() || all.is_empty() {
            return None;
        }
        let mut closest = f64::INFINITY;
        for (i, a) in all.iter().enumerate() {
            for b in &all[..i] {
                closest = closest.min((a.0 - b.0).hypot(a.1 - b.1));
            }
        }
        let scale = if all.len() > 1 { APART / closest } else { 1.0 };
        let extent = |of: fn(&(f64, f64)) -> f64| {
            let (low, high) = all.iter().map(of).fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
            (low, (high - low) * scale)
        };
        let ((left, width), (top, height)) = (extent(|p| p.0), extent(|p| p.1));
        if closest < CLOSEST || width > LARGEST || height > LARGEST {
            return None;
        }
        let border = MARGIN + LENGTH / 2.0;
        let at = |(x, y): (f64, f64)| ((x - left) * scale + border, (y - top) * scale + border);
        let places: Vec<(f64, f64)> = positions.places.iter().map(|p| at(point(p))).collect();
        let bars: Vec<(f64, f64)> = positions.transitions.iter().map(|p| at(point(p))).collect();
        let upright = |t: usize| {
            let (mut across, mut down) = (0.0, 0.0);
            for arc in arcs_of(t as u32, &net.transitions[t]) {
                let place = places[arc.place as usize];
                across += (place.0 - bars[t].0).abs();
                down += (place.1 - bars[t].1).abs();
            }
            across >= down
        };
        let upright: Vec<bool> = (0..bars.len()).map(upright).collect();
        let mut sheet = NetDrawing {
            // The name of the rightmost node is beside it.
            width: width + 2.0 * border + NAME / 2.0,
            height: height + 2.0 * border,
            places: places.iter().enumerate().map(|(i, &at)| (i as u32, at)).collect(),
            transitions: (0..bars.len()).map(|t| (t as u32, bars[t], upright[t])).collect(),
            arcs: Vec::new(),
        };
        for (t, transition) in net.transitions.iter().enumerate() {
            let mut arcs: Vec<Drawn> = arcs_of(t as u32, transition).collect();
            let several: Vec<usize> =
                arcs.iter().map(|arc| arcs.iter().filter(|other| other.place == arc.place).count()).collect();
            for (i, arc) in arcs.iter_mut().enumerate() {
                // Arcs between the same nodes beside each other: to the right as they go.
                let aside = if several[i] > 1 { 5.0 } else { 0.0 };
                let (place, bar) = (places[arc.place as usize], bars[t]);
                arc.points = match arc.kind.is_out() {
                    true => straight(bar, place, aside),
                    false => straight(place, bar, aside),
                };
                let last = arc.points.len() - 1;
                let (at_place, at_bar) = if arc.kind.is_out() { (last, 0) } else { (0, last) };
                let (from_place, from_bar) = (arc.points[at_bar], arc.points[at_place]);
                arc.points[at_place] = at_circle(from_place, aside, arc.points[at_place]);
                arc.points[at_bar] = at_box(bar, upright[t], from_bar, arc.points[at_bar]);
            }
            sheet.arcs.extend(arcs);
        }
        Some(sheet)
    }
}

/// The arcs of a transition, without lines yet.
pub fn arcs_of(number: TransitionId, transition: &Transition) -> impl Iterator<Item = Drawn> + '_ {
    let drawn = move |place: PlaceId, weight: u64, kind: Kind| {
        let points = Vec::new();
        Drawn { place, transition: number, kind, weight, points }
    };
    let with = move |arcs: &'_ [scrimp_net::Arc], kind: Kind| -> Vec<Drawn> {
        arcs.iter().map(|arc| drawn(arc.place, arc.weight, kind)).collect()
    };
    let resets = transition.resets.iter().map(move |&place| drawn(place, 1, Kind::Reset));
    with(&transition.inputs, Kind::Input)
        .into_iter()
        .chain(with(&transition.outputs, Kind::Output))
        .chain(with(&transition.inhibitors, Kind::Inhibitor))
        .chain(resets)
}

/// The end of a line that goes straight up or down at a place: on the circle.
fn onto_circle((x, y): (f64, f64), (cx, cy): (f64, f64)) -> (f64, f64) {
    let aside = (x - cx).clamp(-RADIUS, RADIUS);
    let reach = (RADIUS * RADIUS - aside * aside).sqrt();
    (x, if y < cy { cy - reach } else { cy + reach })
}

/// From centre to centre, so far aside.
fn straight(from: (f64, f64), to: (f64, f64), aside: f64) -> Vec<(f64, f64)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    let (ox, oy) = (-dy / length * aside, dx / length * aside);
    vec![(from.0 + ox, from.1 + oy), (to.0 + ox, to.1 + oy)]
}

/// Where a line to the inside of a circle meets it, coming from there.
fn at_circle(from: (f64, f64), aside: f64, end: (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (from.0 - end.0, from.1 - end.1);
    let length = dx.hypot(dy).max(1.0);
    let reach = (RADIUS * RADIUS - aside * aside).max(0.0).sqrt();
    (end.0 + dx / length * reach, end.1 + dy / length * reach)
}

/// Where a line to the inside of a transition's bar meets its border.
fn at_box(centre: (f64, f64), upright: bool, from: (f64, f64), end: (f64, f64)) -> (f64, f64) {
    let (w, h) = if upright { (THICKNESS / 2.0, LENGTH / 2.0) } else { (LENGTH / 2.0, THICKNESS / 2.0) };
    let (dx, dy) = (from.0 - end.0, from.1 - end.1);
    // How far along the way each side is; the nearest that lies ahead counts.
    let side = |way: f64, at: f64, middle: f64, half: f64| match way {
        way if way > 1e-9 => (middle + half - at) / way,
        way if way < -1e-9 => (middle - half - at) / way,
        _ => f64::INFINITY,
    };
    let share = side(dx, end.0, centre.0, w).min(side(dy, end.1, centre.1, h)).clamp(0.0, 1.0);
    (end.0 + dx * share, end.1 + dy * share)
}
