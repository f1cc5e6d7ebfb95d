//! `chitin config`: what the configuration says, where each value comes from, and what is wrong with it.

mod marked;
mod networks;
mod validate;

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_config::secrets::{is_secret_name, is_secret_path, looks_random};
use chitin_config::{ConfigLayer, Layers, ValueExplanation};
use chitin_runtime::Configuration;
use chitin_runtime::Host;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};

/// Show and validate the configuration, or explain where a value comes from.
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
    /// The contract to use for the files.
    #[arg(long, value_name = "NAME", global = true)]
    contract: Option<String>,

    #[command(subcommand)]
    action: Option<Action>,
}

/// What to do with the configuration.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print every value with the layer that it comes from (default).
    Show,
    /// Show the value at a path, where it is set, and what it overrides.
    #[command(after_help = "Examples:
  chitin config explain contract
  chitin config explain links --json")]
    Explain {
        /// The dotted path of the value.
        path: String,
    },
    /// Check the configuration: syntax, includes, variables, keys, channels.
    #[command(after_help = "Examples:
  chitin config validate
  chitin config validate ~/.openclaw/openclaw.json --json

An `error` makes a file invalid. A `warning` is probably not what you meant. A `note` names a setting that has no effect.\nExits with 4 if a file is invalid.")]
    Validate {
        /// The file to check, `openclaw.json` or `chitin.json5`; by default the files in use.
        file: Option<PathBuf>,
    },
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match &self.action {
            None | Some(Action::Show) => printer.result(&self.show(host, printer)?),
            Some(Action::Explain { path }) => printer.result(&self.explain(host, printer, path)?),
            Some(Action::Validate { file }) => {
                let contract = self.contract.as_deref();
                printer.result(&validate::run(host, contract, file.as_deref())?)
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
            let error = CliError::new(FailureKind::User, format!("`{path}` is not set."));
            match layers.nearest(path) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("`chitin config show` lists all values"),
            }
        })?;
        Ok(Explained(redacted(explanation)))
    }

    fn layers(&self, host: &Host, printer: &Printer) -> Result<Layers, CliError> {
        Ok(Configuration::read(host, self.contract.as_deref(), &printer.notes())?.layers)
    }
}

/// Hides what may be a secret: values below telling names, misspelt ones too, every variable, and what a machine seems to have made.
fn redacted(mut explanation: ValueExplanation) -> ValueExplanation {
    let path = explanation.path.clone();
    redact(&path, &mut explanation.value);
    for overridden in &mut explanation.overridden {
        redact(&path, &mut overridden.value);
    }
    explanation
}

/// Tells whether a line of a file that cannot be read may hold a secret.
fn may_tell(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
    words.any(is_secret_name) || looks_random(line)
}

fn redact(path: &str, value: &mut Value) {
    let secret = is_secret_path(path);
    match value {
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                redact(&format!("{path}.{key}"), field);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact(path, item)),
        Value::String(text) if secret || looks_random(text) => "[redacted]".clone_into(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Every value that some layer says.
#[derive(Debug, Serialize)]
struct Shown {
    values: Vec<ValueExplanation>,
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
struct Explained(ValueExplanation);

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

fn source(
    layer: ConfigLayer,
    name: Option<&str>,
    file: Option<&Path>,
    line: Option<usize>,
) -> String {
    match (name, file, line) {
        (Some(name), _, _) => format!("{} `{name}`", layer.as_str()),
        (None, Some(file), Some(line)) => {
            format!("{} ({}:{line})", layer.as_str(), file.display())
        }
        (None, _, _) => layer.as_str().to_owned(),
    }
}
