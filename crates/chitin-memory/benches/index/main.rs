//! What an index costs: filling it against SQLite's own bulk insert of the same text, a sync after one edit, and searches among
//! 100,000 pieces.
//!
//! `cargo bench -p chitin-memory --bench index` prints divan's table; `-- --budgets` measures, prints figures and fails when one is
//! over its budget.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench stops at the first surprise and prints"
)]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of a bench are small"
)]

mod notes;

use chitin_contract::{MemoryIndexRules, MemoryRules};
use chitin_guard::Fingerprint;
use chitin_memory::embed::{self, Embedder, WordEmbedder, WordTable};
use chitin_memory::index::{FileText, Index, JobFile, NewPiece, Shape, SyncJob, SyncReport};
use chitin_memory::search::{self, ChunkSource, SearchRequest};
use chitin_memory::vector::{Compact, Scan, VectorIndex};
use divan::{Bencher, black_box};
use notes::{Language, Random};
use rusqlite::Connection;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Filling an index against SQLite's own bulk insert of the same text.
const FILL_BUDGET: f64 = 2.0;
/// A whole search among 100,000 pieces, in milliseconds: the median, and the slowest of a hundred.
const SEARCH_BUDGET: (f64, f64) = (10.0, 40.0);
/// The nearest of 100,000 vectors of 256 numbers, in milliseconds.
const NEAR_BUDGET: f64 = 10.0;
/// The most memory of a process that fills an index with 100,000 pieces and searches it, in MiB.
const MEMORY_BUDGET: f64 = 100.0;

/// How many pieces a note has.
const PARAGRAPHS: usize = 20;
const MANY: u64 = 100_000 / PARAGRAPHS as u64;
const SOME: u64 = 20_000 / PARAGRAPHS as u64;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, path, ..] = arguments.as_slice()
        && flag == "--fill"
    {
        return fill_and_search(Path::new(path));
    }
    if arguments.iter().any(|argument| argument == "--budgets") {
        return budgets();
    }
    divan::main();
    ExitCode::SUCCESS
}

fn by_lines(_: &str, text: &str, take: &mut dyn FnMut(NewPiece<'_>)) {
    for (number, line) in (1..).zip(text.lines()) {
        take(NewPiece {
            start_line: number,
            end_line: number,
            text: line,
            heading: None,
        });
    }
}

fn path_of(number: u64) -> String {
    let (year, month, day) = (2000 + number / 336, number / 28 % 12 + 1, number % 28 + 1);
    format!("memory/{year}-{month:02}-{day:02}.md")
}

/// Gives notes.
trait Texts {
    fn note(&self, number: u64) -> Cow<'_, [u8]>;
}

/// Makes them when they are asked for, so that they take no memory.
impl Texts for Language {
    fn note(&self, number: u64) -> Cow<'_, [u8]> {
        Cow::Owned(self.paragraphs(number, PARAGRAPHS).into_bytes())
    }
}

/// Has them all, so that they take no time.
impl Texts for Vec<String> {
    fn note(&self, number: u64) -> Cow<'_, [u8]> {
        Cow::Borrowed(self[number as usize].as_bytes())
    }
}

fn made(count: u64) -> Vec<String> {
    let language = Language::new();
    (0..count)
        .map(|number| language.paragraphs(number, PARAGRAPHS))
        .collect()
}

/// All notes, the edited one with a time of its own.
fn files(texts: &dyn Texts, count: u64, edited: Option<u64>) -> Vec<JobFile<'_>> {
    let file = |number| {
        let is_edited = edited == Some(number);
        JobFile {
            source: ChunkSource::Memory,
            path: path_of(number),
            fingerprint: Fingerprint {
                ino: number + 1,
                mtime: (1_700_000_000 + i64::from(is_edited), 0),
                ..Fingerprint::default()
            },
            read: Box::new(move || {
                let mut bytes = texts.note(number);
                if is_edited {
                    bytes.to_mut().extend(b"One more line.\n");
                }
                Ok(FileText { bytes, lines: None })
            }),
        }
    };
    (0..count).map(file).collect()
}

fn fill(
    texts: &dyn Texts,
    path: &Path,
    count: u64,
    edited: Option<u64>,
    embedder: Option<&dyn Embedder>,
) -> (Index, SyncReport) {
    let shape = Shape::new(MemoryIndexRules::CANONICAL);
    let shape = match embedder {
        Some(embedder) => shape.embedded_by(embedder),
        None => shape,
    };
    let mut index = Index::open(path, &shape).unwrap().index;
    let report = index.sync(&SyncJob {
        embedder,
        ..SyncJob::new(
            files(texts, count, edited),
            &[ChunkSource::Memory],
            &by_lines,
        )
    });
    assert_eq!(report.notes, []);
    (index, report)
}

