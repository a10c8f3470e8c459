//! The seeds of the fuzzer, run without it: `ok-*` must be accepted, `bad-*` refused, and nothing may panic.

use scrimp_lang::parse_dve;
use scrimp_system::Source;
use std::fs;
use std::path::Path;

#[test]
fn every_seed_is_accepted_or_refused_as_its_name_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/dve");
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        match parse_dve(Source::new(name.clone(), text)) {
            Ok(system) => {
                system.validate().unwrap_or_else(|e| panic!("{name}: {}", e.0));
                assert!(!name.starts_with("bad-"), "{name} was accepted");
            }
            Err(diagnostic) => assert!(!name.starts_with("ok-"), "{diagnostic}"),
        }
    }
}
