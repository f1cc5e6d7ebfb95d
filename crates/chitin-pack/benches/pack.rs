//! What packing costs: ten thousand files, a hundred megabytes of text, against the `tar` crate and the same compressor over
//! the same files in the same run; packing again when nothing changed; and the memory that it takes.
//!
//! `cargo bench -p chitin-pack --bench pack` prints the figures; `-- --budgets` fails when one is over its budget.
#![expect(
    clippy::disallowed_methods,
    reason = "floors are raw calls, and projects are written by hand"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise and prints"
)]

use chitin_pack::build::{BuildOptions, Built, Reuse, build};
use chitin_pack::definition::Definition;
use chitin_pack::store::Store;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

const FILES: usize = 10_000;
const FILE_BYTES: usize = 10_486;

/// Packing, against an archive of the same files by others.
const PACK_BUDGET: f64 = 1.3;
/// How many times faster it is when nothing changed.
const AGAIN_BUDGET: f64 = 20.0;
/// The most memory that packing may take.
const MEMORY_BUDGET_KIB: u64 = 64 * 1024;

const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, project, store] = arguments.as_slice()
        && flag == "--once"
    {
        pack(Path::new(project), Path::new(store), Reuse::Nothing);
        println!("{}", peak());
        return ExitCode::SUCCESS;
    }
    // As a test it only has to work; the figures are those of `cargo bench`.
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let (files, rounds) = if is_bench { (FILES, ROUNDS) } else { (200, 1) };
    let over = measure(files, rounds);
    if over && arguments.iter().any(|argument| argument == "--budgets") {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn measure(files: usize, rounds: usize) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let project = directory.path().join("project");
    write_project(&project, files);
    let (mut floors, mut packs, mut agains) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let store = directory.path().join(format!("oci-{round}"));
        let archive = directory.path().join("floor.tar.gz");
        floors.push(time(|| floor(&project.join("knowledge"), &archive)));
        packs.push(time(|| {
            pack(&project, &store, Reuse::Unchanged);
        }));
        agains.push(time(|| {
            assert_eq!(pack(&project, &store, Reuse::Unchanged).reused, 1);
        }));
        fs::remove_dir_all(store).unwrap();
    }
    let [floor, pack, again] = [floors, packs, agains].map(median);
    let cost = pack.as_secs_f64() / floor.as_secs_f64();
    let gain = pack.as_secs_f64() / again.as_secs_f64();
    println!("pack / tar and gzip: {pack:?} / {floor:?} = {cost:.2} (budget {PACK_BUDGET})");
    println!("pack / pack again: {pack:?} / {again:?} = {gain:.1} (at least {AGAIN_BUDGET})");
    let child = Command::new(std::env::current_exe().unwrap())
        .arg("--once")
        .args([&project, &directory.path().join("oci")])
        .output()
        .unwrap();
    let peak: u64 = String::from_utf8_lossy(&child.stdout)
        .trim()
        .parse()
        .unwrap();
    println!("peak memory: {peak} KiB (budget {MEMORY_BUDGET_KIB})");
    cost > PACK_BUDGET || gain < AGAIN_BUDGET || peak > MEMORY_BUDGET_KIB
}

/// Notes of an agent: sentences of common and rare words, no two files alike.
fn write_project(project: &Path, files: usize) {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let words: Vec<String> = (0..4000)
        .map(|_| {
            let length = 2 + numbers.below(9);
            (0..length)
                .map(|_| char::from(b'a' + u8::try_from(numbers.below(26)).unwrap()))
                .collect()
        })
        .collect();
    for file in 0..files {
        let directory = project.join(format!("knowledge/{:02}", file / 100));
        fs::create_dir_all(&directory).unwrap();
        let mut text = format!("# Note {file}\n\n");
        while text.len() < FILE_BYTES {
            // A product of two numbers is small more often than not: some words come again and again.
            let at = numbers.below(words.len()) * numbers.below(words.len()) / words.len();
            text.push_str(&words[at]);
            text.push_str(match numbers.below(14) {
                0 => ".\n",
                1 => ", ",
                2 => ".\n\n- ",
                _ => " ",
            });
        }
        fs::write(directory.join(format!("note-{file:05}.md")), text).unwrap();
    }
    // What was written within the last tick of the clock is read again, as it should be.
    std::thread::sleep(Duration::from_millis(50));
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound
    }
}

fn pack(project: &Path, store: &Path, reuse: Reuse) -> Built {
    let definition = json!({
        "name": "bench", "version": "1.0.0", "description": "Many notes.",
        "adapter": { "use": "openclaw" }, "knowledge": "./knowledge",
    });
    let definition = Definition::parse(&definition).unwrap();
    let options = BuildOptions {
        reuse,
        ..BuildOptions::default()
    };
    build(
        project,
        &definition,
        &options,
        &Store::create(store).unwrap(),
    )
    .unwrap()
}

/// The same files, sorted, in an archive of the `tar` crate, compressed at the same level by the same compressor.
fn floor(directory: &Path, archive: &Path) {
    let gzip = GzEncoder::new(File::create(archive).unwrap(), Compression::new(6));
    let mut builder = tar::Builder::new(gzip);
    for path in sorted(directory) {
        let name = path.strip_prefix(directory).unwrap().to_path_buf();
        builder.append_path_with_name(&path, name).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap();
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(sorted(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

/// Returns the most memory that this process has had, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let figure = line.unwrap().trim().strip_suffix("kB").unwrap();
    figure.trim().parse().unwrap()
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}