/// The same pieces, each a row of a table of words, in one change.
fn bulk_insert(texts: &[String], path: &Path) {
    let mut db = Connection::open(path).unwrap();
    db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
        .unwrap();
    db.execute_batch("PRAGMA synchronous = normal; CREATE VIRTUAL TABLE words USING fts5 (text)")
        .unwrap();
    let change = db.transaction().unwrap();
    {
        let mut insert = change
            .prepare("INSERT INTO words (text) VALUES (?)")
            .unwrap();
        for line in texts.iter().flat_map(|text| text.lines()) {
            insert.execute([line]).unwrap();
        }
    }
    change.commit().unwrap();
}

/// Questions as they might be: two to seven words, as often frequent as in the notes.
fn questions(language: &Language, count: u64) -> Vec<String> {
    let question = |number| {
        let mut random = Random::new(1_000_000 + number);
        let words = 2 + random.next() % 6;
        let words: Vec<&str> = (0..words).map(|_| language.word(&mut random)).collect();
        words.join(" ")
    };
    (0..count).map(question).collect()
}

/// A table of all words of the language, each with a direction of its own.
fn word_table(language: &Language) -> WordEmbedder {
    let mut lines = String::new();
    let mut random = Random::new(11);
    for word in language.words() {
        lines.push_str(word);
        for _ in 0..100 {
            let _ = write!(lines, " {:.2}", random.part() - 0.5);
        }
        lines.push('\n');
    }
    let mut table = Vec::new();
    embed::convert(
        lines.as_bytes(),
        &embed::TableOptions::default(),
        &mut table,
    )
    .unwrap();
    WordEmbedder::new(Arc::new(WordTable::from_bytes(table).unwrap()))
}

/// All of a search: as `memory_search` does it.
fn ask(index: &Index, embedder: Option<&dyn Embedder>, question: &str) -> usize {
    let ask = SearchRequest {
        query: question,
        now_ms: 1_700_000_000_000,
        ..SearchRequest::default()
    };
    let answer = search::search(index, embedder, &ask, &MemoryRules::CANONICAL);
    answer.unwrap().hits.len()
}

/// Returns the median and the slowest of a hundred questions, in milliseconds, each asked once.
fn times(index: &Index, embedder: Option<&dyn Embedder>, questions: &[String]) -> (f64, f64) {
    let mut times: Vec<f64> = questions
        .iter()
        .map(|question| milliseconds(time(|| ask(index, embedder, question))))
        .collect();
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

fn best<T>(rounds: usize, mut work: impl FnMut() -> T) -> f64 {
    (0..rounds).fold(f64::INFINITY, |best, _| {
        best.min(milliseconds(time(&mut work)))
    })
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let begin = Instant::now();
    black_box(work());
    begin.elapsed()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn vectors(count: u64, dimensions: usize, room: usize) -> (Scan, Compact) {
    let mut scan = Scan::with_room(room);
    let mut random = Random::new(3);
    let mut vector = || {
        let numbers: Vec<f32> = (0..dimensions)
            .map(|_| random.part() as f32 - 0.5)
            .collect();
        Compact::new(&numbers).unwrap()
    };
    for id in 0..count {
        scan.put(id.cast_signed(), 0, &vector());
    }
    (scan, vector())
}

fn nearest((scan, query): &(Scan, Compact)) -> usize {
    scan.nearest(query, 200, &|_| true, &mut |_| None).len()
}

#[divan::bench(args = [100, 256])]
fn nearest_of_100_000(bencher: Bencher<'_, '_>, dimensions: usize) {
    let vectors = vectors(100_000, dimensions, Scan::MAX_BYTES);
    bencher.bench_local(|| nearest(&vectors));
}

#[divan::bench(args = [1536])]
fn most_promising_of_100_000(bencher: Bencher<'_, '_>, dimensions: usize) {
    let vectors = vectors(100_000, dimensions, 0);
    bencher.bench_local(|| nearest(&vectors));
}

#[divan::bench]
fn floor_bulk_insert_of_2_000(bencher: Bencher<'_, '_>) {
    let texts = made(100);
    bencher
        .with_inputs(|| tempfile::tempdir().unwrap())
        .bench_local_refs(|place| bulk_insert(&texts, &place.path().join("floor")));
}

#[divan::bench]
fn fill_with_2_000(bencher: Bencher<'_, '_>) {
    let texts = made(100);
    bencher
        .with_inputs(|| tempfile::tempdir().unwrap())
        .bench_local_refs(|place| fill(&texts, &place.path().join("index"), 100, None, None));
}

/// What the other process measures.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Measured {
    pieces: usize,
    seconds: f64,
    bytes: u64,
    first: (f64, f64),
    warm: (f64, f64),
    hybrid: (f64, f64),
    edit: f64,
    opened: u32,
    peak: f64,
}

/// What the other process does: fills an index, searches it, and prints how long that took and how much memory.
fn fill_and_search(path: &Path) -> ExitCode {
    let language = Language::new();
    let embedder = word_table(&language);
    let embedder: Option<&dyn Embedder> = Some(&embedder);
    let (index, report) = fill(&language, path, MANY, None, embedder);
    let asked = questions(&language, 400);
    let (first, warm) = (times(&index, None, &asked), times(&index, None, &asked));
    times(&index, embedder, &asked);
    let hybrid = times(&index, embedder, &asked);
    let bytes = index.figures().unwrap().bytes;
    drop(index);
    let begin = Instant::now();
    let (_, again) = fill(&language, path, MANY, Some(17), embedder);
    let measured = Measured {
        pieces: report.pieces,
        seconds: report.seconds,
        bytes,
        first,
        warm,
        hybrid,
        edit: milliseconds(begin.elapsed()),
        opened: again.read as u32,
        peak: peak_memory(),
    };
    println!("{}", serde_json::to_string(&measured).unwrap());
    ExitCode::SUCCESS
}

/// The most memory that this process had, in MiB; 0 where that is not told.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.map_or(0.0, |number| number.parse::<f64>().unwrap() / 1024.0)
}

