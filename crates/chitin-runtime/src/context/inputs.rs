//! What the disk says about a turn's workspace.

use super::claimed::{self, DirectoryClaim};
use super::{FileSource, composed, composition};
use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use crate::host::Host;
use crate::setup::{Setup, chitin_home, shown};
use crate::workspace_copy::respell;
use chitin_config::home;
use chitin_contract::{BlockLayout, BootstrapModeRule};
use chitin_guard::{ReadPolicy, Root};
use chitin_protocol::record::FileRefusal;
use chitin_workspace::Workspace;
use chitin_workspace::adapter::explicit_name;
use chitin_workspace::extras;
use chitin_workspace::filter;
use chitin_workspace::load::{Loader, read_policy};
use chitin_workspace::persona_swap::{self, SwapMoment};
use chitin_workspace::project::project_of;
use chitin_workspace::seed::{
    self, LegacyStateFiles, OnVanished, SeedFiles, SeedRequest, SetupStatus, Templates,
};
use chitin_workspace::snapshot::Record;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many extra files that were not taken are named.
const MAX_NAMED: usize = 5;

/// What the disk says.
#[derive(Debug, Clone)]
pub struct WorkspaceInputs {
    pub workspace: Arc<Workspace>,
    pub extras: Vec<Record>,
    /// What the agent is called.
    pub name: Arc<str>,
    /// The skill files that an adapter names, relative to the directory; none where the directory is searched.
    pub named_skills: Option<Vec<PathBuf>>,
    /// Whether set-up is complete, in contracts that care.
    pub status: Option<SetupStatus>,
    /// The root files of memory that are links to something else, in contracts that leave those out.
    pub linked_memory: Vec<&'static str>,
    /// The project that the workspace lies in, in contracts that tie notes to projects.
    pub project: Option<String>,
    pub notes: Vec<String>,
}

impl WorkspaceInputs {
    pub fn look(
        host: &Host,
        setup: &Setup,
        files: FileSource<'_>,
        session: &str,
        seeded: bool,
        loader: &mut Option<Loader>,
    ) -> Result<Self, RuntimeError> {
        let contract = setup.contract();
        let directory = match files {
            FileSource::Disk | FileSource::Edited(_) => &setup.directory,
            FileSource::Copy(copy) => &copy.root,
        };
        let unusable = |source: Box<dyn std::error::Error + Send + Sync>| {
            let message = format!(
                "Could not use `{}` as a workspace.",
                shown(&setup.directory, host)
            );
            RuntimeError::new(ErrorKind::User, message).caused_by(source)
        };
        let root = Root::open(directory).map_err(|error| setup.unusable(host, error))?;
        let loader = loader.get_or_insert_with(|| Loader::new(directory, contract, &setup.options));
        let mut workspace = loader.load().map_err(|error| {
            unusable(Box::new(error)).hint("`chitin check` lists the files that cannot be read")
        })?;
        // An unpacking that was killed leaves second names beside the directory; then, and only then, is it cleared up.
        let has_second_names = |records: &[Record]| {
            let mut refusals = records.iter().filter_map(Record::refused);
            refusals.any(|reason| reason == FileRefusal::Hardlinked)
        };
        if has_second_names(workspace.records()) {
            chitin_pack::materialize::clear_leftovers(directory);
            workspace = loader.load().map_err(|error| unusable(Box::new(error)))?;
        }
        let policy = read_policy(contract, &setup.options);
        let mut notes = Vec::new();
        let (mut name, mut named_skills) = (None, None);
        let has_files = || claimed::has_files(&workspace);
        match claimed::claim(host, setup, directory, has_files)? {
            DirectoryClaim::Workspace => {}
            DirectoryClaim::Adapter(definition) => {
                let claimed = claimed::records(setup, &definition, &root, &policy);
                if claimed.records().is_empty() {
                    notes.push(format!(
                        "`{}` has neither an `AGENTS.md` nor a `README.md`; `chitin init` turns it into a workspace",
                        shown(&setup.directory, host)
                    ));
                }
                notes.extend(claimed::definition_notes(&definition));
                workspace = Arc::new(claimed);
                named_skills = claimed::named_skills(&definition);
                // A copy lies where its directory's name says nothing.
                let is_directory = directory
                    .file_name()
                    .is_some_and(|own| *own == *definition.name);
                name = Some(definition.name).filter(|_| !is_directory);
            }
        }
        if let Some(swapped) = persona(setup, &root, &policy, &workspace, session, &mut notes) {
            workspace = swapped;
        }
        let mut extras = match contract.rendering.layout {
            BlockLayout::ProjectContext => {
                added(setup, files, &root, &policy, &workspace, &mut notes)
            }
            BlockLayout::Composition => {
                composition::added(&setup.adapters, &root, &policy, directory)
            }
        };
        if contract.rendering.layout == BlockLayout::ProjectContext
            && contract.rendering.skills_file
        {
            extras.extend(composition::skills_file(&root, &policy, directory));
        }
        let mut status = status(host, setup, &root, directory);
        let linked_memory = filter::linked_memory(workspace.records(), contract, &root);
        if seeded {
            let (with_templates, planned) = seeded_with(host, setup, directory, workspace)?;
            workspace = with_templates;
            status = status.map(|_| planned);
        }
        workspace = composed::compose(host, setup, &workspace, &mut extras)?;
        if let FileSource::Edited(edit) = files {
            workspace = Arc::new(workspace.with_text(edit.path, edit.text));
            for record in &mut extras {
                *record = record.with_text(edit.path, edit.text);
            }
        }
        if let FileSource::Copy(copy) = files {
            for record in &mut extras {
                if let Ok(below) = record.path.strip_prefix(&copy.root) {
                    record.path = setup.directory.join(below);
                }
            }
            workspace = Arc::new(respell(&workspace, &setup.directory));
            notes.extend(copy.notes.iter().cloned());
        }
        let name = name.unwrap_or_else(|| name_of(&workspace, &setup.directory));
        Ok(Self {
            workspace,
            extras,
            name: name.into(),
            named_skills,
            status,
            linked_memory,
            project: project_of(&setup.directory, contract, setup.configuration.value()),
            notes,
        })
    }

