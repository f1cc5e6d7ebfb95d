//! The `mcp_message` target for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chitin_fuzz::mcp_message::run(data));
