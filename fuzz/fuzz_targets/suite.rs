#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scrimp_fuzz::feed::tasks(bytes));
