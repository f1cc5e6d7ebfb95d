//! What a turn costs that can be taken back: a look at an unchanged tree against the `stat` of all of it, and against what a
//! turn changed.
//!
//! `cargo bench -p chitin-undo --bench undo` prints divan's table; `-- --budgets` measures in turns, prints the figures of
//! docs/performance.md and fails when one is over.
#![expect(
    clippy::disallowed_methods,
    reason = "the floor is a raw call for each file"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise and prints"
)]

use chitin_undo::{History, Options, TurnInfo};
use divan::{Bencher, black_box};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A look at an unchanged tree against the `stat` of every file in it.
const LOOK_BUDGET: f64 = 2.0;
/// How many files the tree of the budget has.
const FILES: usize = 10_000;
/// How many of each are measured; the middle one counts.
const ROUNDS: usize = 41;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--budgets") {
        return budgets();
    }
    divan::main();
    ExitCode::SUCCESS
}

struct Stage {
    directory: TempDir,
    paths: Vec<PathBuf>,
}

impl Stage {
    /// Files of a few kilobytes, fifty in a directory, three directories deep.
    fn new(files: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut paths = Vec::new();
        for number in 0..files {
            let place = format!("workspace/area-{}/part-{}", number / 1_000, number / 50);
            let place = directory.path().join(place);
            fs::create_dir_all(&place).unwrap();
            let path = place.join(format!("file-{number}.txt"));
            fs::write(
                &path,
                format!("line of file {number}\n").repeat(number % 100),
            )
            .unwrap();
            paths.push(path);
        }
        // Files that were just written would be read again.
        std::thread::sleep(Duration::from_millis(100));
        Self { directory, paths }
    }

    fn workspace(&self) -> PathBuf {
        self.directory.path().join("workspace")
    }

    fn history(&self) -> History {
        let store = self.directory.path().join("store");
        History::new(store, &self.workspace(), Options::default())
    }

    fn stat_all(&self) {
        for path in &self.paths {
            black_box(fs::symlink_metadata(path).unwrap());
        }
    }

    /// A turn that writes to one file.
    fn turn(&self, round: usize) {
        let history = self.history();
        history.checkpoint(0).unwrap();
        let info = TurnInfo::new("run", "agent:main:main", "write");
        let turn = history.begin(info, 0).unwrap();
        fs::write(&self.paths[0], format!("round {round}\n")).unwrap();
        history.end(turn, 0).unwrap();
    }
}

fn median(mut work: impl FnMut(usize)) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            let began = Instant::now();
            work(round);
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn budgets() -> ExitCode {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let mut is_over = false;
    for files in [20, 1_000, FILES] {
        let stage = Stage::new(files);
        let history = stage.history();
        let began = Instant::now();
        history.checkpoint(0).unwrap();
        let first = began.elapsed();
        history.checkpoint(0).unwrap();
        let (mut stats, mut looks) = (Vec::new(), Vec::new());
        // In turns, so that both have the same machine.
        for _ in 0..ROUNDS {
            let began = Instant::now();
            stage.stat_all();
            stats.push(began.elapsed());
            let began = Instant::now();
            let changed = history.checkpoint(0).unwrap().changed;
            looks.push(began.elapsed());
            assert_eq!(changed, 0);
        }
        stats.sort_unstable();
        looks.sort_unstable();
        let (stat, look) = (stats[ROUNDS / 2], looks[ROUNDS / 2]);
        let turn = median(|round| stage.turn(round));
        let ratio = look.as_secs_f64() / stat.as_secs_f64();
        let budget = (files == FILES).then_some(LOOK_BUDGET);
        is_over |= budget.is_some_and(|budget| ratio > budget);
        println!(
            "{files} files: first {:.1} ms, stat of all {:.2} ms, look {:.2} ms ({ratio:.2} times{}), turn that writes {:.2} ms, store {} KB",
            ms(first),
            ms(stat),
            ms(look),
            budget.map_or_else(String::new, |budget| format!(", budget {budget}")),
            ms(turn),
            size(&stage.directory.path().join("store")) / 1024,
        );
    }
    if is_over {
        println!("over budget");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn size(directory: &Path) -> u64 {
    let mut bytes = 0;
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let stat = entry.metadata().unwrap();
            if stat.is_dir() {
                left.push(entry.path());
            } else {
                bytes += stat.len();
            }
        }
    }
    bytes
}

#[divan::bench(args = [20, 1_000])]
fn look(bencher: Bencher<'_, '_>, files: usize) {
    let stage = Stage::new(files);
    let history = stage.history();
    history.checkpoint(0).unwrap();
    bencher.bench_local(|| history.checkpoint(0).unwrap());
}

#[divan::bench(args = [20, 1_000])]
fn turn(bencher: Bencher<'_, '_>, files: usize) {
    let stage = Stage::new(files);
    let mut round = 0;
    bencher.bench_local(|| {
        round += 1;
        stage.turn(round);
    });
}
