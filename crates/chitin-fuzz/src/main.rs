//! Runs the targets on a stable compiler: seeds first, then changed inputs for as long as is asked.
//!
//! `cargo run --profile fuzz -p chitin-fuzz -- [--seconds N] [--seed N] [--input FILE] [TARGET...]`
#![expect(
    clippy::disallowed_methods,
    reason = "seeds are read and findings are written by this program for its developers"
)]

use chitin_fuzz::mutate::{Numbers, mutate};
use chitin_fuzz::{TARGETS, Target, novelty, scratch};
use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Where seeds lie and findings go.
const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz");

/// An input that takes longer than this counts as a hang.
const HANG_SECONDS: u64 = 20;

/// Inputs are cut at this size.
const MAX_INPUT_BYTES: usize = 8192;

/// How many inputs are kept to be changed further.
const MAX_KEPT: usize = 4096;

struct Options {
    seconds: u64,
    seed: u64,
    input: Option<PathBuf>,
    targets: Vec<Target>,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    let failed = options
        .targets
        .iter()
        .filter(|target| match feed(target, &options) {
            Ok(()) => false,
            Err(artifact) => {
                println!(
                    "{}: failed, the input is in `{}`",
                    target.name,
                    artifact.display()
                );
                true
            }
        })
        .count();
    scratch::remove();
    println!("{} passed, {failed} failed", options.targets.len() - failed);
    ExitCode::from(u8::from(failed > 0))
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        seconds: 10,
        seed: 1,
        input: None,
        targets: Vec::new(),
    };
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or(format!("`{argument}` needs a value"))
        };
        let number = |text: String| {
            text.parse()
                .map_err(|_| format!("`{text}` is not a whole number"))
        };
        match argument.as_str() {
            "--seconds" => options.seconds = number(value()?)?,
            "--seed" => options.seed = number(value()?)?,
            "--input" => options.input = Some(value()?.into()),
            name => {
                let target = TARGETS.iter().find(|target| target.name == name);
                options.targets.push(*target.ok_or_else(|| unknown(name))?);
            }
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.to_vec();
    }
    Ok(options)
}

fn unknown(name: &str) -> String {
    let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    format!(
        "there is no target `{name}`; there are {}",
        known.join(", ")
    )
}

/// Feeds one target. Fails with the file that holds the input at which it failed.
fn feed(target: &Target, options: &Options) -> Result<(), PathBuf> {
    let mut run = Run::new(target);
    if let Some(input) = &options.input {
        let input = fs::read(input).map_err(|_| input.clone())?;
        return run.one(&input).map(|_| ());
    }
    let mut kept = seeds(target.name);
    let mut known = HashSet::new();
    for seed in &kept {
        known.insert(run.one(seed)?);
    }
    let seeds = kept.len();
    let mut numbers = Numbers::new(options.seed);
    let until = Instant::now() + Duration::from_secs(options.seconds);
    while Instant::now() < until {
        let mut input = kept
            .get(numbers.below(kept.len()))
            .cloned()
            .unwrap_or_default();
        mutate(
            &mut input,
            &mut numbers,
            &kept,
            target.dictionary,
            MAX_INPUT_BYTES,
        );
        if known.insert(run.one(&input)?) && kept.len() < MAX_KEPT {
            kept.push(input);
        }
    }
    println!(
        "{}: {} executions, {seeds} seeds, {} kinds of outcome, slowest {} ms",
        target.name,
        run.executions,
        known.len(),
        run.slowest.as_millis()
    );
    Ok(())
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(FILES).join("seeds").join(name);
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
        .iter()
        .filter_map(|file| fs::read(file).ok())
        .collect()
}

/// One target being fed.
struct Run {
    target: fn(&[u8]),
    directory: PathBuf,
    /// Holds the input under way, for the case that the whole process dies of it.
    in_flight: fs::File,
    in_flight_path: PathBuf,
    executions: u64,
    slowest: Duration,
}

/// When the input under way began, in seconds since the program started, plus one; zero when there is none.
static BEGAN: AtomicU64 = AtomicU64::new(0);

impl Run {
    fn new(target: &Target) -> Self {
        let directory = Path::new(FILES).join("artifacts").join(target.name);
        let in_flight_path = directory.join(format!("in-flight-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("the directory for artifacts can be written");
        let in_flight = fs::File::create(&in_flight_path).expect("artifacts can be written");
        watch(in_flight_path.clone());
        Self {
            target: target.run,
            directory,
            in_flight,
            in_flight_path,
            executions: 0,
            slowest: Duration::ZERO,
        }
    }

    /// Runs one input and returns what it led to.
    fn one(&mut self, input: &[u8]) -> Result<u64, PathBuf> {
        let _ = self.in_flight.set_len(0);
        let _ = self.in_flight.write_at(input, 0);
        let run = self.target;
        let began = Instant::now();
        BEGAN.store(seconds() + 1, Ordering::Relaxed);
        novelty::take();
        let result = catch_unwind(AssertUnwindSafe(|| run(input)));
        BEGAN.store(0, Ordering::Relaxed);
        self.executions += 1;
        self.slowest = self.slowest.max(began.elapsed());
        if result.is_ok() {
            return Ok(novelty::take());
        }
        let mut hasher = DefaultHasher::new();
        input.hash(&mut hasher);
        let artifact = self
            .directory
            .join(format!("crash-{:016x}", hasher.finish()));
        let _ = fs::write(&artifact, input);
        Err(artifact)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.in_flight_path);
    }
}

fn seconds() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs()
}

/// Ends the process when one input takes too long; the input stays behind.
fn watch(in_flight: PathBuf) {
    std::thread::spawn(move || {
        // The thread of an earlier target has nothing to say about a later one.
        while in_flight.exists() {
            std::thread::sleep(Duration::from_secs(1));
            let began = BEGAN.load(Ordering::Relaxed);
            if began > 0 && seconds() + 1 > began + HANG_SECONDS && in_flight.exists() {
                let kept = in_flight.with_file_name(format!("hang-{}", std::process::id()));
                let _ = fs::rename(&in_flight, &kept);
                println!(
                    "an input takes longer than {HANG_SECONDS} seconds: `{}`",
                    kept.display()
                );
                println!("0 passed, 1 failed");
                std::process::exit(1);
            }
        }
    });
}
