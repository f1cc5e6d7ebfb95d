//! One row per runtime.

use super::openclaw::OpenClawOptions;
use serde_json::{Map, Value, json};

/// The version of every adapter here.
pub const ADAPTER_VERSION: &str = "1.0.0";

/// How well a runtime holds a part of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// It has a place of its own for it.
    Native,
    /// It becomes part of another file.
    Embedded,
    /// It is written in the runtime's own form.
    Translated,
    /// Only who lays the artifact out does something with it.
    ConsumerOnly,
    /// It has no place for it.
    Unsupported,
}

impl Support {
    /// Returns the word in configs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Embedded => "embedded",
            Self::Translated => "translated",
            Self::ConsumerOnly => "consumer-only",
            Self::Unsupported => "unsupported",
        }
    }
}

/// What a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// One file.
    File,
    /// A directory.
    Directory,
}

/// Something that the adapter writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdapterTarget {
    /// What it is.
    pub kind: TargetKind,
    /// Where it stands in the project.
    pub path: &'static str,
    /// What it is for.
    pub description: &'static str,
}

/// A runtime that artifacts can be made for and laid out for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// Its name, which is its type and its runtime.
    pub name: &'static str,
    /// Whether the files come out as they went in.
    pub exact: bool,
    /// What it can hold, in the order of this list.
    pub features: [(&'static str, Support); 11],
    /// What it writes.
    pub targets: &'static [AdapterTarget],
}

impl Adapter {
    /// Returns how faithful it is.
    pub const fn fidelity(&self) -> &'static str {
        if self.exact {
            "byte-exact"
        } else {
            "best-effort"
        }
    }

    /// Returns how well it holds a part; what it was never asked about it does not hold.
    pub fn support(&self, feature: &str) -> Support {
        self.features
            .iter()
            .find(|(name, _)| *name == feature)
            .map_or(Support::Unsupported, |(_, support)| *support)
    }

    /// Returns its object in a config.
    pub fn config(&self, options: &OpenClawOptions) -> Value {
        let mut features: Map<String, Value> = self
            .features
            .iter()
            .map(|(name, support)| ((*name).to_owned(), json!(support.as_str())))
            .collect();
        features.insert("exactMode".into(), json!(self.exact));
        let targets: Vec<Value> = self
            .targets
            .iter()
            .map(|target| {
                let kind = match target.kind {
                    TargetKind::File => "file",
                    TargetKind::Directory => "directory",
                };
                json!({
                    "kind": kind,
                    "path": target.path,
                    "scope": "project",
                    "description": target.description,
                })
            })
            .collect();
        let mut config = options.config.clone();
        config.extend(options.presets.clone());
        if let Some(workspace) = &options.workspace {
            config.insert("workspace".into(), json!(workspace));
        }
        let mut object = Map::new();
        object.insert("type".into(), json!(self.name));
        object.insert("runtime".into(), json!(self.name));
        object.insert("adapterVersion".into(), json!(ADAPTER_VERSION));
        if let Some(model) = &options.model {
            object.insert("model".into(), json!(model));
        }
        if let Some(parameters) = &options.model_params {
            object.insert("modelParams".into(), parameters.clone());
        }
        object.insert("importMode".into(), json!("filesystem"));
        object.insert("fidelity".into(), json!(self.fidelity()));
        object.insert("config".into(), Value::Object(config));
        object.insert("features".into(), Value::Object(features));
        object.insert("targets".into(), Value::Array(targets));
        Value::Object(object)
    }
}

/// Returns the adapter with that name.
pub fn adapter(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|known| known.name == name)
}

/// Returns every adapter.
pub fn all() -> &'static [Adapter] {
    &ADAPTERS
}

use Support::{ConsumerOnly, Embedded, Native, Translated, Unsupported};

