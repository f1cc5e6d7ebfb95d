//! Makes a word table, looks at one, or measures how fast it is.
//!
//! ```sh
//! cargo run --release -p chitin-memory --example word_vectors -- make vectors.txt words.table --words 100000 --dims 100
//! cargo run --release -p chitin-memory --example word_vectors -- show words.table
//! cargo run --release -p chitin-memory --example word_vectors -- near words.table "who fixes the tap" "The plumber comes." "Buy milk."
//! cargo run --release -p chitin-memory --example word_vectors -- time words.table notes.md
//! ```
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of its own, whose files are named by its user"
)]

use chitin_memory::embed::{TableOptions, WordEmbedder, WordTable, convert};
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::sync::Arc;
use std::time::Instant;

/// How much text is embedded to see how long it takes.
const MEASURED_BYTES: usize = 32 << 20;

/// About as long as a piece of a file in the index.
const PIECE_BYTES: usize = 1600;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["make", input, out, settings @ ..] => make(input, out, settings),
        ["show", table] => {
            show(&open(table)?);
            Ok(())
        }
        ["near", table, question, texts @ ..] => {
            near(&open(table)?, question, texts);
            Ok(())
        }
        ["time", table, text] => time(table, &fs::read_to_string(text)?),
        _ => Err(
            "make INPUT OUT [--words N] [--dims N] [--name NAME] [--origin FILE] | show TABLE | near TABLE QUESTION TEXT… | time TABLE TEXT"
                .into(),
        ),
    }
}

fn open(path: &str) -> Outcome<WordEmbedder> {
    Ok(WordEmbedder::new(Arc::new(WordTable::from_bytes(
        fs::read(path)?,
    )?)))
}

fn make(input: &str, out: &str, settings: &[&str]) -> Outcome {
    let mut options = TableOptions::default();
    for setting in settings.chunks(2) {
        match setting {
            ["--words", count] => options.max_words = count.parse()?,
            ["--dims", count] => options.dimensions = count.parse()?,
            ["--name", name] => options.name = String::from(*name),
            ["--origin", file] => options.origin = fs::read_to_string(file)?,
            _ => return Err(format!("`{}` is not understood", setting.join(" ")).into()),
        }
    }
    let input = BufReader::with_capacity(1 << 20, File::open(input)?);
    let mut writer = BufWriter::new(File::create(out)?);
    let made = convert(input, &options, &mut writer)?;
    println!(
        "{} words, {} numbers each, {} bytes.",
        made.words, made.dimensions, made.bytes
    );
    Ok(())
}

fn show(embedder: &WordEmbedder) {
    let table = embedder.table();
    println!(
        "{}: {} words, {} numbers each",
        table.name(),
        table.words(),
        table.dimensions()
    );
    println!("{}", table.origin());
}

fn near(embedder: &WordEmbedder, question: &str, texts: &[&str]) {
    let question = embedder.vector(question);
    for text in texts {
        let vector = embedder.vector(text);
        let near: f32 = question.iter().zip(&vector).map(|(a, b)| a * b).sum();
        println!("{near:.3} {text}");
    }
}

fn time(path: &str, text: &str) -> Outcome {
    let start = Instant::now();
    let embedder = open(path)?;
    println!("opened in {:.1?}", start.elapsed());
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES.max(4)));
        pieces.push(piece);
        rest = after;
    }
    let start = Instant::now();
    let mut bytes = 0;
    let mut known = 0;
    for piece in pieces.iter().cycle().take_while(|_| !pieces.is_empty()) {
        known += usize::from(embedder.vector(piece).iter().any(|number| *number != 0.0));
        bytes += piece.len();
        if bytes >= MEASURED_BYTES {
            break;
        }
    }
    let megabytes = f64::from(u32::try_from(bytes)?) / 1e6;
    println!(
        "{megabytes:.0} MB in {:.1?}: {:.1} MB/s, {known} pieces with a vector",
        start.elapsed(),
        megabytes / start.elapsed().as_secs_f64()
    );
    Ok(())
}