    /// Returns the text of a file of the root.
    pub fn text(&self, name: &str) -> Option<&str> {
        let content = self.workspace.record(name)?.content()?;
        Some(&content.text)
    }

    /// Tells whether a file of the root has text.
    pub fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }
}

/// Returns what an agent is called: what `IDENTITY.md` says, else the name of its directory (A8).
pub(crate) fn name_of(workspace: &Workspace, directory: &Path) -> String {
    let identity = workspace.record("IDENTITY.md").and_then(Record::content);
    let said = identity.and_then(|content| explicit_name(&content.text));
    let own = || directory.file_name().unwrap_or_default().to_string_lossy();
    said.map_or_else(|| own().into_owned(), str::to_owned)
}

/// Puts another persona in place of `SOUL.md`, where a hook of one release does so. A look shows only what is certain.
fn persona(
    setup: &Setup,
    root: &Root,
    policy: &ReadPolicy,
    workspace: &Arc<Workspace>,
    session: &str,
    notes: &mut Vec<String>,
) -> Option<Arc<Workspace>> {
    let (config, contract) = (setup.configuration.value(), setup.contract());
    if !persona_swap::is_configured(config, contract) {
        return None;
    }
    let moment = SwapMoment {
        dice: 1.0 - f64::EPSILON,
        minutes: Host::minutes_of_day(),
    };
    let records = workspace.records();
    let swapped = persona_swap::swapped(
        config,
        contract,
        Some(session),
        root,
        policy,
        records,
        moment,
    );
    let Some(persona) = swapped else {
        notes.push("a hook may replace `SOUL.md` by another persona on some turns".to_owned());
        return None;
    };
    notes.push("a hook replaces `SOUL.md` by another persona".to_owned());
    let records = records.iter().map(|record| {
        if record.path == persona.path {
            persona.clone()
        } else {
            record.clone()
        }
    });
    let swapped = Workspace::from_records(workspace.path(), contract, records.collect());
    Some(Arc::new(swapped))
}

