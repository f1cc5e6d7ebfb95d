//! The skills that a release itself brings, read from an installation that the user has. Nothing of it is run.
//!
//! Without them the catalogue of a release is shorter than its own, so that entries of the user are cut later or not at all.

use super::roots::SkillPlaces;
use chitin_config::env::Env;
use chitin_config::home;
use chitin_contract::{Contract, ReleaseSkills};
use chitin_guard::{Hardlinks, LinkPolicy, ReadPolicy, Root};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The name of the package, and of its program.
const PACKAGE: &str = "openclaw";
/// Where plugins are that come with the package.
const EXTENSIONS: &str = "dist/extensions";
/// What a plugin says about itself.
const MANIFEST: &str = "openclaw.plugin.json";
/// A plugin whose skills need a program beside it that is seldom there.
const NEEDS_A_RUNTIME: &str = "acpx";

const MAX_MANIFEST_BYTES: u64 = 1024 * 1024;
const MAX_PLUGINS: usize = 1_000;
const MAX_LINKS: usize = 8;
/// How far above the program its package may be.
const MAX_ABOVE: usize = 4;

/// Directories below home in which global packages are usually installed.
const USUAL: [&str; 6] = [
    ".npm-global/lib/node_modules",
    ".local/lib/node_modules",
    ".openclaw/lib/node_modules",
    ".local/share/pnpm/global/5/node_modules",
    "Library/pnpm/global/5/node_modules",
    ".bun/install/global/node_modules",
];

/// What the user says about the skills of a release.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ReleaseChoice {
    /// Nothing: the contract decides whether they are looked for.
    #[default]
    Contract,
    /// They are not wanted.
    Off,
    /// They are in this directory.
    At(PathBuf),
}

/// A package of OpenClaw on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The directory of the package.
    pub directory: PathBuf,
    /// What it says its version is.
    pub version: String,
}

/// What became of the skills of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Release {
    /// They are in the catalogue.
    Used(Installation),
    /// The contract is no release's, or the user does not want them.
    NotAsked,
    /// No installation was found.
    Missing,
    /// The only installation is of another release.
    OtherVersion(Installation),
    /// What the user named is no installation.
    NotAnInstallation(PathBuf),
}

impl Release {
    /// Finds the installation whose skills a contract lists: the one that the user names, else one of the same release.
    pub fn find(choice: &ReleaseChoice, workspace: &Path, env: &Env, contract: &Contract) -> Self {
        match (choice, contract.skills.release) {
            (ReleaseChoice::Off, _) | (ReleaseChoice::Contract, ReleaseSkills::None) => {
                Self::NotAsked
            }
            (ReleaseChoice::At(directory), _) => Installation::at(directory)
                .map_or_else(|| Self::NotAnInstallation(directory.clone()), Self::Used),
            (ReleaseChoice::Contract, ReleaseSkills::Bundled | ReleaseSkills::WithCustodian) => {
                let wanted = contract.name.strip_prefix("openclaw-").unwrap_or_default();
                let mut other = None;
                for directory in candidates(workspace, env) {
                    match Installation::at(&directory) {
                        Some(found) if found.is_of(wanted) => return Self::Used(found),
                        Some(found) => other = other.or(Some(found)),
                        None => {}
                    }
                }
                other.map_or(Self::Missing, Self::OtherVersion)
            }
        }
    }

    /// Says in a sentence why the catalogue is not the release's own, if it is not.
    pub fn note(&self, contract: &Contract) -> Option<String> {
        let name = contract.name;
        let tail = "the list of skills is without the release's own, so yours are cut as if there were none; \
                    `releaseSkills` in `chitin.json5` names an installation, or is \"off\"";
        match self {
            Self::Used(_) | Self::NotAsked => None,
            Self::Missing => Some(format!("no installation of `{name}` was found: {tail}")),
            Self::OtherVersion(found) => Some(format!(
                "the OpenClaw in `{}` is {}, not of `{name}`: {tail}",
                found.directory.display(),
                found.version
            )),
            Self::NotAnInstallation(directory) => Some(format!(
                "`{}` is no installation of OpenClaw: {tail}",
                directory.display()
            )),
        }
    }
}

impl Installation {
    /// Reads what the package in a directory says of itself; gives nothing when it is another one.
    fn at(directory: &Path) -> Option<Self> {
        let root = Root::open(directory).ok()?;
        let package = json(&root, Path::new("package.json"))?;
        let version = package["version"].as_str()?;
        (package["name"] == PACKAGE).then(|| Self {
            directory: root.real_path().to_path_buf(),
            version: version.to_owned(),
        })
    }

