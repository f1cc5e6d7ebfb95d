//! The runner for stable compilers, as a developer starts it.

use std::process::{Command, Output};

fn runner(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chitin-fuzz"))
        .args(arguments)
        .output()
        .expect("the runner starts")
}

#[test]
fn every_seed_of_every_target_holds() {
    let output = runner(&["--seconds", "0"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let passed = format!("{} passed, 0 failed", chitin_fuzz::TARGETS.len());
    assert_eq!(said.lines().last(), Some(&*passed));
}

#[test]
fn a_target_that_is_not_there_is_an_error_of_the_caller() {
    assert_eq!(runner(&["no-such-target"]).status.code(), Some(2));
}
