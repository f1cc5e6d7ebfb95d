//! What the user switched on: variables first, then `chitin.json5`, then `openclaw.json`, then the contract.

use super::compat::{self, variable};
use chitin_contract::{SummaryApis, TraceRules};
use chitin_protocol::settings::{PayloadDetail, TraceSettings};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Directories that names of files are looked up in.
#[derive(Debug, Clone)]
pub struct LookupDirectories {
    /// `logs/` of the state directory.
    pub logs: PathBuf,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// What relative names are below.
    pub working_directory: PathBuf,
}

/// What is written, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Switches {
    /// The payload log.
    pub payload_log: Option<PathBuf>,
    /// The raw stream log.
    pub raw_stream: Option<PathBuf>,
    /// The cache trace.
    pub cache_trace: Option<CacheTraceSwitch>,
    /// What of every request is said on stderr.
    pub payload_summary: Option<SummarySwitch>,
    /// The trajectory.
    pub trajectory: Option<TrajectorySwitch>,
    /// What the user should know about the switches themselves.
    pub notes: Vec<String>,
}

/// The cache trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheTraceSwitch {
    /// The file.
    pub path: PathBuf,
    /// Whether the messages are in it.
    pub messages: bool,
    /// Whether the user's words are in it.
    pub prompt: bool,
    /// Whether the system prompt is in it.
    pub system: bool,
}

/// What of every request is said on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummarySwitch {
    /// How much.
    pub detail: PayloadDetail,
    /// For which wire formats.
    pub apis: SummaryApis,
}

/// The trajectory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrajectorySwitch {
    /// The directory that the user named; left out, the contract decides.
    pub directory: Option<PathBuf>,
    /// `logs/` of the state directory.
    pub logs: PathBuf,
}

impl Switches {
    /// Reads the switches. `lookup` answers for the environment; of two twins, `CHITIN_…` comes before `OPENCLAW_…`.
    pub fn from_lookup(
        lookup: impl Fn(&str) -> Option<String>,
        settings: &TraceSettings,
        openclaw_config: &Value,
        places: &LookupDirectories,
        rules: &TraceRules,
    ) -> Self {
        let mut reader = Reader {
            lookup: &lookup,
            places,
            notes: Vec::new(),
        };
        let payload_log = reader
            .flag(variable::PAYLOAD_LOG)
            .or(settings.payload_log)
            .unwrap_or(false)
            .then(|| {
                reader.path(
                    variable::PAYLOAD_LOG_FILE,
                    settings.payload_log_file.as_deref(),
                    compat::PAYLOAD_FILE,
                )
            });
        let raw_stream = reader
            .flag(variable::RAW_STREAM)
            .or(settings.raw_stream)
            .unwrap_or(false)
            .then(|| {
                reader.path(
                    variable::RAW_STREAM_PATH,
                    settings.raw_stream_file.as_deref(),
                    compat::RAW_STREAM_FILE,
                )
            });
        let cache_trace = reader.cache_trace(settings, openclaw_config, rules);
        let payload_summary = reader.summary(settings, rules);
        let trajectory = reader
            .flag(variable::TRAJECTORY)
            .or(settings.trajectory)
            .unwrap_or(true)
            .then(|| {
                let named = reader
                    .text(variable::TRAJECTORY_DIR)
                    .or_else(|| settings.trajectory_dir.clone());
                TrajectorySwitch {
                    directory: named.map(|name| places.resolve(&name)),
                    logs: places.logs.clone(),
                }
            });
        Self {
            payload_log,
            raw_stream,
            cache_trace,
            payload_summary,
            trajectory,
            notes: reader.notes,
        }
    }

    /// Tells whether nothing is written at all.
    pub const fn is_off(&self) -> bool {
        self.payload_log.is_none()
            && self.raw_stream.is_none()
            && self.cache_trace.is_none()
            && self.payload_summary.is_none()
            && self.trajectory.is_none()
    }
}

impl LookupDirectories {
    /// Turns a name as the user writes it into a path.
    pub fn resolve(&self, name: &str) -> PathBuf {
        let name = name.trim();
        let below_home = match name.strip_prefix('~') {
            Some("") => Some(""),
            Some(rest) => rest.strip_prefix('/'),
            None => None,
        };
        match (below_home, &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_), None) | (None, _) => self.working_directory.join(name),
        }
    }
}

/// Reads variables and remembers what was not understood.
struct Reader<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    places: &'a LookupDirectories,
    notes: Vec<String>,
}

