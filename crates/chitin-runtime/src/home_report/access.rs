//! Channels and who may write to whom.

use super::{HomeLine, OTHER_CHANNELS, is_spoken};
use chitin_openclaw::{HomeContents, StoredIn};
use serde_json::Value;

pub(super) fn channels(contents: &HomeContents) -> Vec<HomeLine> {
    let channels = contents.channels.iter();
    channels
        .map(|(name, channel)| {
            let is_off = channel.enabled == Some(false);
            let line = if is_spoken(name) {
                HomeLine::differs(
                    name,
                    format!("connected once you ask: `chitin channels login {name} --as-configured`, with OpenClaw stopped"),
                )
            } else {
                HomeLine::unsupported(name, OTHER_CHANNELS)
            };
            line.kept(if is_off { "off" } else { "on" })
        })
        .collect()
}

pub(super) fn routes(contents: &HomeContents) -> Vec<HomeLine> {
    let bindings = contents.bindings.iter();
    bindings
        .map(|binding| {
            let agent = binding["agentId"].as_str().unwrap_or("?");
            let part = |value: &Value| value.as_str().map(str::to_owned);
            let matched = &binding["match"];
            let channel = part(&matched["channel"]);
            let place: Vec<String> = [
                channel.clone(),
                part(&matched["accountId"]),
                part(&matched["peer"]["kind"]),
                part(&matched["peer"]["id"]),
            ]
            .into_iter()
            .flatten()
            .collect();
            let name = format!("{} to {agent}", place.join(" "));
            if channel.as_deref().is_none_or(is_spoken) {
                HomeLine::works(name)
            } else {
                HomeLine::unsupported(name, OTHER_CHANNELS)
            }
        })
        .collect()
}

pub(super) fn allowlists(contents: &HomeContents) -> Vec<HomeLine> {
    let mut lines = Vec::new();
    for (name, channel) in &contents.channels {
        let groups = [
            ("allowFrom", &channel.allow_from),
            ("groupAllowFrom", &channel.group_allow_from),
        ];
        for (field, senders) in groups {
            for sender in senders {
                let said = format!("{name} {sender}");
                let line = if is_spoken(name) {
                    HomeLine::works(said)
                } else {
                    HomeLine::unsupported(said, OTHER_CHANNELS)
                };
                lines.push(line.kept(format!("openclaw.json, {field}")));
            }
        }
    }
    for list in &contents.allowlists {
        for sender in &list.entries {
            let said = format!("{} {sender}", list.channel);
            let line = if is_spoken(&list.channel) {
                HomeLine::unsupported(
                    said,
                    format!(
                        "approvals by pairing are not read; add it to `channels.{}.allowFrom`, or approve it again",
                        list.channel
                    ),
                )
            } else {
                HomeLine::unsupported(said, OTHER_CHANNELS)
            };
            lines.push(line.kept(format!("approved, {}", kept(list.from))));
        }
    }
    lines
}

pub(super) fn pairings(contents: &HomeContents) -> Vec<HomeLine> {
    let pending = contents.pending_pairings.iter();
    pending
        .map(|request| {
            let name = format!("{} {}", request.channel, request.id);
            HomeLine::unsupported(
                name,
                "codes are valid for an hour; whoever writes again gets a new one",
            )
            .kept(format!("asked, {}", kept(request.from)))
        })
        .collect()
}

pub(super) fn owners(contents: &HomeContents) -> Vec<HomeLine> {
    let owners = contents.owners.iter();
    owners
        .map(|owner| {
            let channel = owner.split_once(':').map(|(channel, _)| channel);
            let line = if channel.is_none_or(is_spoken) {
                HomeLine::works(owner)
                    .noted("has all rights; OpenClaw adds whoever was approved first")
            } else {
                HomeLine::unsupported(owner, OTHER_CHANNELS)
            };
            line.kept("openclaw.json, commands.ownerAllowFrom")
        })
        .collect()
}

fn kept(from: StoredIn) -> &'static str {
    match from {
        StoredIn::File => "file",
        StoredIn::Db => "SQLite",
    }
}
