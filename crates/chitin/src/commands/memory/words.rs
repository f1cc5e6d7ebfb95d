//! `chitin memory words`.

use crate::commands::size;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, grouped};
use chitin_guard::{ReadPolicy, Root};
use chitin_memory::embed::{ConvertError, Converted, TableOptions, convert};
use chitin_runtime::Host;
use chitin_runtime::memory::words_file;
use chitin_runtime::{chitin_home, shown};
use serde::Serialize;
use std::fmt;
use std::io::BufReader;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin memory words glove.6B.100d.txt
  chitin memory words cc.de.300.vec --name german --words 200000 --numbers 100

Published word vectors are lines of `word number number ...`, the most frequent word first, such as those of GloVe, word2vec\nand fastText, in many languages. An embeddings model of a provider finds more.")]
pub(super) struct WordsArgs {
    /// A file of published word vectors.
    file: PathBuf,

    /// The name of the table; by default the name of the file.
    #[arg(long)]
    name: Option<String>,

    /// How many words to keep, the most frequent first.
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    words: usize,

    /// The maximum number of dimensions.
    #[arg(long, default_value_t = 100, value_name = "COUNT")]
    numbers: usize,

    /// The output file; by default where Chitin looks for it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What was made.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    path: PathBuf,
    words: usize,
    numbers: usize,
    bytes: u64,
    #[serde(skip)]
    shown: String,
}

pub(super) fn run(args: &WordsArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let input = host.env.resolve(&args.file);
    let out = match &args.out {
        Some(out) => host.env.resolve(out),
        None => words_file(&chitin_home(host).ok_or_else(|| {
            CliError::new(
                FailureKind::User,
                "Could not determine where to store the table.",
            )
            .hint("name one with `--out FILE`, or set `CHITIN_HOME`")
        })?),
    };
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let options = TableOptions {
        name: args.name.clone().unwrap_or_else(|| stem.into_owned()),
        origin: format!("Made from `{}`.", args.file.display()),
        max_words: args.words,
        dimensions: args.numbers,
        ..TableOptions::default()
    };
    printer.note("reading word vectors; a large file takes a minute");
    let made = make(&input, &out, &options)?;
    printer.result(&Made {
        shown: shown(&out, host),
        path: out,
        words: made.words,
        numbers: made.dimensions,
        bytes: made.bytes,
    })
}

/// Makes the table: all of it, or nothing.
fn make(input: &Path, out: &Path, options: &TableOptions) -> Result<Converted, CliError> {
    let unreadable = |error: &dyn fmt::Display| {
        CliError::new(
            FailureKind::User,
            format!("`{}` cannot be read: {error}.", input.display()),
        )
    };
    let (directory, name) = (input.parent(), input.file_name());
    let (Some(directory), Some(name)) = (directory, name) else {
        return Err(unreadable(&"it is no file"));
    };
    let root = Root::open(directory).map_err(|error| unreadable(&error))?;
    let reader = root
        .open_reader(Path::new(name), &ReadPolicy::inside(u64::MAX))
        .map_err(|error| unreadable(&error))?;
    let mut table = Vec::new();
    let input = BufReader::with_capacity(1 << 20, reader);
    let converted = convert(input, options, &mut table).map_err(|error| match error {
        ConvertError::Io(error) => unreadable(&error),
        ConvertError::Options(_) => CliError::new(
            FailureKind::Usage,
            "These options do not make a valid table.",
        )
        .caused_by(error),
        ConvertError::Input { .. } => {
            CliError::new(FailureKind::User, "The file does not contain word vectors.")
                .caused_by(error)
        }
    })?;
    let unwritable = |error: &dyn fmt::Display| {
        CliError::new(
            FailureKind::User,
            format!("`{}` cannot be written: {error}.", out.display()),
        )
    };
    let (Some(directory), Some(name)) = (out.parent(), out.file_name()) else {
        return Err(unwritable(&"it is no file"));
    };
    let (place, _) = Root::create(directory).map_err(|error| unwritable(&error))?;
    place
        .replace(Path::new(name), &table)
        .map_err(|error| unwritable(&error))?;
    Ok(converted)
}

impl Render for Made {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(
            out,
            "{}: {} words of {} numbers, {}",
            paint.bold(&self.shown),
            grouped(self.words),
            self.numbers,
            size(self.bytes)
        )?;
        writeln!(out, "The next search also searches by meaning.")
    }
}
