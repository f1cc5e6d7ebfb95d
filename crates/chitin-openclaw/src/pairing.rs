//! Who was let in, and who asked to be (H60, H61, H62).

use crate::channels::ConfiguredChannel;
use crate::compat;
use crate::database::{Database, Rows};
use crate::json::{text, texts};
use crate::problem::{Problems, sentence};
use crate::sessions::StoredIn;
use crate::walk::{self, reading};
use chitin_guard::Root;
use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;

/// The largest pairing file that is read.
const MAX_BYTES: u64 = 16 << 20;
/// How many rows a table may have.
const MAX_ROWS: u64 = 1_000_000;

/// The senders that were approved for an account of a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Allowlist {
    /// The channel.
    pub channel: String,
    /// The account; none in files of the oldest releases.
    pub account: Option<String>,
    /// The senders, in the order in which they were approved.
    pub entries: Vec<String>,
    /// Where the list is kept.
    pub from: StoredIn,
}

/// A sender who asked to be let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingPairing {
    /// The channel.
    pub channel: String,
    /// The account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The sender.
    pub id: String,
    /// The code that the sender got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// When the sender asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Where the request is kept.
    pub from: StoredIn,
}

/// Returns both: rows first, then what only files have.
pub(crate) fn read(
    state: &Root,
    shared: Option<&Database>,
    channels: &[(String, ConfiguredChannel)],
    problems: &mut Problems,
) -> (Vec<Allowlist>, Vec<PendingPairing>) {
    let (mut lists, mut pending) = (Vec::new(), Vec::new());
    if let Some(database) = shared {
        in_database(database, &mut lists, &mut pending, problems);
    }
    let directory = Path::new(compat::CREDENTIALS);
    for name in walk::files(state, directory) {
        let path = directory.join(&name);
        if let Some(channel) = name.strip_suffix(compat::PAIRING_END) {
            let requests = file(state, &path, problems);
            let requests = requests["requests"].as_array().cloned().unwrap_or_default();
            for request in requests {
                let request = requested(channel, &request);
                let Some(request) = request else { continue };
                let is_known = |known: &PendingPairing| {
                    known.channel == request.channel && known.id == request.id
                };
                if !pending.iter().any(is_known) {
                    pending.push(request);
                }
            }
        } else if let Some((channel, account)) = list_name(&name, channels) {
            let value = file(state, &path, problems);
            let mut entries = texts(value.get("allowFrom"));
            let account_known = account.clone();
            let in_rows = lists.iter().find(|known: &&Allowlist| {
                known.channel == channel && known.account == account_known
            });
            if let Some(known) = in_rows {
                entries.retain(|entry| !known.entries.contains(entry));
            }
            if !entries.is_empty() {
                lists.push(Allowlist {
                    channel,
                    account,
                    entries,
                    from: StoredIn::File,
                });
            }
        }
    }
    (lists, pending)
}

fn in_database(
    database: &Database,
    lists: &mut Vec<Allowlist>,
    pending: &mut Vec<PendingPairing>,
    problems: &mut Problems,
) {
    let wanted = Rows {
        table: "channel_pairing_allow_entries",
        needed: &["channel_key", "account_id", "entry"],
        wanted: &[],
        of: None,
        order: &["channel_key", "account_id", "sort_order"],
        most: MAX_ROWS,
    };
    let allowed = database.rows(&wanted, &mut |row| {
        let (Some(channel), Some(entry)) = (row.text(0), row.text(2)) else {
            return ControlFlow::Continue(());
        };
        let account = row.text(1).map(str::to_owned);
        match lists.last_mut() {
            Some(list) if list.channel == channel && list.account == account => {
                list.entries.push(entry.to_owned());
            }
            Some(_) | None => lists.push(Allowlist {
                channel: channel.to_owned(),
                account,
                entries: vec![entry.to_owned()],
                from: StoredIn::Db,
            }),
        }
        ControlFlow::Continue(())
    });
    let wanted = Rows {
        table: "channel_pairing_requests",
        needed: &["channel_key", "account_id", "request_id"],
        wanted: &["code", "created_at"],
        of: None,
        order: &["channel_key", "account_id", "created_at"],
        most: MAX_ROWS,
    };
    let asked = database.rows(&wanted, &mut |row| {
        if let (Some(channel), Some(id)) = (row.text(0), row.text(2)) {
            pending.push(PendingPairing {
                channel: channel.to_owned(),
                account: row.text(1).map(str::to_owned),
                id: id.to_owned(),
                code: row.text(3).map(str::to_owned),
                created_at: row.text(4).map(str::to_owned),
                from: StoredIn::Db,
            });
        }
        ControlFlow::Continue(())
    });
    for problem in [allowed.err(), asked.err()].into_iter().flatten() {
        problems.add(problem);
    }
}

fn requested(channel: &str, request: &Value) -> Option<PendingPairing> {
    Some(PendingPairing {
        channel: channel.to_owned(),
        account: request.get("meta").and_then(|meta| text(meta, "accountId")),
        id: text(request, "id")?,
        code: text(request, "code"),
        created_at: text(request, "createdAt"),
        from: StoredIn::File,
    })
}

/// Splits `CHANNEL-ACCOUNT-allowFrom.json`. Both parts may have hyphens, so that known channels count first.
fn list_name(
    name: &str,
    channels: &[(String, ConfiguredChannel)],
) -> Option<(String, Option<String>)> {
    let rest = name.strip_suffix(compat::ALLOW_END)?.strip_suffix('-')?;
    let configured = channels.iter().map(|(name, _)| name.as_str());
    let known = configured
        .chain(compat::HYPHENATED_CHANNELS)
        .filter(|channel| {
            rest.strip_prefix(channel)
                .is_some_and(|more| more.is_empty() || more.starts_with('-'))
        })
        .max_by_key(|channel| channel.len());
    let channel = known.or_else(|| rest.split('-').next())?;
    let account = rest.strip_prefix(channel)?.strip_prefix('-');
    Some((channel.to_owned(), account.map(str::to_owned)))
}

fn file(state: &Root, path: &Path, problems: &mut Problems) -> Value {
    let outcome = match state.read(path, &reading(MAX_BYTES)) {
        Ok(read) => serde_json::from_slice(&read.bytes).map_err(|_| "It is no JSON.".to_owned()),
        Err(error) => Err(sentence(&error)),
    };
    outcome.unwrap_or_else(|message| {
        problems.say(path, message);
        Value::Null
    })
}

#[cfg(test)]
mod tests {
    use super::list_name;

    #[test]
    fn a_file_name_says_channel_and_account() {
        for (name, channel, account) in [
            (
                "telegram-default-allowFrom.json",
                "telegram",
                Some("default"),
            ),
            ("telegram-allowFrom.json", "telegram", None),
            ("telegram-my-bot-allowFrom.json", "telegram", Some("my-bot")),
            (
                "nextcloud-talk-a-allowFrom.json",
                "nextcloud-talk",
                Some("a"),
            ),
        ] {
            let expected = Some((channel.to_owned(), account.map(str::to_owned)));
            assert_eq!(list_name(name, &[]), expected, "{name}");
        }
        assert_eq!(list_name("telegram-pairing.json", &[]), None);
    }
}
