//! The surface.

use crate::account::Account;
use crate::compat::{ID, MOST_FILES};
use crate::fetch::Files;
use crate::intake::Ears;
use crate::positions::PositionStore;
use crate::rest::{self, Rest};
use crate::settings::{DEFAULT, DiscordSettings};
use crate::{act, listen, probe, send};
use chitin_gateway::surface::{
    self, FileLimits, Network, Probed, Surface, SurfaceAction, SurfaceError, SurfaceOutcome,
    Threads,
};
use chitin_gateway::{Address, Gateway, OutgoingMessage, Sent, SurfaceCapabilities};
use chitin_protocol::agent_id::normalize_account_id;
use chitin_text::TextFormat;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use rustls::ClientConfig;
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Tells people what they should know.
pub type DiscordNotes = Arc<dyn Fn(&str) + Send + Sync>;

/// The least time between two changes of a message, in milliseconds. Discord takes five changes in five seconds.
const EDIT_EVERY_MS: u64 = 1_200;

/// Discord.
pub struct Discord {
    capabilities: SurfaceCapabilities,
    accounts: BTreeMap<String, Arc<Account>>,
    gateway_url: Option<String>,
    /// TLS with authorities of the user's own, where there are any.
    own_tls: Option<Arc<ClientConfig>>,
    memory: Arc<PositionStore>,
}

/// Why there can be no Discord.
#[derive(Debug, thiserror::Error)]
pub enum DiscordError {
    /// No account has a token.
    #[error("no account of Discord has a token")]
    NoToken,
    /// A token cannot be one.
    #[error("the token of the account `{0}` has signs in it that no token has")]
    OddToken(String),
    /// HTTP cannot be set up.
    #[error("{0}")]
    Http(String),
}

impl Discord {
    /// Makes the surface. Nothing is connected yet. Accounts without a token are left out, and said so.
    pub fn new(
        settings: &DiscordSettings,
        tokens: BTreeMap<String, SecretString>,
        memory: PositionStore,
        note: &DiscordNotes,
    ) -> Result<Arc<Self>, DiscordError> {
        // Fails only when somebody was faster, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let tls = settings.trust.tls().map_err(DiscordError::Http)?;
        let client = rest::client(tls.clone()).map_err(DiscordError::Http)?;
        let without = settings
            .accounts
            .iter()
            .filter(|(id, account)| account.enabled && !tokens.contains_key(*id));
        for (id, _) in without {
            note(&format!(
                "discord `{id}`: there is no token for this account, it is left out"
            ));
        }
        let mut accounts = BTreeMap::new();
        for (id, token) in tokens {
            let id = normalize_account_id(&id);
            let own = settings
                .accounts
                .get(&id)
                .unwrap_or(&settings.usual)
                .clone();
            if !own.enabled {
                continue;
            }
            let token = bare(&token);
            if token.expose_secret().is_empty() {
                continue;
            }
            if !token
                .expose_secret()
                .bytes()
                .all(|byte| byte.is_ascii_graphic())
            {
                return Err(DiscordError::OddToken(id));
            }
            let api = settings.api_url.as_ref().map(ToString::to_string);
            let account = Account {
                rest: Rest::new(client.clone(), api, token),
                files: Files::new(client.clone(), settings.api_url.clone()),
                settings: own,
                ears: Ears::default(),
                note: Arc::clone(note),
                unreadable: std::sync::atomic::AtomicU64::new(0),
                told_of_no_content: std::sync::atomic::AtomicBool::new(false),
                id: id.clone(),
            };
            accounts.insert(id, Arc::new(account));
        }
        if accounts.is_empty() {
            return Err(DiscordError::NoToken);
        }
        Ok(Arc::new(Self {
            capabilities: SurfaceCapabilities {
                format: TextFormat::Discord,
                max_chars: settings.max_chars,
                max_lines: Some(settings.max_lines),
                actions: settings.actions(),
                typing: true,
                threads: Threads::Channels,
                edit_every_ms: Some(EDIT_EVERY_MS),
                files: Some(FileLimits {
                    count: MOST_FILES,
                    bytes: settings.largest_file(),
                }),
            },
            gateway_url: settings.gateway_url.as_ref().map(ToString::to_string),
            own_tls: settings.trust.file().map(|_| Arc::new(tls)),
            accounts,
            memory: Arc::new(memory),
        }))
    }

    /// Finds the account that acts at a place. One that is not named is the usual one, or the only one.
    fn account(&self, to: &Address) -> Result<&Arc<Account>, SurfaceError> {
        let found = match to.account_id.as_deref() {
            None | Some("" | DEFAULT) => self
                .accounts
                .get(DEFAULT)
                .or_else(|| self.accounts.values().next()),
            Some(id) => self.accounts.get(&normalize_account_id(id)),
        };
        found.ok_or_else(|| {
            let id = to.account_id.as_deref().unwrap_or(DEFAULT);
            SurfaceError::never(format!("There is no account `{id}` on Discord."))
        })
    }
}

/// Takes off what some write before a token.
fn bare(token: &SecretString) -> SecretString {
    let text = token.expose_secret().trim();
    SecretString::from(text.strip_prefix("Bot ").unwrap_or(text).trim().to_owned())
}

impl Surface for Discord {
    fn id(&self) -> &str {
        ID
    }

    fn capabilities(&self) -> &SurfaceCapabilities {
        &self.capabilities
    }

    fn send<'a>(
        &'a self,
        to: &'a Address,
        message: &'a OutgoingMessage,
    ) -> BoxFuture<'a, Result<Sent, SurfaceError>> {
        async move { send::send(self.account(to)?, to, message).await }.boxed()
    }

    fn act<'a>(
        &'a self,
        to: &'a Address,
        action: &'a SurfaceAction,
    ) -> BoxFuture<'a, Result<SurfaceOutcome, SurfaceError>> {
        async move {
            let name = action.name();
            // The gateway itself changes messages and shows that somebody types, whatever a model may do.
            let known = matches!(action, SurfaceAction::Typing | SurfaceAction::Edit { .. })
                || self.capabilities.actions.iter().any(|known| known == name);
            if !known {
                return Err(SurfaceError::unsupported(name));
            }
            act::act(self.account(to)?, to, action).await
        }
        .boxed()
    }
}

impl Network for Discord {
    fn run(self: Arc<Self>, gateway: Gateway, cancel: CancellationToken) -> BoxFuture<'static, ()> {
        async move {
            let listening = self.accounts.values().map(|account| {
                let way = listen::EventTransport {
                    gateway_url: self.gateway_url.clone(),
                    own_tls: self.own_tls.clone(),
                };
                listen::run(
                    Arc::clone(account),
                    way,
                    gateway.clone(),
                    Arc::clone(&self.memory),
                    cancel.clone(),
                )
            });
            join_all(listening).await;
        }
        .boxed()
    }

    fn accounts(&self) -> Vec<surface::Account> {
        let account = |account: &Arc<Account>| surface::Account {
            channel: ID.to_owned(),
            account_id: account.id.clone(),
            name: account.ears.standing.me().map(|me| me.name),
            connection: account.ears.standing.connection(),
        };
        self.accounts.values().map(account).collect()
    }

    fn probe(&self) -> BoxFuture<'_, Vec<Probed>> {
        let probing = self.accounts.values().map(|account| probe::probe(account));
        join_all(probing).boxed()
    }
}

impl std::fmt::Debug for Discord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Discord")
            .field("accounts", &self.accounts.keys())
            .finish_non_exhaustive()
    }
}
