//! The layers of an artifact: their names, media types, order and limits (rules P2, P13).
//!
//! The last four are Chitin's own: what a workspace holds beyond the format's map. They stand after all others, under media
//! types of ours, so that other tools pass over them and read the rest as it always was (rule P14).

use crate::compat::{MEMORY_FILE, MEMORY_SURFACE, SURFACES};

/// How a layer's bytes are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Files in a deterministic archive.
    Tar,
    /// One canonical JSON document.
    Json,
    /// A file as it is.
    Raw,
}

/// One kind of layer. The order is that of the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// Reference documents.
    Knowledge,
    /// Rules for the agent.
    Rules,
    /// Skill directories.
    Skills,
    /// MCP servers.
    Mcp,
    /// Declarations of secrets, never values.
    Secrets,
    /// Packages that this one builds on.
    Packages,
    /// Instructions by directory.
    InstructionTree,
    /// The named files of a workspace.
    Surfaces,
    /// The prompt, a template.
    Prompt,
    /// Who the agent is, as data.
    Persona,
    /// Agents that it may call.
    Subagents,
    /// Seed memory.
    Memory,
    /// The files of a source artifact.
    SourceSnapshot,
    /// The `README.md` of a directory that has no `AGENTS.md`; Chitin's own.
    Instructions,
    /// Extension files of a workspace, such as `PERMISSIONS.md`; Chitin's own.
    Extensions,
    /// Skills below `.agents/skills`; Chitin's own.
    AgentsSkills,
    /// Documents that the workspace's files link to; Chitin's own.
    Documents,
}

/// One mebibyte, which the format calls 1 MB.
pub const MB: u64 = 1_048_576;

impl LayerKind {
    /// Every kind, in the order of the manifest.
    pub const ALL: [Self; 17] = [
        Self::Knowledge,
        Self::Rules,
        Self::Skills,
        Self::Mcp,
        Self::Secrets,
        Self::Packages,
        Self::InstructionTree,
        Self::Surfaces,
        Self::Prompt,
        Self::Persona,
        Self::Subagents,
        Self::Memory,
        Self::SourceSnapshot,
        Self::Instructions,
        Self::Extensions,
        Self::AgentsSkills,
        Self::Documents,
    ];

    /// Returns the name that definitions, warnings and results use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge",
            Self::Rules => "rules",
            Self::Skills => "skills",
            Self::Mcp => "mcp",
            Self::Secrets => "secrets",
            Self::Packages => "packages",
            Self::InstructionTree => "instructionTree",
            Self::Surfaces => "surfaces",
            Self::Prompt => "prompt",
            Self::Persona => "persona",
            Self::Subagents => "subagents",
            Self::Memory => "memory",
            Self::SourceSnapshot => "source",
            Self::Instructions => "instructions",
            Self::Extensions => "extensions",
            Self::AgentsSkills => "agentsSkills",
            Self::Documents => "documents",
        }
    }

    /// Returns the kind with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Knowledge => "application/vnd.stax.knowledge.v1.tar+gzip",
            Self::Rules => "application/vnd.stax.rules.v1.tar+gzip",
            Self::Skills => "application/vnd.stax.skills.v1.tar+gzip",
            Self::Mcp => "application/vnd.stax.mcp.v1+json",
            Self::Secrets => "application/vnd.stax.secrets.v1+json",
            Self::Packages => "application/vnd.stax.packages.v1+json",
            Self::InstructionTree => "application/vnd.stax.instruction-tree.v1.tar+gzip",
            Self::Surfaces => "application/vnd.stax.surfaces.v1.tar+gzip",
            Self::Prompt => "application/vnd.stax.prompt.v1+markdown",
            Self::Persona => "application/vnd.stax.persona.v1+json",
            Self::Subagents => "application/vnd.stax.subagents.v1+json",
            Self::Memory => "application/vnd.stax.memory.v1.tar+gzip",
            Self::SourceSnapshot => "application/vnd.stax.source.snapshot.v1.tar+gzip",
            Self::Instructions => "application/vnd.chitin.instructions.v1.tar+gzip",
            Self::Extensions => "application/vnd.chitin.extensions.v1.tar+gzip",
            Self::AgentsSkills => "application/vnd.chitin.agents-skills.v1.tar+gzip",
            Self::Documents => "application/vnd.chitin.documents.v1.tar+gzip",
        }
    }

    /// Returns the kind of a media type; `None` for those that the format does not know.
    pub fn from_media_type(media_type: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.media_type() == media_type)
    }

    /// Returns how its bytes are made.
    pub const fn format(self) -> Format {
        match self {
            Self::Knowledge
            | Self::Rules
            | Self::Skills
            | Self::InstructionTree
            | Self::Surfaces
            | Self::Memory
            | Self::SourceSnapshot
            | Self::Instructions
            | Self::Extensions
            | Self::AgentsSkills
            | Self::Documents => Format::Tar,
            Self::Mcp | Self::Secrets | Self::Packages | Self::Persona | Self::Subagents => {
                Format::Json
            }
            Self::Prompt => Format::Raw,
        }
    }

    /// Returns how large it may be before compression. Where the format names no limit, we do: nothing is unbounded.
    pub const fn limit(self) -> u64 {
        match self {
            Self::Knowledge | Self::SourceSnapshot => 256 * MB,
            Self::Rules
            | Self::Surfaces
            | Self::InstructionTree
            | Self::Instructions
            | Self::Extensions
            | Self::Documents => 16 * MB,
            Self::Skills | Self::Memory | Self::AgentsSkills => 64 * MB,
            Self::Mcp
            | Self::Secrets
            | Self::Packages
            | Self::Prompt
            | Self::Persona
            | Self::Subagents => MB,
        }
    }

    /// Tells whether the layer is Chitin's own, which the format does not know.
    pub const fn is_own(self) -> bool {
        matches!(
            self,
            Self::Instructions | Self::Extensions | Self::AgentsSkills | Self::Documents
        )
    }

    /// Returns where a file of the layer stands in the workspace; `None` for layers that no workspace file stands for.
    pub fn workspace_path(self, path: &str) -> Option<String> {
        match self {
            Self::Surfaces => SURFACES
                .into_iter()
                .chain([(MEMORY_SURFACE, MEMORY_FILE)])
                .find(|(surface, _)| *surface == path)
                .map(|(_, file)| file.to_owned()),
            Self::Skills => Some(format!("skills/{path}")),
            Self::Memory => Some(format!("memory/{path}")),
            Self::AgentsSkills => Some(format!("{AGENTS_SKILLS}/{path}")),
            Self::Instructions | Self::Extensions | Self::Documents => Some(path.to_owned()),
            Self::Knowledge
            | Self::Rules
            | Self::Mcp
            | Self::Secrets
            | Self::Packages
            | Self::InstructionTree
            | Self::Prompt
            | Self::Persona
            | Self::Subagents
            | Self::SourceSnapshot => None,
        }
    }
}

/// The second place for skills in a workspace.
pub const AGENTS_SKILLS: &str = ".agents/skills";
