//! The sandbox helper as a program of its own. It does nothing useful when started by hand.

use std::process::ExitCode;

fn main() -> ExitCode {
    chitin_tools::sandbox::helper(std::env::args_os())
}
