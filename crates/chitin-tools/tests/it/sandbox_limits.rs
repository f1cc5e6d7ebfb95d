//! How much of the machine a command may use, at each level.
#![cfg(target_os = "linux")]

use crate::sandbox_lab::{Lab, at_each_level, offered};
use chitin_protocol::settings::{CommandLimitSettings, SandboxSetting};
use chitin_tools::sandbox::{Cause, CommandLimits};
use std::time::{Duration, Instant};

fn labs(change: impl Fn(&mut CommandLimitSettings)) -> Vec<Lab> {
    let choices = offered().into_iter().map(|(_, choice)| choice);
    let all = choices.chain([SandboxSetting::None]);
    all.map(|choice| {
        let mut settings = CommandLimitSettings::default();
        change(&mut settings);
        Lab::with(choice, |config| {
            config.limits = CommandLimits::from_settings(&settings);
        })
    })
    .collect()
}

#[test]
fn a_storm_of_processes_ends_the_command() {
    for lab in labs(|limits| limits.processes = Some(60)) {
        let begun = Instant::now();
        // Bounded by itself, too: at most 400 processes, for at most 20 seconds.
        let (output, ending) =
            lab.run("i=0; while [ $i -lt 400 ]; do sleep 20 & i=$((i+1)); done; wait; echo all");
        assert!(begun.elapsed() < Duration::from_secs(15), "{output}");
        assert_ne!(
            (ending.cause, ending.code),
            (Cause::Exited, Some(0)),
            "{output}"
        );
        assert!(!output.contains("all\n"), "{output}");
        if ending.cause == Cause::Limited {
            assert!(ending.message.contains("60 processes"), "{ending:?}");
        }
        // The next one runs as ever.
        assert_eq!(lab.run("echo fine").0, "fine\n");
    }
}

#[test]
fn too_much_output_ends_the_command() {
    for lab in labs(|limits| limits.output_mb = Some(1)) {
        let (output, ending) = lab.run("yes | head -c 100000000; sleep 20; echo more");
        assert_eq!(ending.cause, Cause::Limited);
        assert!(ending.message.contains("1 MB"), "{ending:?}");
        assert!(output.len() < 2 << 20, "{}", output.len());
    }
}

#[test]
fn memory_processor_time_files_and_their_size_are_limited() {
    let lab = labs(|limits| {
        limits.memory_mb = Some(64);
        limits.cpu_seconds = Some(1);
        limits.open_files = Some(20);
        limits.disk_mb = Some(2);
    });
    for lab in lab {
        let (output, _) = lab.run("x=$(head -c 200000000 /dev/zero | tr '\\0' x) && echo got it");
        assert!(!output.contains("got it"), "{output}");
        let begun = Instant::now();
        let (output, _) = lab.run("(while :; do :; done); echo over");
        assert_eq!(output.lines().last(), Some("over"), "{output}");
        assert!(begun.elapsed() < Duration::from_secs(20));
        let (output, _) = lab.run("ulimit -n");
        assert_eq!(output, "20\n");
        let (_, _) = lab.run("head -c 5000000 /dev/zero > large");
        let (output, _) = lab.run("stat -c %s large");
        assert_eq!(output, "2097152\n");
    }
}

#[test]
fn temporary_files_are_limited_together() {
    let mut levels = labs(|limits| limits.disk_mb = Some(2));
    levels.truncate(1);
    for lab in levels {
        let (output, ending) = lab.run(
            "for i in 1 2 3 4 5; do head -c 1000000 /dev/zero > $TMPDIR/$i; done; sleep 30; echo all",
        );
        assert_eq!(ending.cause, Cause::Limited, "{output}");
        assert!(ending.message.contains("temporary files"), "{ending:?}");
    }
}

#[test]
fn what_is_in_force_is_reported_as_it_is() {
    at_each_level(|lab| {
        let report = lab.sandbox.reach().unwrap();
        assert_eq!(report.limits, CommandLimits::default());
    });
    for lab in labs(|limits| limits.open_files = Some(u32::MAX)) {
        let report = lab.sandbox.reach().unwrap();
        let (output, _) = lab.run("ulimit -n");
        let held = report.limits.open_files.map(|most| most.to_string());
        if report.level != chitin_tools::sandbox::SandboxLevel::None {
            assert_eq!(held.as_deref(), Some(output.trim()));
            assert_eq!(report.limits.memory_bytes, Some(8192 << 20));
        }
    }
    let none = CommandLimits::from_settings(&CommandLimitSettings {
        processes: Some(0),
        memory_mb: Some(0),
        total_memory_mb: Some(0),
        cpu_seconds: Some(0),
        open_files: Some(0),
        disk_mb: Some(0),
        output_mb: Some(0),
    });
    assert_eq!(none, CommandLimits::default());
    assert_eq!(none.describe(), "no limits");
    assert!(
        CommandLimits::usual()
            .describe()
            .starts_with("2048 processes")
    );
}