/// The parts that a runtime may hold or not, in the order in which configs list them: prompt, persona, rules, skills, MCP
/// servers, surfaces, subagents, instruction tree. Secrets are always the reader's; nobody takes the other two.
const fn features(of: [Support; 8]) -> [(&'static str, Support); 11] {
    [
        ("prompt", of[0]),
        ("persona", of[1]),
        ("rules", of[2]),
        ("skills", of[3]),
        ("mcp", of[4]),
        ("surfaces", of[5]),
        ("secrets", ConsumerOnly),
        ("subagents", of[6]),
        ("instructionTree", of[7]),
        ("toolPermissions", Unsupported),
        ("modelConfig", Unsupported),
    ]
}

const fn file(path: &'static str, description: &'static str) -> AdapterTarget {
    AdapterTarget {
        kind: TargetKind::File,
        path,
        description,
    }
}

const fn directory(path: &'static str, description: &'static str) -> AdapterTarget {
    AdapterTarget {
        kind: TargetKind::Directory,
        path,
        description,
    }
}

static ADAPTERS: [Adapter; 8] = [
    Adapter {
        name: "openclaw",
        exact: true,
        features: features([
            Native,
            Native,
            Native,
            Native,
            Unsupported,
            Native,
            Unsupported,
            Unsupported,
        ]),
        targets: &[
            file("AGENTS.md", "Instructions"),
            file("SOUL.md", "Persona/soul"),
            file("TOOLS.md", "Tool guidance"),
            file("IDENTITY.md", "Identity"),
            file("USER.md", "User profile"),
            file("HEARTBEAT.md", "Heartbeat"),
            file("BOOTSTRAP.md", "Bootstrap"),
            directory("skills/", "Skills"),
            directory("memory/", "Memory"),
        ],
    },
    Adapter {
        name: "claude-code",
        exact: false,
        features: features([
            Native,
            Embedded,
            Embedded,
            Native,
            Translated,
            Embedded,
            Translated,
            Unsupported,
        ]),
        targets: &[
            file("CLAUDE.md", "Instructions"),
            directory(".claude/skills/", "Skills"),
            file(".mcp.json", "MCP servers"),
            directory(".claude/agents/", "Subagents"),
            file(".claude/settings.json", "Settings"),
        ],
    },
    Adapter {
        name: "codex",
        exact: false,
        features: features([
            Native,
            Embedded,
            Embedded,
            Native,
            Translated,
            Embedded,
            Unsupported,
            Unsupported,
        ]),
        targets: &[
            file("AGENTS.md", "Instructions"),
            directory(".agents/skills/", "Skills"),
            file(".codex/config.toml", "MCP servers"),
        ],
    },
    Adapter {
        name: "cursor",
        exact: false,
        features: features([
            Native,
            Embedded,
            Translated,
            Native,
            Translated,
            Embedded,
            Unsupported,
            Unsupported,
        ]),
        targets: &[
            file("AGENTS.md", "Instructions"),
            directory(".cursor/rules/", "Rules"),
            directory(".cursor/skills/", "Skills"),
            file(".cursor/mcp.json", "MCP servers"),
        ],
    },
    Adapter {
        name: "github-copilot",
        exact: false,
        features: features([
            Native,
            Embedded,
            Translated,
            Native,
            Translated,
            Embedded,
            Translated,
            Unsupported,
        ]),
        targets: &[
            file(".github/copilot-instructions.md", "Instructions"),
            file("AGENTS.md", "Instructions"),
            directory(".github/instructions/", "Rules"),
            directory(".github/skills/", "Skills"),
            file(".vscode/mcp.json", "MCP servers"),
            directory(".github/agents/", "Subagents"),
        ],
    },
    Adapter {
        name: "windsurf",
        exact: false,
        features: features([
            Native,
            Embedded,
            Translated,
            Translated,
            ConsumerOnly,
            Embedded,
            Unsupported,
            Unsupported,
        ]),
        targets: &[
            file("AGENTS.md", "Instructions"),
            directory(".windsurf/rules/", "Rules"),
            directory(".windsurf/workflows/", "Skills"),
        ],
    },
    Adapter {
        name: "opencode",
        exact: false,
        features: features([
            Native,
            Embedded,
            Embedded,
            Native,
            Translated,
            Embedded,
            Translated,
            Unsupported,
        ]),
        targets: &[
            file("AGENTS.md", "Instructions"),
            directory(".opencode/skill/", "Skills"),
            file("opencode.jsonc", "MCP servers"),
            directory(".opencode/agent/", "Subagents"),
        ],
    },
    Adapter {
        name: "generic",
        exact: false,
        features: features([
            Native,
            Unsupported,
            Unsupported,
            Unsupported,
            Unsupported,
            Unsupported,
            Unsupported,
            Unsupported,
        ]),
        targets: &[file("INSTRUCTIONS.md", "Instructions")],
    },
];
