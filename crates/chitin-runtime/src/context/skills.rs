//! The list of skills that a turn's prompt shows.

use super::FileSource;
use crate::host::Host;
use crate::setup::Setup;
use chitin_context::catalogue::{self, LeftOutReason};
use chitin_workspace::contract::Layout;
use chitin_workspace::guard::Root;
use chitin_workspace::skills::{AllowList, DiscoverOptions, Eligibility, Severity, discover};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The catalogue of skills, ready to be shown. An adapter may have named those of the workspace.
pub(super) fn listed(
    host: &Host,
    setup: &Setup,
    files: FileSource<'_>,
    named: Option<&[PathBuf]>,
    window: Option<usize>,
    notes: &mut Vec<String>,
) -> Option<Arc<str>> {
    let (contract, config) = (setup.contract(), setup.configuration.value());
    if contract.rendering.layout == Layout::Composition {
        return None;
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
            Severity::Error => true,
            Severity::Warning => false,
        });
    match missed.count() {
        0 => {}
        missed => notes.push(format!(
            "skills are lost in {missed} place(s); `chitin skills check` says where and why"
        )),
    }
    if set.skills.is_empty() {
        return None;
    }
    let allowed = AllowList::for_agent(config, setup.agent.as_str(), contract);
    let eligibility = Eligibility::new(&host.env, config, &contract.skills);
    let ready: Vec<_> = set
        .skills
        .iter()
        .filter(|skill| allowed.allows(skill) && eligibility.judge(skill).is_empty())
        .map(Into::into)
        .collect();
    let limits = catalogue::limits(config, Some(setup.agent.as_str()), contract);
    // A home behind a link has two spellings, and both are written `~`.
    let home = host.env.get("HOME").map(PathBuf::from);
    let real = home.as_deref().and_then(|home| Root::open(home).ok());
    let real = real.as_ref().map(Root::real_path);
    let homes: Vec<&Path> = home.as_deref().into_iter().chain(real).collect();
    let list = catalogue::catalogue(&ready, limits, &homes, None, &contract.skills, window)?;
    let no_room = |reason: LeftOutReason| match reason {
        LeftOutReason::TooMany | LeftOutReason::TooLong => true,
        LeftOutReason::HiddenFromModel => false,
    };
    let hidden = list.left_out.iter().filter(|left| no_room(left.reason));
    match hidden.count() {
        0 => {}
        hidden => notes.push(format!(
            "{} of {} skills are listed; there is no room for {hidden}, `chitin skills` lists all",
            list.included, list.total
        )),
    }
    let text = list.text();
    (!text.trim().is_empty()).then(|| text.into())
}