/// Files that configuration adds from below the root.
fn added(
    setup: &Setup,
    files: FileSource<'_>,
    root: &Root,
    policy: &ReadPolicy,
    workspace: &Workspace,
    notes: &mut Vec<String>,
) -> Vec<Record> {
    let Some(mut patterns) = extras::patterns(setup.configuration.value()) else {
        return Vec::new();
    };
    if let FileSource::Copy(copy) = files {
        for pattern in &mut patterns {
            let copy = copy.copy_of(Path::new(pattern), &setup.directory);
            *pattern = copy.to_string_lossy().into_owned();
        }
    }
    let found = extras::find(
        root,
        &patterns,
        setup.contract(),
        policy,
        workspace.records(),
    );
    for diagnostic in found.diagnostics.iter().take(MAX_NAMED) {
        let reason = serde_json::to_value(diagnostic.reason).unwrap_or_default();
        let reason = reason.as_str().unwrap_or_default();
        let path = plain(&diagnostic.path.to_string_lossy(), '\u{fffd}');
        notes.push(format!("the extra file `{path}` was not loaded ({reason})"));
    }
    if found.diagnostics.len() > MAX_NAMED {
        let more = found.diagnostics.len() - MAX_NAMED;
        notes.push(format!("{more} more extra files were not loaded"));
    }
    found.records
}

/// Whether set-up is complete; only contracts that care are asked, since the answer costs a look at the disk.
fn status(host: &Host, setup: &Setup, root: &Root, directory: &Path) -> Option<SetupStatus> {
    let contract = setup.contract();
    let cares = contract.filters.setup_hides_bootstrap
        || contract.seeding.bootstrap_mode != BootstrapModeRule::Unknown;
    cares.then(|| {
        let home = chitin_home(host);
        let request = looking(setup, directory, home.as_deref());
        seed::status_for_turn(root, &request, &[&LegacyStateFiles])
    })
}

/// What a look at a workspace asks of seeding; nothing is written.
fn looking<'a>(setup: &Setup, directory: &'a Path, home: Option<&'a Path>) -> SeedRequest<'a> {
    SeedRequest {
        directory,
        contract: setup.contract(),
        files: SeedFiles::DirectoryOnly,
        templates: None,
        now: "",
        state_directory: home,
        vanished: OnVanished::SeedAgain,
        git: None,
    }
}

/// Puts what seeding would write in the place of files that are not there, and says whether set-up would be complete.
fn seeded_with(
    host: &Host,
    setup: &Setup,
    directory: &Path,
    workspace: Arc<Workspace>,
) -> Result<(Arc<Workspace>, SetupStatus), RuntimeError> {
    let home = chitin_home(host);
    let own = template_directory(host, setup, home.as_deref());
    let templates = own.as_deref().map(Templates::read).transpose();
    let unusable = |error: Box<dyn std::error::Error + Send + Sync>| {
        let message = "Could not determine what seeding would add.";
        RuntimeError::new(ErrorKind::User, message).caused_by(error)
    };
    let templates = templates.map_err(|error| unusable(Box::new(error)))?;
    let request = SeedRequest {
        files: SeedFiles::Templates,
        templates: templates.as_ref(),
        ..looking(setup, directory, home.as_deref())
    };
    let planned = seed::plan(&request).map_err(|error| unusable(Box::new(error)))?;
    let texts = seed::planned_texts(&request, &planned).into_iter();
    let seeded = texts.fold(workspace, |workspace, (name, text)| {
        Arc::new(workspace.with_text(&directory.join(name), &text))
    });
    Ok((seeded, planned.status))
}

/// Returns the template directory that the user configured.
pub fn template_directory(host: &Host, setup: &Setup, home: Option<&Path>) -> Option<PathBuf> {
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    let user_home = home::plain_home(&host.env);
    let base = home.unwrap_or_else(|| host.env.working_directory());
    own.templates
        .map(|text| home::path_from(&text, user_home.as_deref(), base))
}
