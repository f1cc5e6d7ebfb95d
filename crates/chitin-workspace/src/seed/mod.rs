//! Filling a new workspace: only what is absent, nothing over what is there, nothing deleted (W45–W48, CN19).

mod attest;
mod mode;
mod state;
mod templates;

pub use attest::Attestation;
pub use mode::{BootstrapMode, BootstrapRun, bootstrap_mode};
pub use state::{
    LegacyStateFiles, SetupState, SetupStateSource, SetupStatus, read_state, status,
    status_for_turn,
};
pub use templates::{ADDITIONAL_TEMPLATES, TEMPLATES, TemplateError, Templates, template};

use chitin_contract::{Contract, Evidence, PendingInUse, SeedState, VanishedRule};
use chitin_guard::{LinkPolicy, ReadPolicy, Root, WriteError, WriteOutcome};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use templates::MAX_TEMPLATE_BYTES;
use thiserror::Error;

pub(crate) const BOOTSTRAP: &str = "BOOTSTRAP.md";
/// Where a bootstrap file goes when a contract takes it away: aside, never gone.
const RETIRED: &str = ".openclaw/retired";
const MAX_SKILLS_LOOKED_AT: usize = 10_000;

/// Makes a git repository of a directory. Starting programs is the caller's business.
pub type MakeRepository<'a> = &'a dyn Fn(&Path) -> io::Result<()>;

/// What to seed, and what the caller knows.
#[derive(Clone, Copy)]
pub struct SeedRequest<'a> {
    /// The workspace.
    pub directory: &'a Path,
    /// The contract to seed for.
    pub contract: &'a Contract,
    /// Whether files are written, or only the directory made.
    pub files: SeedFiles,
    /// The texts of the files; none are the built-in ones.
    pub templates: Option<&'a Templates>,
    /// The time, as an ISO instant.
    pub now: &'a str,
    /// Where it is remembered that this workspace was seen with its files; none remembers nothing.
    pub state_directory: Option<&'a Path>,
    /// What to do when files that were there are gone.
    pub vanished: OnVanished,
    /// Makes a git repository of a brand-new workspace; none leaves that out.
    pub git: Option<MakeRepository<'a>>,
}

impl SeedRequest<'_> {
    fn templates(&self) -> Cow<'_, Templates> {
        self.templates.map_or_else(Cow::default, Cow::Borrowed)
    }
}

/// Whether files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeedFiles {
    /// Write the templates that are absent.
    Templates,
    /// Make the directory only.
    DirectoryOnly,
}

/// What to do when files that were there are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnVanished {
    /// Say so and write nothing, at least when all of them are gone.
    Refuse,
    /// Exactly what the contract's runtime does.
    AsContract,
    /// Seed again; the user said so.
    SeedAgain,
}

/// What seeding did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seeded {
    /// Files that were written.
    pub created: Vec<&'static str>,
    /// Files that were there and were left alone.
    pub kept: Vec<&'static str>,
    /// Where the bootstrap file was moved to, if a contract took it away.
    pub retired: Option<PathBuf>,
    /// Whether the directory was brand new.
    pub brand_new: bool,
    /// Whether set-up is complete.
    pub status: SetupStatus,
}

