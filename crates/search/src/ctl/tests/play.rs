//! The game: who is right can win, whatever the other one does, and who is told the best choices wins with them.

use super::reference::{Graph, random_formula};
use super::{options, with_task};
use crate::ctl::{Game, Side, Turn, examine};
use crate::plan::StoreChoice;
use scrimp_system::Random;

/// Longer games are broken off: one player wanders about.
const MOST: usize = 400;

/// Plays a game to its end: the side that is right by the engine's advice, the other one by chance, or by advice too.
fn play(mut game: Game, right: Side, advised: bool, random: &mut Random) -> Option<Side> {
    for _ in 0..MOST {
        assert_eq!(game.should_win(), Some(right), "a good choice was a mistake");
        let (side, choices) = match game.turn().unwrap() {
            Turn::Won(side, _) => return Some(side),
            Turn::Of(side, choices) => (side, choices),
        };
        let (best, wins) = game.best(side, &choices).unwrap();
        assert_eq!(wins, side == right);
        let chosen = if side == right || advised { best } else { random.below(choices.len()) };
        // What the other side can do never helps it.
        assert_eq!(game.after(&choices[chosen]), Some(right));
        game.play(&choices[chosen]);
    }
    None
}

#[test]
fn who_is_right_wins() {
    let mut random = Random(16);
    let (mut won, mut broken_off) = (0, 0);
    for round in 0..1500 {
        let graph = Graph::random(1 + random.below(12), &mut random);
        let formula = random_formula(1 + random.below(4), &mut random);
        let user = if round % 2 == 0 { Side::Prove } else { Side::Refute };
        with_task(&graph, &formula, &[], &options(StoreChoice::Table), |task| {
            let act = &mut |inquiry: crate::ctl::Inquiry| {
                let right = if inquiry.verdict { Side::Prove } else { Side::Refute };
                let game = Game::new(task, inquiry, user).unwrap();
                match play(game, right, round % 3 == 0, &mut random) {
                    Some(winner) => {
                        assert_eq!(winner, right, "{formula}");
                        won += 1;
                    }
                    None => {
                        assert_ne!(user, right, "{formula}: only a user may wander about");
                        broken_off += 1;
                    }
                }
            };
            examine(task, act).unwrap();
        });
    }
    assert!(won > 1300 && broken_off < 100, "{won} won, {broken_off} broken off");
}

#[test]
fn choices_can_be_taken_back() {
    let graph = Graph { initial: vec![0], lists: vec![vec![1, 2], vec![0], vec![2]], letters: vec![0, 0, 1] };
    let formula = scrimp_temporal::Formula::ExistsPath(
        scrimp_temporal::Formula::Finally(scrimp_temporal::Formula::Atom(0).into()).into(),
    );
    with_task(&graph, &formula, &[], &options(StoreChoice::Table), |task| {
        let act = &mut |inquiry: crate::ctl::Inquiry| {
            let mut game = Game::new(task, inquiry, Side::Prove).unwrap();
            let Some(Turn::Of(Side::Prove, choices)) = game.turn() else { panic!("stop or go on") };
            assert_eq!(choices[0].text, "stop here: p0 holds");
            assert_eq!(game.best(Side::Prove, &choices), Some((1, true)));
            assert_eq!(game.after(&choices[0]), Some(Side::Refute));
            game.play(&choices[0]);
            let Some(Turn::Won(Side::Refute, reason)) = game.turn() else { panic!("lost") };
            assert_eq!(reason, "p0 does not hold here");
            assert_eq!(game.made(), 1);
            game.undo(0);
            assert_eq!(game.should_win(), Some(Side::Prove));
            game.play(&choices[1]);
            let Some(Turn::Of(Side::Prove, steps)) = game.turn() else { panic!("a step") };
            assert_eq!(game.best(Side::Prove, &steps), Some((1, true)));
        };
        examine(task, act).unwrap();
    });
}
