//! The `server_connection` target for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chitin_fuzz::server_connection::run(data));