    /// Tells whether it is of a release such as `2026.4`.
    fn is_of(&self, release: &str) -> bool {
        let rest = self.version.strip_prefix(release);
        !release.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Adds where its skills are: bundled, of its plugins that are on, and those of the agent that looks after the machine.
    #[must_use]
    pub fn added_to(
        &self,
        places: SkillPlaces,
        config: &Value,
        contract: &Contract,
        is_owner: bool,
    ) -> SkillPlaces {
        let bundled = self.directory.join("skills");
        let custodian = is_owner && contract.skills.release == ReleaseSkills::WithCustodian;
        let mut plugins = places.plugins.clone();
        plugins.extend(self.plugin_skills(config));
        SkillPlaces {
            // What the environment names comes first, as in the release.
            bundled: places.bundled.clone().or(Some(bundled)),
            custodian: custodian.then(|| self.directory.join("custodian-skills")),
            plugins,
            ..places
        }
    }

    /// Lists the directories of plugins that are on and bring skills.
    fn plugin_skills(&self, config: &Value) -> Vec<PathBuf> {
        let extensions = self.directory.join(EXTENSIONS);
        let Ok(root) = Root::open(&extensions) else {
            return Vec::new();
        };
        let inside = LinkPolicy::EveryHopInside;
        let listed = root.list(Path::new(""), &inside, MAX_PLUGINS);
        let mut names: Vec<_> = listed
            .unwrap_or_default()
            .into_iter()
            .map(|e| e.name)
            .collect();
        names.sort_unstable();
        let mut found = Vec::new();
        for name in names {
            let Some(manifest) = json(&root, &Path::new(&name).join(MANIFEST)) else {
                continue;
            };
            if !is_on(&manifest, config) {
                continue;
            }
            for skills in manifest["skills"].as_array().into_iter().flatten() {
                let below = chitin_guard::normalized(
                    &Path::new(&name).join(skills.as_str().unwrap_or("..")),
                );
                if below.starts_with(&name) {
                    found.push(extensions.join(below));
                }
            }
        }
        found
    }
}

/// Tells whether a plugin that comes with the release is on: by default, or because configuration asks for it.
fn is_on(manifest: &Value, config: &Value) -> bool {
    let id = manifest["id"].as_str().unwrap_or_default();
    let plugins = &config["plugins"];
    let lists = |key: &str| {
        let list = plugins[key]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        (list.is_empty(), list.iter().any(|entry| entry == id))
    };
    let said = plugins["entries"][id]["enabled"].as_bool();
    let channels = manifest["channels"].as_array().into_iter().flatten();
    let has_channel = channels
        .filter_map(Value::as_str)
        .any(|channel| config["channels"][channel].is_object());
    let (allows_all, allowed) = lists("allow");
    let (_, denied) = lists("deny");
    plugins["enabled"] != Value::Bool(false)
        && id != NEEDS_A_RUNTIME
        && !denied
        && (allows_all || allowed)
        && said.unwrap_or(manifest["enabledByDefault"] == Value::Bool(true) || has_channel)
}

fn json(root: &Root, relative: &Path) -> Option<Value> {
    // Package managers keep one copy of a file under several names.
    let policy = ReadPolicy {
        hardlinks: Hardlinks::Allow,
        ..ReadPolicy::inside(MAX_MANIFEST_BYTES)
    };
    let read = root.read(relative, &policy).ok()?;
    serde_json::from_slice(&read.bytes).ok()
}

/// Lists directories in which the package may be: where the program on PATH leads to, beside the directories of PATH, and below home.
/// What lies in the workspace is left out: its skills have their own places.
fn candidates(workspace: &Path, env: &Env) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let path = env.get("PATH").unwrap_or_default();
    for directory in path
        .split(':')
        .map(Path::new)
        .filter(|part| part.is_absolute())
    {
        if let Some(program) = followed(&directory.join(PACKAGE)) {
            found.extend(
                program
                    .ancestors()
                    .skip(1)
                    .take(MAX_ABOVE)
                    .map(Path::to_path_buf),
            );
        }
        if let Some(prefix) = directory.parent() {
            found.push(prefix.join("lib/node_modules").join(PACKAGE));
        }
    }
    let home = home::plain_home(env);
    found.extend(home.iter().flat_map(|home| {
        USUAL
            .iter()
            .map(move |usual| home.join(usual).join(PACKAGE))
    }));
    found.retain(|directory| !directory.starts_with(workspace));
    found
}

/// Follows a link to a program, a few hops at most.
fn followed(path: &Path) -> Option<PathBuf> {
    if !chitin_guard::is_executable(path) {
        return None;
    }
    let mut at = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match chitin_guard::link_target(&at) {
            Some(target) => {
                at = chitin_guard::normalized(&at.parent()?.join(target));
            }
            None => return Some(at),
        }
    }
    None
}
