//! `chitin config`: what the configuration says, where each value comes from, and what is wrong with it.

use crate::error::{CliError, Kind};
use crate::exit_code::Exit;
use crate::host::Host;
use crate::printer::{Paint, Printer, Render};
use crate::setup::{self, Configuration};
use chitin_workspace::config::{self, ConfigFile, Explanation, Issue, Layer, Layers, Severity};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};

/// How much of a source line is shown around the place that is meant.
const SHOWN_COLUMNS: usize = 100;

/// Show the configuration, say where a value comes from, or check the files.
///
/// Later layers win: built in, openclaw.json, chitin.json5, environment, flags. openclaw.json is read and never written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin config
  chitin config explain agents.defaults.bootstrapMaxChars
  chitin config validate
  chitin config validate ./openclaw.json --contract openclaw-2026.9
  chitin config show --json")]
pub(crate) struct Args {
    /// The contract whose rules the files are read by.
    #[arg(long, value_name = "NAME", global = true)]
    contract: Option<String>,

    #[command(subcommand)]
    action: Option<Action>,
}

/// What to do with the configuration.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print every value with the layer that it comes from (the default).
    Show,
    /// Say which value holds at a path, where it was said, and what it overrides.
    #[command(after_help = "Examples:
  chitin config explain contract
  chitin config explain links --json")]
    Explain {
        /// The path of the value, dotted.
        path: String,
    },
    /// Check a configuration file: syntax, includes, variables and keys.
    #[command(after_help = "Examples:
  chitin config validate
  chitin config validate ~/.openclaw/openclaw.json --json

Ends with exit code 4 when the file is not valid.")]
    Validate {
        /// The file to check; left out, the one that is in use.
        file: Option<PathBuf>,
    },
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match &self.action {
            None | Some(Action::Show) => printer.result(&self.show(host, printer)?),
            Some(Action::Explain { path }) => printer.result(&self.explain(host, printer, path)?),
            Some(Action::Validate { file }) => {
                printer.result(&self.validate(host, file.as_deref())?)
            }
        }
    }

    fn show(&self, host: &Host, printer: &Printer) -> Result<Shown, CliError> {
        let layers = self.layers(host, printer)?;
        let values = layers.all().into_iter().map(redacted).collect();
        Ok(Shown { values })
    }

    fn explain(&self, host: &Host, printer: &Printer, path: &str) -> Result<Explained, CliError> {
        let layers = self.layers(host, printer)?;
        let explanation = layers.explain(path).ok_or_else(|| {
            let error = CliError::new(Kind::User, format!("Nothing is said about `{path}`."));
            match layers.nearest(path) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("`chitin config show` lists everything that is said"),
            }
        })?;
        Ok(Explained(redacted(explanation)))
    }

    fn layers(&self, host: &Host, printer: &Printer) -> Result<Layers, CliError> {
        Ok(Configuration::read(host, self.contract.as_deref(), printer)?.layers)
    }

    fn validate(&self, host: &Host, file: Option<&Path>) -> Result<Validated, CliError> {
        let own = setup::own_config(host)?;
        let contract = setup::chosen_contract(host, self.contract.as_deref(), own.as_ref())?;
        let path = match file {
            Some(file) => host.env.working_directory().join(file),
            None => setup::config_file(host, contract)?,
        };
        let (present, issues, files) = match config::load(&path, &host.env, contract.config) {
            Ok(Some(loaded)) => {
                let issues = loaded
                    .issues
                    .iter()
                    .map(|issue| Marked::in_files(issue, &loaded.files))
                    .collect();
                (true, issues, loaded.files)
            }
            Ok(None) if file.is_some() => {
                let message = format!("`{}` does not exist.", path.display());
                return Err(CliError::new(Kind::User, message));
            }
            Ok(None) => (false, Vec::new(), Vec::new()),
            Err(error) => (
                true,
                vec![Marked::new(
                    error.issue(),
                    error.source.source_line.as_deref(),
                )],
                Vec::new(),
            ),
        };
        let valid = issues
            .iter()
            .all(|marked: &Marked| marked.issue.severity != Severity::Error);
        Ok(Validated {
            file: path,
            contract: contract.name,
            present,
            valid,
            issues,
            files,
        })
    }
}

/// Hides what may be a secret: values below telling names, and every variable.
fn redacted(mut explanation: Explanation) -> Explanation {
    let path = explanation.path.clone();
    redact(&path, &mut explanation.value);
    for overridden in &mut explanation.overridden {
        redact(&path, &mut overridden.value);
    }
    explanation
}

