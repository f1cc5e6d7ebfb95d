//! Stored credentials: kind and place for anybody, the secret only for who asks (H40, H41, H42).

use crate::compat;
use crate::configuration::SecretReference;
use crate::database::{Database, Rows};
use crate::json::{text, whole};
use crate::problem::{Problems, sentence};
use crate::walk::{self, reading};
use chitin_guard::Root;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;

/// The largest file of credentials that is read.
const MAX_BYTES: u64 = 16 << 20;
/// How many rows a table of credentials may have.
const MAX_ROWS: u64 = 1_000;

const FILE: &str = "file";
const MIGRATED_FILE: &str = "file:migrated";
const SHARED: &str = "db:state config_machine_state authProfiles.store";
const OWN: &str = "db:agent auth_profile_store";

/// What a credential is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    /// A key of a provider.
    ApiKey,
    /// A token that is sent as it is.
    Token,
    /// Tokens of a login, which have to be renewed.
    Oauth,
    /// Something else, by its name.
    #[serde(untagged)]
    Other(String),
}

/// A credential in a store.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthProfile {
    /// Who may use it: `shared`, or `agent:` and an id.
    pub scope: String,
    /// Its id, usually provider and name.
    pub id: String,
    /// The provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What it is.
    pub kind: CredentialKind,
    /// Where it lies.
    pub from: &'static str,
    /// Where the secret is, if it is not stored here.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<SecretReference>,
    /// When it expires, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// The secret: the key, the token, or the access token of a login.
    #[serde(skip)]
    pub secret: Option<SecretString>,
    /// What renews a login.
    #[serde(skip)]
    pub refresh: Option<SecretString>,
}

impl AuthProfile {
    fn of(scope: &str, id: &str, profile: &Value, from: &'static str) -> Self {
        let kind = text(profile, "type").or_else(|| text(profile, "mode"));
        let (kind, field) = match kind.as_deref() {
            Some("api_key") => (CredentialKind::ApiKey, "key"),
            Some("token") => (CredentialKind::Token, "token"),
            Some("oauth") => (CredentialKind::Oauth, "access"),
            other => (
                CredentialKind::Other(other.unwrap_or("unknown").to_owned()),
                "key",
            ),
        };
        let secret = |name: &str| {
            let value = profile.get(name)?.as_str()?;
            (!value.is_empty()).then(|| SecretString::from(value))
        };
        let reference = profile
            .get(format!("{field}Ref"))
            .or_else(|| profile.get(field))
            .and_then(|value| SecretReference::of(value, ""));
        let named = id.split_once(':').map(|(provider, _)| provider.to_owned());
        Self {
            scope: scope.to_owned(),
            id: id.to_owned(),
            provider: text(profile, "provider").or(named),
            kind,
            from,
            reference,
            expires: whole(profile, "expires"),
            secret: secret(field),
            refresh: secret("refresh"),
        }
    }
}

/// A database of an agent and whose it is.
pub(crate) type AgentDatabase<'a> = (&'a str, Option<&'a Database>);

/// Returns every credential: those in the databases, then those of files that were not moved.
pub(crate) fn profiles(
    state: &Root,
    shared: Option<&Database>,
    agents: &[AgentDatabase<'_>],
    problems: &mut Problems,
) -> Vec<AuthProfile> {
    let mut found = Vec::new();
    if let Some(database) = shared {
        let store = Store {
            database,
            table: "config_machine_state",
            key: ("state_key", "authProfiles.store"),
            value: "value_json",
        };
        let scope = "shared";
        store.read(problems, &mut |store| {
            take(&mut found, scope, store, SHARED);
        });
    }
    for (agent, database) in agents {
        let Some(database) = database else { continue };
        let store = Store {
            database,
            table: "auth_profile_store",
            key: ("store_key", "primary"),
            value: "store_json",
        };
        let scope = format!("agent:{agent}");
        store.read(problems, &mut |store| take(&mut found, &scope, store, OWN));
    }
    for (agent, _) in agents {
        let directory = Path::new(compat::AGENTS).join(agent).join("agent");
        let live = directory.join(compat::AUTH_PROFILES);
        let scope = format!("agent:{agent}");
        if walk::is_there(state, &live) {
            let known: Vec<String> = of_agent(&found, agent)
                .map(|known| known.id.clone())
                .collect();
            if let Some(store) = file(state, &live, problems) {
                take(&mut found, &scope, &store, FILE);
            }
            // A row is the newer truth (H5).
            found.retain(|profile| {
                !(profile.from == FILE && profile.scope == scope && known.contains(&profile.id))
            });
        } else if of_agent(&found, agent).next().is_none() {
            // The last resort: a renamed file still has them (H42).
            let migrated = format!("{}{}", compat::AUTH_PROFILES, compat::MIGRATED);
            let names = walk::files(state, &directory);
            let last = names.iter().rfind(|name| name.starts_with(&migrated));
            if let Some(name) = last
                && let Some(store) = file(state, &directory.join(name), problems)
            {
                take(&mut found, &scope, &store, MIGRATED_FILE);
            }
        }
    }
    found
}

/// Returns what an agent has in databases; what the first agent had in a file is shared afterwards (H42).
fn of_agent<'a>(found: &'a [AuthProfile], agent: &'a str) -> impl Iterator<Item = &'a AuthProfile> {
    found.iter().filter(move |profile| {
        let is_own = profile.scope.strip_prefix("agent:") == Some(agent);
        is_own || (agent == compat::MAIN && profile.scope == "shared")
    })
}

fn take(found: &mut Vec<AuthProfile>, scope: &str, store: &Value, from: &'static str) {
    for (id, profile) in store["profiles"].as_object().into_iter().flatten() {
        found.push(AuthProfile::of(scope, id, profile, from));
    }
}

fn file(state: &Root, path: &Path, problems: &mut Problems) -> Option<Value> {
    let outcome = match state.read(path, &reading(MAX_BYTES)) {
        Ok(read) => serde_json::from_slice(&read.bytes).map_err(|error| {
            format!(
                "It is no JSON ({} column {}).",
                error.line(),
                error.column()
            )
        }),
        Err(error) => Err(sentence(&error)),
    };
    outcome.map_err(|message| problems.say(path, message)).ok()
}

/// JSON in one row of a table.
struct Store<'a> {
    database: &'a Database,
    table: &'a str,
    key: (&'a str, &'a str),
    value: &'a str,
}

impl Store<'_> {
    fn read(&self, problems: &mut Problems, each: &mut dyn FnMut(&Value)) {
        let wanted = Rows {
            table: self.table,
            needed: &[self.key.0, self.value],
            wanted: &[],
            of: Some(self.key),
            order: &[],
            most: MAX_ROWS,
        };
        let mut odd = false;
        let outcome = self.database.rows(&wanted, &mut |row| {
            match row.json(1) {
                Some(store) => each(&store),
                None => odd = true,
            }
            ControlFlow::Continue(())
        });
        if let Err(problem) = outcome {
            problems.add(problem);
        }
        if odd {
            let place = format!("{} {}", self.database.place(), self.table);
            problems.say(place, "Its credentials are no JSON.");
        }
    }
}
