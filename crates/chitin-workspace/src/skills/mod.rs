//! Skills: found in their roots, read, merged by precedence, judged for eligibility, offered as slash commands.
//!
//! In: a workspace, configuration and what is known of the environment. Out: skills with their provenance, the ones they
//! shadow, and every file that could not be taken, with its place and the reason. Nothing here runs a skill.

mod allow_list;
mod commands;
mod compat;
mod discover;
mod eligibility;
mod front_matter;
mod install;
mod installation;
mod load;
mod metadata;
mod order;
mod problem;
mod roots;
mod scan;
mod skill;
mod yaml;
mod yaml_codes;
mod yaml_value;

pub use allow_list::AllowList;
pub use commands::{
    ArgumentMode, CommandParts, SkillCommand, SkillInvocation, ToolDispatch, commands_from_parts,
    find_invocation, skill_commands,
};
pub use discover::{DiscoverOptions, discover};
pub use eligibility::{Eligibility, Ineligible, RemoteNodes, this_platform};
pub use front_matter::{FrontMatterError, ParsedFrontMatter, SkillFrontMatter, parse_front_matter};
pub use install::{InstallKind, InstallSpec};
pub use installation::{Installation, Release, ReleaseChoice};
pub use metadata::{Invocation, MalformedMetadata, Metadata, Requirements};
pub use order::Names;
pub use problem::{NO_DESCRIPTION, ProblemSeverity, SkillProblem};
pub use roots::{SkillPlaces, SkillRoot};
pub use skill::{Shadowed, Skill, SkillSet};
