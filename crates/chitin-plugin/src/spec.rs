//! A plugin's settings, judged and resolved.

use crate::fault::PluginFault;
use crate::host::PluginHost;
use chitin_agent::compat::LEGACY_ENGINE;
use chitin_guard::{DirectoryEntryKind, Root};
use chitin_protocol::settings::PluginSettings;
use chitin_workspace::adapter::AdapterRegistry;
use std::path::{Path, PathBuf};
use std::time::Duration;

const TIMEOUT_SECONDS: u32 = 5;
const MEMORY_MB: u32 = 512;
const LONGEST_NAME: usize = 64;
/// The key of `plugins` that `openclaw.json` has for something else.
const SLOTS: &str = "slots";

/// A plugin that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PluginSpec {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    /// What the sandbox opens for reading: files of the command, and what the settings name.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) sandboxed: bool,
    pub(crate) timeout: Duration,
    pub(crate) env: Vec<String>,
    pub(crate) memory_bytes: u64,
    pub(crate) priority: Option<i32>,
}

impl PluginSpec {
    /// Judges the settings of a plugin, and finds the files that its command names.
    pub(crate) fn resolve(
        name: &str,
        settings: &PluginSettings,
        host: &PluginHost,
    ) -> Result<Self, PluginFault> {
        check_name(name)?;
        let mut readable = Vec::new();
        let mut command = Vec::new();
        for (at, word) in settings.command.iter().enumerate() {
            command.push(match resolved_word(word, at == 0, host)? {
                Word::File(path) => {
                    let text = text_of(&path)?;
                    readable.push(path);
                    text
                }
                Word::Plain(text) => text,
            });
        }
        if command.is_empty() {
            return Err(misconfigured("`command` is empty"));
        }
        for path in &settings.readable {
            readable.push(user_path(path, host)?);
        }
        Ok(Self {
            name: name.to_owned(),
            command,
            readable,
            sandboxed: settings.sandbox.unwrap_or(true),
            timeout: Duration::from_secs(u64::from(
                settings.timeout_seconds.unwrap_or(TIMEOUT_SECONDS).max(1),
            )),
            env: settings.env.clone(),
            memory_bytes: u64::from(settings.memory_mb.unwrap_or(MEMORY_MB)) << 20,
            priority: settings.priority,
        })
    }
}

enum Word {
    File(PathBuf),
    Plain(String),
}

fn resolved_word(word: &str, is_program: bool, host: &PluginHost) -> Result<Word, PluginFault> {
    let names_path = word.starts_with("~/") || word.contains('/');
    if word.starts_with('-') || (is_program && !names_path) {
        return Ok(Word::Plain(word.to_owned()));
    }
    let path = user_path(word, host)?;
    match (is_file(&path), is_program) {
        (true, _) => Ok(Word::File(path)),
        (false, true) => Err(misconfigured(&format!(
            "the program `{}` does not exist",
            path.display()
        ))),
        (false, false) if word.starts_with("~/") => Ok(Word::Plain(text_of(&path)?)),
        // A script that is not there is better said here than by an interpreter in the sandbox.
        (false, false) if word.ends_with(".py") || word.ends_with(".js") => Err(misconfigured(
            &format!("the file `{}` does not exist", path.display()),
        )),
        (false, false) => Ok(Word::Plain(word.to_owned())),
    }
}

/// Resolves a path as the configuration spells it.
fn user_path(text: &str, host: &PluginHost) -> Result<PathBuf, PluginFault> {
    match text.strip_prefix("~/") {
        Some(below) => match &host.user_home {
            Some(home) => Ok(home.join(below)),
            None => Err(misconfigured(&format!(
                "`{text}` begins with `~`, and there is no home directory"
            ))),
        },
        None => Ok(host.home.join(text)),
    }
}

fn is_file(path: &Path) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return false;
    };
    Root::open(parent).is_ok_and(|root| {
        matches!(
            root.kind(Path::new(name)),
            Some(DirectoryEntryKind::File | DirectoryEntryKind::Link)
        )
    })
}

fn check_name(name: &str) -> Result<(), PluginFault> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty()
        || name.len() > LONGEST_NAME
        || name.starts_with('.')
        || !name.chars().all(is_plain)
    {
        return Err(misconfigured(&format!(
            "`{name}` is not a name: use letters, digits, `-`, `_` and `.`, at most {LONGEST_NAME}"
        )));
    }
    let built_in = AdapterRegistry::with_built_ins().adapters();
    let is_built_in = built_in.iter().any(|adapter| adapter.name() == name);
    if is_built_in || [LEGACY_ENGINE, SLOTS].contains(&name) {
        return Err(misconfigured(&format!("the name `{name}` is reserved")));
    }
    Ok(())
}

fn text_of(path: &Path) -> Result<String, PluginFault> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| misconfigured(&format!("`{}` is not UTF-8", path.display())))
}

fn misconfigured(reason: &str) -> PluginFault {
    PluginFault::Misconfigured(reason.to_owned())
}
