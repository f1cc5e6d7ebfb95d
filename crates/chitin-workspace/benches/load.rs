//! What loading costs: against the raw system calls on the same files, measured in the same run.
//!
//! `cargo bench -p chitin-workspace --bench load` prints divan's table; `-- --budgets` measures each pair in turns, prints
//! the ratios of docs/performance.md and fails when one is over.
#![expect(
    clippy::disallowed_methods,
    reason = "floors are raw calls, and files are edited between loads"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise and prints"
)]

use chitin_contract::CANONICAL;
use chitin_test::TestEnv;
use chitin_workspace::load::{LoadOptions, Loader, Loaders, load};
use divan::{Bencher, black_box};
use rustix::fs::{AtFlags, Mode, OFlags};
use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The eight names that the contract loads.
fn names() -> impl Iterator<Item = &'static str> {
    CANONICAL.loading.files.iter().map(|file| file.name)
}

/// Warm load against the same eight `fstatat` calls.
const WARM_BUDGET: f64 = 2.0;
/// Cold load against open, fstat, read and close of the same eight files.
const COLD_BUDGET: f64 = 1.5;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--budgets") {
        return budgets();
    }
    divan::main();
    ExitCode::SUCCESS
}

fn eight_files() -> TestEnv {
    let env = TestEnv::new();
    for name in names() {
        env.file(
            &format!("workspace/{name}"),
            "A line of a workspace file.\n".repeat(100),
        );
    }
    env
}

/// The floors hold what they need open, as the loader does.
struct Floor {
    directory: OwnedFd,
    names: Vec<CString>,
    buffer: Vec<u8>,
}

impl Floor {
    fn new(env: &TestEnv) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(env.workspace(), flags, Mode::empty()).unwrap();
        let names = names().map(|name| CString::new(name).unwrap()).collect();
        Self {
            directory,
            names,
            buffer: vec![0; 8192],
        }
    }

    fn fstatat(&self) -> u64 {
        let size = |name: &CString| {
            rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW)
                .unwrap()
                .st_size
                .cast_unsigned()
        };
        self.names.iter().map(size).sum()
    }

    fn open_read_close(&mut self) -> usize {
        let mut total = 0;
        for name in &self.names {
            let file = rustix::fs::openat(
                &self.directory,
                name,
                OFlags::RDONLY | OFlags::CLOEXEC,
                Mode::empty(),
            )
            .unwrap();
            total += usize::try_from(rustix::fs::fstat(&file).unwrap().st_size).unwrap();
            rustix::io::read(&file, &mut self.buffer).unwrap();
        }
        total
    }
}

#[divan::bench]
fn floor_eight_fstatat(bencher: Bencher<'_, '_>) {
    let env = eight_files();
    let floor = Floor::new(&env);
    bencher.bench_local(|| floor.fstatat());
}

#[divan::bench]
fn warm_nothing_changed(bencher: Bencher<'_, '_>) {
    let env = eight_files();
    let loader = Loader::new(env.workspace(), &CANONICAL, &LoadOptions::default());
    bencher.bench_local(|| loader.load().unwrap());
}

#[divan::bench]
fn floor_eight_open_read_close(bencher: Bencher<'_, '_>) {
    let env = eight_files();
    let mut floor = Floor::new(&env);
    bencher.bench_local(move || floor.open_read_close());
}

#[divan::bench]
fn cold(bencher: Bencher<'_, '_>) {
    let env = eight_files();
    let path = env.workspace();
    bencher.bench_local(|| load(&path, &CANONICAL, &LoadOptions::default()).unwrap());
}

#[divan::bench]
fn one_file_changed(bencher: Bencher<'_, '_>) {
    let env = eight_files();
    let loader = Loader::new(env.workspace(), &CANONICAL, &LoadOptions::default());
    let soul = env.workspace().join("SOUL.md");
    let mut n = 0_u64;
    bencher
        .with_inputs(|| {
            n += 1;
            fs::write(&soul, format!("edit {n}")).unwrap();
        })
        .bench_local_values(|()| loader.load().unwrap());
}

#[divan::bench(sample_count = 20)]
fn thousand_workspaces_in_turn(bencher: Bencher<'_, '_>) {
    let env = TestEnv::new();
    let mut paths = Vec::new();
    for n in 0..1000 {
        for name in names() {
            env.file(&format!("many/{n}/{name}"), "text");
        }
        paths.push(env.path().join(format!("many/{n}")));
    }
    let loaders = Loaders::new(LoadOptions::default(), 64 * 1024 * 1024);
    bencher.bench_local(|| {
        for path in &paths {
            black_box(loaders.load(path, &CANONICAL).unwrap());
        }
    });
}

const ROUNDS: usize = 1000;

/// Measures floor and subject in turns, so that noise hits both alike, and compares the medians.
fn ratio(mut floor: impl FnMut(), mut subject: impl FnMut()) -> (Duration, Duration, f64) {
    let (mut floors, mut subjects) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (samples, work) in [
            (&mut floors, &mut floor as &mut dyn FnMut()),
            (&mut subjects, &mut subject as &mut dyn FnMut()),
        ] {
            let start = Instant::now();
            for _ in 0..20 {
                work();
            }
            samples.push(start.elapsed() / 20);
        }
    }
    floors.sort();
    subjects.sort();
    let (floor, subject) = (floors[ROUNDS / 2], subjects[ROUNDS / 2]);
    (floor, subject, subject.as_secs_f64() / floor.as_secs_f64())
}

fn budgets() -> ExitCode {
    let env = eight_files();
    let path = env.workspace();
    let loader = Loader::new(&path, &CANONICAL, &LoadOptions::default());
    let stats = Floor::new(&env);
    let mut reads = Floor::new(&env);
    let warm = ratio(
        || {
            black_box(stats.fstatat());
        },
        || {
            black_box(loader.load().unwrap());
        },
    );
    let cold = ratio(
        || {
            black_box(reads.open_read_close());
        },
        || {
            black_box(load(&path, &CANONICAL, &LoadOptions::default()).unwrap());
        },
    );
    let rows = [
        ("warm load / 8 fstatat", WARM_BUDGET, warm),
        ("cold load / 8 open+fstat+read+close", COLD_BUDGET, cold),
    ];
    let mut over = false;
    for (name, budget, (floor, subject, ratio)) in rows {
        over |= ratio > budget;
        println!("{name}: {subject:?} / {floor:?} = {ratio:.2} (budget {budget})");
    }
    if over {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
