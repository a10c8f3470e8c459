//! Any text is either refused with a diagnostic that can be shown, or becomes a valid system.

#![no_main]

use libfuzzer_sys::fuzz_target;
use scrimp_system::Source;

fuzz_target!(|text: &str| {
    match scrimp_lang::parse_dve(Source::new("fuzz.dve", text)) {
        Ok(system) => system.validate().expect("a front end must produce valid systems"),
        Err(diagnostic) => drop(diagnostic.to_string()),
    }
});