fn redact(path: &str, value: &mut Value) {
    let secret = path.starts_with("env.")
        || path.split('.').any(|step| {
            let step = step.to_lowercase();
            [
                "token",
                "secret",
                "password",
                "apikey",
                "privatekey",
                "headers",
            ]
            .iter()
            .any(|word| step.ends_with(word))
        });
    match value {
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                redact(&format!("{path}.{key}"), field);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact(path, item)),
        Value::String(text) if secret => "[redacted]".clone_into(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Every value that some layer says.
#[derive(Debug, Serialize)]
struct Shown {
    values: Vec<Explanation>,
}

impl Render for Shown {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for value in &self.values {
            writeln!(
                out,
                "{} = {}  {}",
                paint.bold(&value.path),
                value.value,
                paint.dim(value.layer.as_str())
            )?;
        }
        Ok(())
    }
}

/// One value and its story.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Explained(Explanation);

impl Render for Explained {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let explanation = &self.0;
        writeln!(
            out,
            "{} = {}",
            paint.bold(&explanation.path),
            explanation.value
        )?;
        let source = source(
            explanation.layer,
            explanation.name.as_deref(),
            explanation.file.as_deref(),
            explanation.line,
        );
        writeln!(out, "    from {source}")?;
        for lower in &explanation.overridden {
            let source = self::source(lower.layer, None, lower.file.as_deref(), lower.line);
            let text = format!("    overrides {} from {source}", lower.value);
            writeln!(out, "{}", paint.dim(&text))?;
        }
        Ok(())
    }
}

fn source(layer: Layer, name: Option<&str>, file: Option<&Path>, line: Option<usize>) -> String {
    match (name, file, line) {
        (Some(name), _, _) => format!("{} `{name}`", layer.as_str()),
        (None, Some(file), Some(line)) => {
            format!("{} ({}:{line})", layer.as_str(), file.display())
        }
        (None, _, _) => layer.as_str().to_owned(),
    }
}

/// What checking a file came to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Validated {
    file: PathBuf,
    contract: &'static str,
    present: bool,
    valid: bool,
    issues: Vec<Marked>,
    files: Vec<ConfigFile>,
}

/// A finding with the line that it is about.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Marked {
    #[serde(flatten)]
    issue: Issue,
    source_line: Option<String>,
    /// Where in that line the caret goes.
    #[serde(skip)]
    caret: usize,
}

impl Marked {
    fn new(issue: Issue, line: Option<&str>) -> Self {
        let column = issue.column.unwrap_or(1);
        let (source_line, caret) = match line.filter(|line| column <= line.chars().count() + 1) {
            Some(line) => {
                let (shown, caret) = window(line, column);
                (Some(shown), caret)
            }
            None => (None, 0),
        };
        Self {
            issue,
            source_line,
            caret,
        }
    }

    fn in_files(issue: &Issue, files: &[ConfigFile]) -> Self {
        let line = files
            .iter()
            .find(|file| Some(&file.path) == issue.file.as_ref())
            .and_then(|file| file.line(issue.line?));
        Self::new(issue.clone(), line)
    }
}

impl Render for Validated {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for marked in &self.issues {
            marked.text(out, paint)?;
        }
        let file = self.file.display();
        if !self.present {
            return writeln!(out, "There is no `{file}`; nothing to check.");
        }
        let verdict = if self.valid {
            paint.good("valid")
        } else {
            paint.bad("not valid")
        };
        writeln!(out, "`{file}` is {verdict} for {}.", self.contract)
    }

    fn exit(&self) -> Exit {
        if self.valid {
            Exit::Success
        } else {
            Exit::Config
        }
    }
}

impl Marked {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let issue = &self.issue;
        let word = match issue.severity {
            Severity::Error => paint.bad("error:"),
            Severity::Warning => paint.warn("warning:"),
        };
        let path = match issue.path.as_str() {
            "" => String::new(),
            path => format!("`{path}`: "),
        };
        writeln!(out, "{word} {path}{}", issue.message)?;
        if let Some(file) = &issue.file {
            write!(out, "  --> {}", file.display())?;
            if let (Some(line), Some(column)) = (issue.line, issue.column) {
                write!(out, ":{line}:{column}")?;
            }
            writeln!(out)?;
        }
        if let (Some(shown), Some(line)) = (&self.source_line, issue.line) {
            let number = line.to_string();
            let margin = " ".repeat(number.len());
            writeln!(out, " {margin} |\n {number} | {shown}")?;
            writeln!(
                out,
                " {margin} | {}{}",
                " ".repeat(self.caret),
                paint.bad("^")
            )?;
        }
        if let Some(hint) = &issue.hint {
            writeln!(out, "  {} {hint}", paint.good("hint:"))?;
        }
        writeln!(out)
    }
}

/// Cuts a long line around a column and says where in the cut the column is.
fn window(line: &str, column: usize) -> (String, usize) {
    let at = column.saturating_sub(1);
    let start = if at < SHOWN_COLUMNS {
        0
    } else {
        at - SHOWN_COLUMNS / 2
    };
    // A tab would move the caret; one space stands for it.
    let shown = line
        .chars()
        .skip(start)
        .take(SHOWN_COLUMNS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    (shown, at - start)
}
