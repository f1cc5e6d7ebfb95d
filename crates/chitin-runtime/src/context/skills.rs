//! The list of skills that a turn's prompt shows.

use super::FileSource;
use crate::host::Host;
use crate::setup::{Setup, state_roots};
use chitin_context::catalogue::{self, LeftOutReason};
use chitin_contract::BlockLayout;
use chitin_guard::Root;
use chitin_workspace::skills::{
    AllowList, DiscoverOptions, Eligibility, ProblemSeverity, Skill, discover,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The skills of a turn.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// The catalogue, ready to be shown.
    pub(super) text: Option<Arc<str>>,
    /// The directories of skills that lie outside of the workspace.
    pub(super) roots: Vec<PathBuf>,
}

/// Finds the skills of a turn. An adapter may have named those of the workspace.
pub(super) fn listed(
    host: &Host,
    setup: &Setup,
    files: FileSource<'_>,
    named: Option<&[PathBuf]>,
    window: Option<usize>,
    notes: &mut Vec<String>,
) -> Listed {
    let (contract, config) = (setup.contract(), setup.configuration.value());
    if contract.rendering.layout == BlockLayout::Composition {
        return Listed::default();
    }
    let release = setup.release(host);
    let mut places = setup.catalogue_places(host, &release);
    places.named = named.map(<[_]>::to_vec);
    if let FileSource::Copy(copy) = files {
        places.workspace.clone_from(&copy.root);
    }
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    let mut set = discover(
        &places,
        config,
        &contract.skills,
        &DiscoverOptions::of(&own),
    );
    if let FileSource::Copy(copy) = files {
        set = copy.respell_skills(set, &setup.directory);
    }
    let missed = set
        .problems
        .iter()
        .filter(|problem| match problem.severity {
            ProblemSeverity::Error => true,
            ProblemSeverity::Warning => false,
        });
    match missed.count() {
        0 => {}
        missed => notes.push(format!(
            "skills in {missed} place(s) could not be loaded; `chitin skills check` says where and why"
        )),
    }
    if set.skills.is_empty() {
        return Listed::default();
    }
    let allowed = AllowList::for_agent(config, setup.agent.as_str(), contract);
    let eligibility = Eligibility::new(&host.env, config, &contract.skills);
    let ready: Vec<_> = set
        .skills
        .iter()
        .filter(|skill| allowed.allows(skill) && eligibility.judge(skill).is_empty())
        .collect();
    let roots = outside(host, setup, &ready);
    let ready: Vec<_> = ready.into_iter().map(Into::into).collect();
    let limits = catalogue::limits(config, Some(setup.agent.as_str()), contract);
    // A home behind a link has two spellings, and both are written `~`.
    let home = host.env.get("HOME").map(PathBuf::from);
    let real = home.as_deref().and_then(|home| Root::open(home).ok());
    let real = real.as_ref().map(Root::real_path);
    let homes: Vec<&Path> = home.as_deref().into_iter().chain(real).collect();
    let list = catalogue::catalogue(&ready, limits, &homes, None, &contract.skills, window);
    let Some(list) = list else {
        return Listed { text: None, roots };
    };
    let no_room = |reason: LeftOutReason| match reason {
        LeftOutReason::TooMany | LeftOutReason::TooLong => true,
        LeftOutReason::HiddenFromModel => false,
    };
    let hidden = list.left_out.iter().filter(|left| no_room(left.reason));
    match hidden.count() {
        0 => {}
        hidden => notes.push(format!(
            "{} of {} skills are in the prompt; {hidden} did not fit, `chitin skills` lists all",
            list.included, list.total
        )),
    }
    let text = list.text();
    Listed {
        text: (!text.trim().is_empty()).then(|| text.into()),
        roots,
    }
}

/// Returns the directories of skills that lie outside of the workspace, for tools to read. A directory with the home, a state
/// root or the workspace in it is more than a skill, and stays as it is.
fn outside(host: &Host, setup: &Setup, skills: &[&Skill]) -> Vec<PathBuf> {
    let real = |path: &Path| {
        Root::open(path)
            .ok()
            .map(|root| root.real_path().to_owned())
    };
    let Some(workspace) = real(&setup.directory) else {
        return Vec::new();
    };
    let home = host.env.get("HOME").map(PathBuf::from);
    let kept = state_roots(host, setup.contract()).into_iter().chain(home);
    let kept: Vec<_> = kept.filter_map(|path| real(&path)).collect();
    let is_skill = |directory: &&PathBuf| {
        real(directory).is_some_and(|directory| {
            !directory.starts_with(&workspace)
                && !workspace.starts_with(&directory)
                && !kept.iter().any(|kept| kept.starts_with(&directory))
        })
    };
    let directories = skills.iter().map(|skill| &skill.directory);
    directories.filter(is_skill).cloned().collect()
}
