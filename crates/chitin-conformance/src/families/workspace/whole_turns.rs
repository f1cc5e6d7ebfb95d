//! The files of a whole turn, as they stand in a captured request: `turn`.

use super::contexts::redacted;
use super::rendering::{guided_block, rendered};
use crate::Check;
use crate::stage::Stage;
use anyhow::Result;
use chitin_context::FragmentOrigin;
use chitin_context::budget::BudgetLimits;
use chitin_context::files::{FilesIn, files};
use chitin_context::report::{system_notice, user_notice};
use chitin_context::sections::{Placed, PromptFacts, sections};
use chitin_contract::SectionKey;
use chitin_guard::Root;
use chitin_workspace::filter::{self, RunKind, TurnFacts};
use chitin_workspace::load::{LoadOptions, Loader};
use chitin_workspace::project::project_of;
use chitin_workspace::seed::{
    self, BootstrapMode, BootstrapRun, LegacyStateFiles, OnVanished, SeedFiles, SeedRequest,
    SetupStatus,
};
use chitin_workspace::snapshot::Record;
use serde_json::{Value, json};

/// The first turn of the main session. Every whole run of a release has a configuration, if only an empty one.
pub(super) fn turn(check: &Check<'_>) -> Result<Value> {
    let stage = Stage::build(check.input)?;
    let contract = check.contract;
    let root = Root::open(&stage.workspace)?;
    let workspace = Loader::new(&stage.workspace, contract, &LoadOptions::default()).load()?;
    let request = SeedRequest {
        directory: &stage.workspace,
        contract,
        files: SeedFiles::DirectoryOnly,
        templates: None,
        now: "",
        state_directory: None,
        vanished: OnVanished::AsContract,
        git: None,
    };
    let status = seed::status_for_turn(&root, &request, &[&LegacyStateFiles]);
    let is_hidden = status == SetupStatus::Complete && contract.filters.setup_hides_bootstrap;
    let bootstrap = workspace.record("BOOTSTRAP.md").and_then(Record::content);
    let mode = seed::bootstrap_mode(
        contract,
        &BootstrapRun {
            pending: status == SetupStatus::Pending,
            kind: RunKind::Default,
            primary: true,
            user_facing: true,
            can_read: true,
            own_workspace: true,
            loaded: !is_hidden && bootstrap.is_some_and(|text| !text.text.trim().is_empty()),
        },
    );
    let config = check.input.get("config").cloned().unwrap_or(json!({}));
    let linked_memory = if filter::judges_memory(&config) {
        filter::linked_memory(workspace.records(), contract, &root)
    } else {
        Vec::new()
    };
    let project = project_of(&stage.workspace, contract, &config);
    let facts = TurnFacts {
        session_key: Some("agent:main:main"),
        setup_complete: status == SetupStatus::Complete,
        bootstrap_full: mode == BootstrapMode::Full,
        linked_memory: &linked_memory,
        ..TurnFacts::default()
    };
    let limits = BudgetLimits::of(contract);
    let files = files(&FilesIn {
        workspace: &workspace,
        extras: &[],
        facts: &facts,
        limits: &limits,
        projects: project.as_slice(),
    });
    let lines = files.report.warning_lines(contract, &limits);
    let section = || {
        system_notice(&lines, contract)?;
        let facts = PromptFacts {
            files_cut: true,
            ..PromptFacts::default()
        };
        let key = SectionKey::FilesCut.name();
        let mut placed = sections(&contract.prompt, &facts).into_iter();
        placed.find_map(|part| match part {
            Placed::Section(fragment) if fragment.origin == (FragmentOrigin::Section { key }) => {
                Some(fragment.text())
            }
            Placed::Section(_) | Placed::Slot(_) => None,
        })
    };
    let notice = user_notice(&lines, contract).or_else(section);
    let redact = |text: &str| redacted(text, &stage);
    Ok(json!({
        "rendered": rendered(check, files.blocks, &redact)?,
        "notice": notice.map(|notice| guided_block(&notice)),
        "bootstrap_mode": mode,
    }))
}
