//! The `word_table` target for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chitin_fuzz::word_table::run(data));
