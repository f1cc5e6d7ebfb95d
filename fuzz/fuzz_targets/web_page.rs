//! The `web_page` target for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chitin_fuzz::web_page::run(data));
