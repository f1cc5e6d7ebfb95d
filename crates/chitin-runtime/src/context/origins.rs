//! Where the texts of a context come from, and what is taken away because of it.

use super::sent::{History, store};
use super::{TurnContext, TurnRequest};
use crate::factory::untrusted_rules;
use crate::file_origins::WorkspaceFileOrigins;
use crate::host::Host;
use crate::setup::{Setup, chitin_home};
use chitin_agent::origins::of_injected;
use chitin_agent::source::RecalledPath;
use chitin_agent::turn::read_origins;
use chitin_config::ChitinSettings;
use chitin_protocol::origin::{ContextOrigins, Origin, TakenAway, UntrustedText, add_origins};
use chitin_tools::policy::normalize_name;
use chitin_tools::rights::{GuestRights, Rights};
use chitin_tools::untrusted::{Untrusted, UntrustedRules};
use chitin_workspace::snapshot::RecordState;
use std::path::PathBuf;
use std::sync::Arc;

/// Who wrote the message of a turn that is shown as a guest's.
const SENDER: &str = "the guest";

/// Finds out where the texts of a context come from. The session's transcript is read where it is sent again.
pub(crate) fn find(
    request: &TurnRequest,
    host: &Host,
    setup: &Setup,
    context: &TurnContext,
    history: &History,
) -> ContextOrigins {
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    let rules = untrusted_rules(&own);
    let mut found = Vec::new();
    let is_kept = matches!(history, History::Kept(_) | History::Unreadable(_));
    if is_kept {
        add_origins(&mut found, &of_history(host, setup, &context.session));
    }
    add_origins(&mut found, &of_files(host, setup, context, &rules));
    if request.guest {
        add_origins(&mut found, [&Origin::guest(SENDER)]);
    }
    found.retain(|origin| !rules.trusts(origin));
    let rights = Rights {
        guest: request.guest.then(GuestRights::default),
        untrusted: Untrusted {
            origins: found.clone(),
            rules: Arc::new(rules.clone()),
            ..Untrusted::default()
        },
    };
    let taken_away = if rights.untrusted_origins().is_empty() {
        Vec::new()
    } else {
        taken_away(&rules, &own, setup, &context.tools)
    };
    let untrusted = found.into_iter().map(|origin| UntrustedText {
        text: origin.to_string(),
        origin,
    });
    ContextOrigins {
        trusted: trusted(context, is_kept, request),
        untrusted: untrusted.collect(),
        taken_away,
    }
}

fn of_history(host: &Host, setup: &Setup, session: &str) -> Vec<Origin> {
    let found = store(host, setup).and_then(|store| read_origins(&store, session).ok());
    found.unwrap_or_default()
}

fn of_files(
    host: &Host,
    setup: &Setup,
    context: &TurnContext,
    rules: &UntrustedRules,
) -> Vec<Origin> {
    let Some(state) = chitin_home(host) else {
        return Vec::new();
    };
    let files = WorkspaceFileOrigins::new(host, setup, &state, &setup.directory);
    let records = context.context.files.records.iter();
    let mut paths: Vec<PathBuf> = records.map(|record| record.path.clone()).collect();
    let mut found = Vec::new();
    for recalled in &context.recalled {
        match recalled {
            RecalledPath::Note(path) => paths.push(setup.directory.join(path)),
            RecalledPath::Conversation { path, origins } => {
                found.extend(rules.of_session(path, origins.clone()));
            }
        }
    }
    found.extend(of_injected(&files, &setup.directory, &paths));
    found
}

fn trusted(context: &TurnContext, is_kept: bool, request: &TurnRequest) -> Vec<String> {
    let mut trusted = vec!["the system prompt".to_owned()];
    let records = context.context.files.records.iter();
    let present = records.filter(|record| matches!(record.state, RecordState::Present(_)));
    match present.count() {
        0 => {}
        1 => trusted.push("1 workspace file".to_owned()),
        count => trusted.push(format!("{count} workspace files")),
    }
    if is_kept {
        trusted.push("the owner's messages in the history".to_owned());
    }
    if request.message.is_some() && !request.guest {
        trusted.push("the message".to_owned());
    }
    trusted
}

/// Says what needs the owner in a context with untrusted text, of the tools that there are.
fn taken_away(
    rules: &UntrustedRules,
    own: &ChitinSettings,
    setup: &Setup,
    tools: &[String],
) -> Vec<TakenAway> {
    let known = &setup.contract().runtime.tools;
    let has = |tool: &str| tools.iter().any(|name| normalize_name(known, name) == tool);
    let reaches_out = own.exec.network == Some(true)
        || own.exec.unix_sockets == Some(true)
        || own.exec.sandbox == Some(chitin_protocol::settings::SandboxSetting::None);
    let commands = if reaches_out {
        "run commands, because they can reach the network"
    } else {
        "let commands change files that the agent is made of"
    };
    let writes = ["write", "edit", "apply_patch"].into_iter().any(has);
    let mut all = vec![
        (
            "message",
            has("message"),
            "send something to other places than the session's own",
        ),
        (
            "sessions_send",
            has("sessions_send"),
            "send messages to sessions other than its own children",
        ),
        ("cron", has("cron"), "change schedules"),
        (
            "write",
            writes,
            "change files that the agent is made of, such as `AGENTS.md`, `MEMORY.md` and skills",
        ),
        ("exec", has("exec"), commands),
    ];
    all.retain(|(entry, is_there, _)| *is_there && !rules.allows(entry));
    let mut taken: Vec<TakenAway> = all
        .into_iter()
        .map(|(allow, _, what)| TakenAway {
            what: what.to_owned(),
            allow: allow.to_owned(),
        })
        .collect();
    let servers = tools.iter().filter(|tool| tool.contains("__"));
    taken.extend(
        servers
            .filter(|tool| !rules.allows(tool))
            .map(|tool| TakenAway {
                what: format!("call `{tool}`"),
                allow: tool.clone(),
            }),
    );
    let denied = tools
        .iter()
        .filter(|tool| rules.denies(tool) && !rules.allows(tool));
    taken.extend(denied.map(|tool| TakenAway {
        what: format!("call `{tool}`, which `access.untrusted.deny` names"),
        allow: tool.clone(),
    }));
    taken
}
