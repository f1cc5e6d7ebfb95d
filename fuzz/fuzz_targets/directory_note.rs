//! The `directory_note` target for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chitin_fuzz::directory_note::run(data));