/// Why nothing was seeded.
#[derive(Debug, Error)]
pub enum SeedError {
    /// Files that were there are gone: seeding now would hide the loss.
    #[error(
        "`{}` had {} when it was last seen ({seen}); {}",
        directory.display(), names(known), loss(known, gone)
    )]
    Vanished {
        /// The workspace.
        directory: PathBuf,
        /// What was there.
        known: Vec<String>,
        /// What of it is gone.
        gone: Vec<String>,
        /// When it was last seen.
        seen: String,
    },
    /// Something could not be written; what was written before it is whole.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The git repository could not be made; the files are written.
    #[error("a git repository could not be made in `{}`", directory.display())]
    Git {
        /// The workspace.
        directory: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

fn names(files: &[String]) -> String {
    files.join(", ")
}

fn loss(known: &[String], gone: &[String]) -> String {
    if known == gone {
        "none of them is there now".to_owned()
    } else {
        format!("{} is gone", names(gone))
    }
}

/// Makes sure that a workspace exists and has the contract's files.
pub fn seed(request: &SeedRequest<'_>) -> Result<Seeded, SeedError> {
    let rules = &request.contract.seeding;
    refuse_vanished(request)?;
    let (root, _) = Root::create(request.directory)?;
    state::check_place(&root, request)?;
    if request.files == SeedFiles::DirectoryOnly {
        let status = status(&root, &read_state(&root, request));
        return Ok(Seeded {
            created: Vec::new(),
            kept: Vec::new(),
            retired: None,
            brand_new: false,
            status,
        });
    }
    let mut state = read_state(&root, request);
    let templates = request.templates();
    let brand_new = rules
        .files
        .iter()
        .all(|name| root.kind(Path::new(name)).is_none())
        && !rules
            .not_new
            .iter()
            .any(|evidence| shows(&root, *evidence, &templates));
    let mut seeded = Seeded {
        created: Vec::new(),
        kept: Vec::new(),
        retired: None,
        brand_new,
        status: SetupStatus::Complete,
    };
    for name in rules.files {
        if state.is_complete() && rules.not_after_completion.contains(name) {
            continue;
        }
        seeded.write(&root, name, &templates)?;
    }
    seeded.bootstrap(&root, request, &mut state)?;
    for name in templates.additional() {
        seeded.write(&root, name, &templates)?;
    }
    state.write(&root, request)?;
    if brand_new
        && root.kind(Path::new(".git")).is_none()
        && let Some(git) = request.git
    {
        let made = git(request.directory);
        // Two that seed at once get in each other's way here; what counts is that there is a repository.
        if let Err(source) = made
            && root.kind(Path::new(".git/HEAD")).is_none()
        {
            return Err(SeedError::Git {
                directory: request.directory.into(),
                source,
            });
        }
    }
    seeded.status = status(&root, &state);
    Ok(seeded)
}

/// Returns the texts of the files that a plan would write.
pub fn planned_texts(request: &SeedRequest<'_>, plan: &Seeded) -> Vec<(&'static str, String)> {
    let templates = request.templates();
    let text = |name| String::from_utf8_lossy(templates.get(name)).into_owned();
    let created = plan.created.iter();
    created.map(|name| (*name, text(name))).collect()
}

/// Says what seeding would do, and writes nothing.
pub fn plan(request: &SeedRequest<'_>) -> Result<Seeded, SeedError> {
    let rules = &request.contract.seeding;
    refuse_vanished(request)?;
    let root = Root::open(request.directory).ok();
    let is_there = |name: &str| {
        root.as_ref()
            .is_some_and(|root| root.kind(Path::new(name)).is_some())
    };
    let templates = request.templates();
    let evidence = |evidence: &Evidence| {
        root.as_ref()
            .is_some_and(|root| shows(root, *evidence, &templates))
    };
    let state = root
        .as_ref()
        .map(|root| read_state(root, request))
        .unwrap_or_default();
    let brand_new =
        rules.files.iter().all(|name| !is_there(name)) && !rules.not_new.iter().any(evidence);
    let wanted = rules.files.iter().filter(|name| {
        request.files == SeedFiles::Templates
            && !(state.is_complete() && rules.not_after_completion.contains(name))
    });
    let (mut kept, mut created): (Vec<_>, Vec<_>) =
        wanted.copied().partition(|name| is_there(name));
    let fresh = match rules.in_use {
        None => brand_new,
        Some(in_use) => {
            state.bootstrap_seeded_at.is_none()
                && !state.is_complete()
                && !in_use.iter().any(evidence)
        }
    };
    let waits = is_there(BOOTSTRAP);
    if fresh && !waits && request.files == SeedFiles::Templates {
        created.push(BOOTSTRAP);
    }
    if request.files == SeedFiles::Templates {
        let (there, absent): (Vec<_>, Vec<_>) =
            templates.additional().partition(|name| is_there(name));
        kept.extend(there);
        created.extend(absent);
    }
    let pending = (waits || created.contains(&BOOTSTRAP)) && !state.is_complete();
    let status = if pending {
        SetupStatus::Pending
    } else {
        SetupStatus::Complete
    };
    Ok(Seeded {
        created,
        kept,
        retired: None,
        brand_new,
        status,
    })
}

impl Seeded {
    fn write(
        &mut self,
        root: &Root,
        name: &'static str,
        templates: &Templates,
    ) -> Result<(), WriteError> {
        match root.write_new(Path::new(name), templates.get(name))? {
            WriteOutcome::Created => self.created.push(name),
            WriteOutcome::AlreadyThere => self.kept.push(name),
        }
        Ok(())
    }

    /// Decides about the bootstrap file, and keeps the times that go with it.
    fn bootstrap(
        &mut self,
        root: &Root,
        request: &SeedRequest<'_>,
        state: &mut SetupState,
    ) -> Result<(), WriteError> {
        let rules = &request.contract.seeding;
        let templates = request.templates();
        let Some(in_use) = rules.in_use else {
            if self.brand_new {
                self.write(root, BOOTSTRAP, &templates)?;
            }
            return Ok(());
        };
        let now = || Some(request.now.to_owned());
        let is_there = root.kind(Path::new(BOOTSTRAP)).is_some();
        if is_there && state.bootstrap_seeded_at.is_none() {
            state.bootstrap_seeded_at = now();
        }
        if is_there && !state.is_complete() && rules.pending_in_use == PendingInUse::Retired {
            if shows_use(root, in_use, &templates) {
                self.retired = Some(retire(root, request.now)?);
                state.setup_completed_at = now();
            }
            return Ok(());
        }
        if is_there || state.is_complete() {
            return Ok(());
        }
        if state.bootstrap_seeded_at.is_some()
            || in_use
                .iter()
                .any(|evidence| shows(root, *evidence, &templates))
        {
            state.setup_completed_at = now();
        } else {
            self.write(root, BOOTSTRAP, &templates)?;
            state.bootstrap_seeded_at = now();
        }
        Ok(())
    }
}

/// Moves the bootstrap file aside under a name that nothing has.
fn retire(root: &Root, now: &str) -> Result<PathBuf, WriteError> {
    root.make_directories(Path::new(RETIRED))?;
    let stamp: String = now
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    for attempt in 0_u32.. {
        let suffix = if attempt == 0 {
            String::new()
        } else {
            format!("-{attempt}")
        };
        let to = Path::new(RETIRED).join(format!("BOOTSTRAP-{stamp}{suffix}.md"));
        if root.rename_new(Path::new(BOOTSTRAP), &to)? == WriteOutcome::Created {
            return Ok(root.path().join(to));
        }
    }
    Ok(root.path().join(BOOTSTRAP))
}

/// Tells whether somebody works in a workspace, so that set-up is over although its file is still there.
fn is_in_use(root: &Root, request: &SeedRequest<'_>) -> bool {
    let templates = request.templates().into_owned().and_released();
    let in_use = request.contract.seeding.in_use;
    in_use.is_some_and(|in_use| shows_use(root, in_use, &templates))
}

fn shows_use(root: &Root, in_use: &[Evidence], templates: &Templates) -> bool {
    in_use
        .iter()
        // The repository that seeding itself made is no sign of use.
        .filter(|evidence| **evidence != Evidence::Git)
        .any(|evidence| shows(root, *evidence, templates))
}

/// Looks for one sign of use.
fn shows(root: &Root, evidence: Evidence, templates: &Templates) -> bool {
    // Through links, wherever they lead: a link to nothing is no sign of use.
    let exists = |name: &str| root.walk(Path::new(name), &LinkPolicy::Anywhere).is_ok();
    match evidence {
        Evidence::MemoryDirectory => exists("memory"),
        Evidence::MemoryFile => exists("MEMORY.md"),
        Evidence::Git => exists(".git"),
        Evidence::Skills => root
            .list(
                Path::new("skills"),
                &LinkPolicy::EndInside,
                MAX_SKILLS_LOOKED_AT,
            )
            .unwrap_or_default()
            .iter()
            .any(|entry| {
                let file = Path::new("skills").join(&entry.name).join("SKILL.md");
                root.walk(&file, &LinkPolicy::EndInside).is_ok()
            }),
        Evidence::IdentityEdited => is_edited(root, "IDENTITY.md", templates),
        Evidence::UserEdited => is_edited(root, "USER.md", templates),
        Evidence::SoulEdited => is_edited(root, "SOUL.md", templates),
    }
}

fn is_edited(root: &Root, name: &str, templates: &Templates) -> bool {
    root.read(Path::new(name), &ReadPolicy::inside(MAX_TEMPLATE_BYTES))
        .is_ok_and(|read| !templates.is_unedited(name, &read.bytes))
}

fn refuse_vanished(request: &SeedRequest<'_>) -> Result<(), SeedError> {
    let rule = match request.vanished {
        OnVanished::SeedAgain => return Ok(()),
        OnVanished::AsContract => request.contract.seeding.vanished,
        OnVanished::Refuse => match request.contract.seeding.vanished {
            VanishedRule::SeedAgain => VanishedRule::RefuseWhenAllGone,
            stricter => stricter,
        },
    };
    let root = Root::open(request.directory).ok();
    let Some(known) = attest::last_seen(root.as_ref(), request) else {
        return Ok(());
    };
    let is_there = |name: &String| {
        root.as_ref()
            .is_some_and(|root| root.kind(Path::new(name)).is_some())
    };
    let gone: Vec<String> = known
        .files
        .iter()
        .filter(|name| !is_there(name))
        .cloned()
        .collect();
    let refuse = match rule {
        VanishedRule::SeedAgain => false,
        VanishedRule::RefuseWhenAllGone => !gone.is_empty() && gone.len() == known.files.len(),
        VanishedRule::RefuseAfterCompletion => !gone.is_empty() && known.complete,
    };
    if refuse {
        let directory = request.directory.into();
        return Err(SeedError::Vanished {
            directory,
            known: known.files,
            gone,
            seen: known.seen,
        });
    }
    Ok(())
}

/// Tells whether a contract keeps its seeding state in the workspace itself.
pub(crate) fn keeps_state_in_workspace(contract: &Contract) -> bool {
    contract.seeding.state == SeedState::WorkspaceFile
}