/// Floor and subject in milliseconds, the median of five rounds.
fn fill_ratio() -> (f64, f64) {
    let texts = made(SOME);
    let place = tempfile::tempdir().unwrap();
    let mut pairs: Vec<(f64, f64)> = (0..5)
        .map(|round| {
            let path = |name| place.path().join(format!("{name}{round}"));
            let floor = time(|| bulk_insert(&texts, &path("floor")));
            let ours = time(|| fill(&texts, &path("index"), SOME, None, None));
            (milliseconds(floor), milliseconds(ours))
        })
        .collect();
    pairs.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    pairs[2]
}

fn budgets() -> ExitCode {
    let (floor, ours) = fill_ratio();
    println!("20,000 pieces: bulk insert {floor:.0} ms, an index {ours:.0} ms");
    let place = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .arg("--fill")
        .arg(place.path().join("index"))
        .output()
        .unwrap();
    let measured: Measured = serde_json::from_slice(&output.stdout).unwrap();
    println!("100,000 pieces: {measured:?}");
    let vectors = vectors(100_000, 256, Scan::MAX_BYTES);
    let near = best(21, || nearest(&vectors));
    let rows = [
        (
            "fill an index / bulk insert of the same text",
            ours / floor,
            FILL_BUDGET,
        ),
        (
            "search by words among 100,000 pieces, median, ms",
            measured.warm.0,
            SEARCH_BUDGET.0,
        ),
        (
            "search by words among 100,000 pieces, slowest of 100, ms",
            measured.warm.1,
            SEARCH_BUDGET.1,
        ),
        (
            "search by words and vectors, median, ms",
            measured.hybrid.0,
            SEARCH_BUDGET.0,
        ),
        (
            "search by words and vectors, slowest of 100, ms",
            measured.hybrid.1,
            SEARCH_BUDGET.1,
        ),
        (
            "files opened after one edit",
            f64::from(measured.opened),
            1.0,
        ),
        ("nearest of 100,000 vectors of 256, ms", near, NEAR_BUDGET),
        (
            "most memory with 100,000 pieces and their vectors, MiB",
            measured.peak,
            MEMORY_BUDGET,
        ),
    ];
    let mut over = false;
    for (name, figure, budget) in rows {
        over |= figure > budget;
        let verdict = if figure > budget { "OVER" } else { "ok" };
        println!("{name}: {figure:.2} (budget {budget}) {verdict}");
    }
    ExitCode::from(u8::from(over))
}
