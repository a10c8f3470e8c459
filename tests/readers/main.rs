//! Every reader is given the files that it is for, damaged at random: it accepts or refuses them, within a moment.

mod damage;
mod feed;
mod seeds;

use damage::Damage;
use feed::{READERS, Reader};
use scrimp_system::Random;
use std::time::{Duration, Instant};

/// How long a reader may be tried, and how long a single text of a few thousand bytes may take it.
const TIME: Duration = Duration::from_secs(4);
const LONG: Duration = Duration::from_secs(5);

fn try_out(reader: &Reader, seed: u64) {
    let seeds = seeds::of(reader);
    for whole in &seeds {
        (reader.feed)(whole);
    }
    let (begun, mut random, mut tried) = (Instant::now(), Random(seed), 0);
    while begun.elapsed() < TIME {
        let text = Damage::new(&seeds, &mut random).text();
        let one = Instant::now();
        let fed = std::panic::catch_unwind(|| (reader.feed)(&text));
        if fed.is_err() || one.elapsed() > LONG {
            let path = std::env::temp_dir().join(format!("scrimp-finding.{}", reader.name));
            std::fs::write(&path, &text).expect("a finding can be kept");
            panic!("{}: {:?}, and the text is in {}", reader.name, one.elapsed(), path.display());
        }
        tried += 1;
    }
    println!("{}: {} seeds, {tried} texts", reader.name, seeds.len());
}

/// For a fuzzer: writes what the tests begin with into a folder for each reader, below the one that `SEEDS` names.
#[test]
#[ignore = "writes files"]
fn seeds_are_written() {
    let folder = std::env::var_os("SEEDS").expect("SEEDS names a folder");
    for reader in &READERS {
        let own = std::path::Path::new(&folder).join(reader.name);
        std::fs::create_dir_all(&own).expect("a folder can be made");
        for (number, seed) in seeds::of(reader).iter().enumerate() {
            std::fs::write(own.join(number.to_string()), seed).expect("a file can be written");
        }
    }
}

macro_rules! tests {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            let reader = READERS.iter().find(|reader| reader.name == stringify!($name)).expect("a reader");
            try_out(reader, 20_261_117);
        })*

        #[test]
        fn every_reader_has_a_test() {
            assert_eq!(READERS.map(|reader| reader.name), [$(stringify!($name)),*]);
        }
    };
}

tests!(dve, promela, pnml, aut, network, hoa, formulas, property, checkpoint, trace, suite);