impl Reader<'_> {
    /// Returns a variable and the prefix of the twin that said it; an empty one says nothing.
    fn named(&self, suffix: &str) -> Option<(&'static str, String)> {
        [compat::CHITIN_PREFIX, compat::OPENCLAW_PREFIX]
            .into_iter()
            .find_map(|prefix| {
                let value = (self.lookup)(&format!("{prefix}{suffix}"))?;
                let value = value.trim();
                (!value.is_empty()).then(|| (prefix, value.to_owned()))
            })
    }

    fn text(&self, suffix: &str) -> Option<String> {
        self.named(suffix).map(|(_, value)| value)
    }

    fn flag(&mut self, suffix: &str) -> Option<bool> {
        let (prefix, value) = self.named(suffix)?;
        match value.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Some(true),
            "0" | "false" | "no" | "off" => Some(false),
            _ => {
                self.notes.push(format!(
                    "`{prefix}{suffix}` is neither `1` nor `0`; it is passed over"
                ));
                None
            }
        }
    }

    fn path(&self, suffix: &str, setting: Option<&str>, default: &str) -> PathBuf {
        let said = self.text(suffix);
        match said
            .as_deref()
            .or(setting)
            .filter(|name| !name.trim().is_empty())
        {
            Some(name) => self.places.resolve(name),
            None => self.places.logs.join(default),
        }
    }

    fn cache_trace(
        &mut self,
        settings: &TraceSettings,
        openclaw_config: &Value,
        rules: &TraceRules,
    ) -> Option<CacheTraceSwitch> {
        let own = settings.cache_trace.clone().unwrap_or_default();
        let theirs = &openclaw_config["diagnostics"]["cacheTrace"];
        let said = |name: &str| theirs.get(name).and_then(Value::as_bool);
        let mut flag = |suffix: &str, own: Option<bool>, name: &str| {
            self.flag(suffix).or(own).or_else(|| said(name))
        };
        let enabled = flag(variable::CACHE_TRACE, own.enabled, "enabled").unwrap_or(false);
        if !enabled {
            return None;
        }
        let messages = flag(
            variable::CACHE_TRACE_MESSAGES,
            own.include_messages,
            "includeMessages",
        );
        let prompt = flag(
            variable::CACHE_TRACE_PROMPT,
            own.include_prompt,
            "includePrompt",
        );
        let system = flag(
            variable::CACHE_TRACE_SYSTEM,
            own.include_system,
            "includeSystem",
        );
        let file = own
            .file_path
            .as_deref()
            .or_else(|| theirs.get("filePath").and_then(Value::as_str));
        Some(CacheTraceSwitch {
            path: self.path(variable::CACHE_TRACE_FILE, file, compat::CACHE_TRACE_FILE),
            messages: messages.unwrap_or(rules.cache_trace_messages),
            prompt: prompt.unwrap_or(rules.cache_trace_prompt),
            system: system.unwrap_or(rules.cache_trace_system),
        })
    }

    /// Our own variable holds under every contract; OpenClaw's where the contract knows it.
    fn summary(&mut self, settings: &TraceSettings, rules: &TraceRules) -> Option<SummarySwitch> {
        let own = |detail| SummarySwitch {
            detail,
            apis: SummaryApis::Every,
        };
        let Some((prefix, word)) = self.named(variable::MODEL_PAYLOAD) else {
            return settings.model_payload.map(own);
        };
        let detail = match word.to_ascii_lowercase().as_str() {
            "summary" | "1" | "true" | "on" => PayloadDetail::Summary,
            "tools" => PayloadDetail::Tools,
            "full-redacted" => PayloadDetail::FullRedacted,
            "0" | "false" | "off" => return None,
            _ => {
                self.notes.push(format!(
                    "`{prefix}{}` is none of `summary`, `tools`, `full-redacted`; it is passed over",
                    variable::MODEL_PAYLOAD
                ));
                return None;
            }
        };
        if prefix == compat::CHITIN_PREFIX {
            return Some(own(detail));
        }
        if rules.payload_summary == SummaryApis::None {
            self.notes.push(format!(
                "this contract does not know `{prefix}{0}`; `{1}{0}` works under every contract",
                variable::MODEL_PAYLOAD,
                compat::CHITIN_PREFIX
            ));
            return None;
        }
        Some(SummarySwitch {
            detail,
            apis: rules.payload_summary,
        })
    }
}

/// Returns the name of a session's trajectory in a directory: what is no letter, digit, `-` or `_` becomes `_`.
pub(super) fn file_name(session_id: &str) -> String {
    let safe: String = session_id
        .chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') => c,
            _ => '_',
        })
        .take(120)
        .collect();
    if safe.chars().any(|c| c.is_ascii_alphanumeric()) {
        safe
    } else {
        "session".to_owned()
    }
}

/// Returns a path whose last part ends otherwise: `.jsonl` gives way to the new ending.
pub(super) fn beside(transcript: &Path, ending: &str) -> PathBuf {
    let name = transcript.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".jsonl").unwrap_or(&name);
    transcript.with_file_name(format!("{stem}{ending}"))
}
