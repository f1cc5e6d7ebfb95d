//! A workspace as `chitin check` looks at it: all that the rules need, read once.

use crate::context::{
    DirectoryClaim, FileSource, TurnRequest, WhichTurn, definition_notes, named_skills,
};
use crate::error::{ErrorKind, RuntimeError};
use crate::{Host, Setup};
use chitin_check::{
    Bounds, CheckInput, CheckReport, ClaimedBy, FixError, Gathered, PlannedFix, SkillFile,
    TextLimits,
};
use chitin_config::settings::settings;
use chitin_guard::{ReadPolicy, Root};
use chitin_model::providers::TABLE;
use chitin_workspace::Workspace;
use chitin_workspace::load::{self, LoadOptions};
use chitin_workspace::seed;
use chitin_workspace::skills::{DiscoverOptions, SkillPlaces, discover};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Everything that a check looks at.
pub struct WorkspaceCheck {
    workspace: Arc<Workspace>,
    root: Root,
    gathered: Gathered,
    skills: Vec<SkillFile>,
    limits: TextLimits,
    shortened: Vec<(String, String)>,
    providers: Vec<String>,
    claimed: Option<Claimed>,
    /// The workspaces that are composed with it, by the names that refusals give them.
    composed: Vec<(String, Root)>,
    policy: ReadPolicy,
}

/// An adapter other than OpenClaw's that reads the directory.
struct Claimed {
    adapter: String,
    notes: Vec<String>,
}

impl WorkspaceCheck {
    /// Reads a workspace for checking. What cannot be read is a finding, not an end.
    pub fn load(host: &Host, setup: &Setup) -> Result<Self, RuntimeError> {
        // Of their files only those are checked that hold for every turn; without one of them no turn runs.
        setup.check_composed(host)?;
        let composed = setup.with.iter().filter_map(|other| {
            let name = other.file_name().unwrap_or(other.as_os_str());
            Some((name.to_string_lossy().into_owned(), Root::open(other).ok()?))
        });
        let contract = setup.contract();
        let unusable = |source: Box<dyn std::error::Error + Send + Sync>| {
            let message = format!(
                "Could not use `{}` as a workspace.",
                setup.directory.display()
            );
            RuntimeError::new(ErrorKind::User, message).caused_by(source)
        };
        let options = LoadOptions {
            tolerate_unreadable: true,
            ..setup.options.clone()
        };
        let mut named = None;
        let (workspace, claimed) = match setup.claim(host)? {
            DirectoryClaim::Workspace => {
                let loaded = load::load(&setup.directory, contract, &options);
                (loaded.map_err(|e| unusable(Box::new(e)))?, None)
            }
            DirectoryClaim::Adapter(definition) => {
                let claimed = Claimed {
                    notes: definition_notes(&definition),
                    adapter: definition.adapter_name.clone(),
                };
                let workspace = setup.claimed_workspace(host, &definition)?;
                named = named_skills(&definition);
                (Arc::new(workspace), Some(claimed))
            }
        };
        let root = Root::open(&setup.directory).map_err(|error| unusable(Box::new(error)))?;
        let loaded: Vec<&str> = workspace
            .records()
            .iter()
            .filter_map(|record| record.path.strip_prefix(&setup.directory).ok()?.to_str())
            .collect();
        let mut gathered = chitin_check::gather(&root, &loaded, &Bounds::default());
        let policy = load::read_policy(contract, &setup.options);
        gathered.read_extensions(&root, &policy);
        let places = SkillPlaces {
            named,
            ..setup.skill_places(host)
        };
        let config = setup.configuration.value();
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let set = discover(
            &places,
            config,
            &contract.skills,
            &DiscoverOptions::of(&own),
        );
        let skills = chitin_check::skill_files(&set, &setup.directory, &gathered.files);
        // Limits of the user's own are the context's business, which knows tokens and plans.
        let reckons_by_own = own.budget.is_some() || own.small_window.is_some();
        let (limits, shortened) = if reckons_by_own {
            (TextLimits::unlimited(), shortened(host, setup)?)
        } else {
            let settings = settings(config, Some(setup.agent.as_str()), contract);
            (
                TextLimits::of(contract).with_settings(&settings),
                Vec::new(),
            )
        };
        Ok(Self {
            workspace,
            root,
            gathered,
            skills,
            limits,
            shortened,
            providers: providers(setup),
            claimed,
            composed: composed.collect(),
            policy,
        })
    }
    /// Returns the findings, without those of the rules to ignore.
    pub fn report(&self, ignore: &[String]) -> CheckReport {
        let root = &self.root;
        let mut report = chitin_check::check(&CheckInput {
            root: Some(root),
            files: &self.gathered.files,
            names: &self.gathered.names,
            notes: &self.gathered.notes,
            unusable: &self.gathered.unusable,
            skills: &self.skills,
            templates: &seed::TEMPLATES,
            limits: self.limits,
            shortened: &self.shortened,
            directory_mode: root.permissions(Path::new("")),
            providers: &self.providers,
            claimed: self.claimed.as_ref().map(|claimed| ClaimedBy {
                adapter: &claimed.adapter,
                notes: &claimed.notes,
            }),
            ignore,
            ..CheckInput::new(&self.workspace)
        });
        for (name, root) in &self.composed {
            report.add_composed(name, root, &self.policy, ignore);
        }
        report
    }

    /// Makes a change that a finding plans. What was loaded before is stale then.
    pub fn fix(&self, planned: &PlannedFix) -> Result<(), FixError> {
        chitin_check::apply(&self.root, planned)
    }
}

/// Lists the providers of models that are known: built in, and configured.
fn providers(setup: &Setup) -> Vec<String> {
    let built_in = TABLE.iter().map(|provider| provider.id.to_owned());
    let own = setup.configuration.providers.keys().cloned();
    let models = setup.configuration.value().pointer("/models/providers");
    let openclaw = models.and_then(Value::as_object);
    let openclaw = openclaw.into_iter().flat_map(|providers| providers.keys());
    built_in.chain(own).chain(openclaw.cloned()).collect()
}

/// What a first turn leaves out of files by the user's own limits and plans.
fn shortened(host: &Host, setup: &Setup) -> Result<Vec<(String, String)>, RuntimeError> {
    let first = TurnRequest {
        turn: WhichTurn::First,
        ..TurnRequest::default()
    };
    let context = first
        .workspace_context(host, setup, FileSource::Disk)?
        .context;
    let shortened = context.shortened().into_iter().map(|(record, reason)| {
        let record = &context.files.records[record];
        let below = record.path.strip_prefix(&setup.directory);
        let path = below.unwrap_or(&record.path).to_string_lossy().into_owned();
        (
            path,
            format!(
                "`{}` is not completely in the prompt: {reason}.",
                record.name
            ),
        )
    });
    Ok(shortened.collect())
}
