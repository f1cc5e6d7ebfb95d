//! Slack as a surface: which accounts there are, and which one does what.

use crate::account::Account;
use crate::compat::{EDIT_EVERY_MS, ID, MAX_CHARS, MAX_FILES};
use crate::settings::{Mode, SlackSettings};
use crate::{socket, web, webhook};
use chitin_gateway::surface::{
    self, Connection, FileLimits, Lack, Network, Probed, SurfaceAction, SurfaceOutcome, Threads,
    Webhook,
};
use chitin_gateway::{
    Address, Gateway, OutgoingMessage, Sent, Surface, SurfaceCapabilities, SurfaceError,
};
use chitin_protocol::agent_id::normalize_account_id;
use chitin_text::TextFormat;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use secrecy::SecretString;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Tells people what they should know.
pub type SlackNotes = Arc<dyn Fn(&str) + Send + Sync>;

/// What an account proves itself with.
#[derive(Debug, Clone)]
pub struct SlackTokens {
    /// Begins with `xoxb-`: for everything that is done on Slack.
    pub bot: SecretString,
    /// Begins with `xapp-`: Socket Mode needs it.
    pub app: Option<SecretString>,
    /// What Slack signs its calls with: HTTP needs it.
    pub signing_secret: Option<SecretString>,
}

/// Why there is no surface.
#[derive(Debug, thiserror::Error)]
pub enum SlackError {
    /// Calls cannot be made.
    #[error("Slack cannot be reached at all: {0}")]
    Client(String),
}

/// Slack, with all its accounts.
pub struct Slack {
    accounts: BTreeMap<String, Arc<Account>>,
    /// Accounts that are configured and have no token.
    bare: Vec<String>,
    capabilities: SurfaceCapabilities,
}

impl Slack {
    /// Makes the surface. Nothing is connected yet. Tokens are given by account; an account without any is shown as failed.
    ///
    /// # Errors
    ///
    /// When no client can be made.
    pub fn new(
        settings: &SlackSettings,
        tokens: BTreeMap<String, SlackTokens>,
        note: &SlackNotes,
    ) -> Result<Arc<Self>, SlackError> {
        let client = web::make(&settings.trust).map_err(SlackError::Client)?;
        let mut accounts = BTreeMap::new();
        for (id, tokens) in tokens {
            let id = normalize_account_id(&id);
            if settings.is_enabled(&id) {
                let own = settings.account(&id).clone();
                let account =
                    Account::new(id.clone(), own, tokens, client.clone(), Arc::clone(note));
                accounts.insert(id, Arc::new(account));
            }
        }
        let bare = settings.account_ids().into_iter();
        let bare = bare
            .filter(|id| settings.is_enabled(id) && !accounts.contains_key(id))
            .collect();
        Ok(Arc::new(Self {
            capabilities: capabilities(settings, &accounts),
            accounts,
            bare,
        }))
    }

    /// Returns what Slack calls over HTTP, for accounts in that mode.
    pub fn webhooks(self: &Arc<Self>) -> Vec<Arc<dyn Webhook>> {
        let accounts = self.accounts.values();
        accounts
            .filter(|account| account.settings.mode == Mode::Http)
            .map(|account| Arc::new(webhook::Hook(Arc::clone(account))) as Arc<dyn Webhook>)
            .collect()
    }

    /// Finds the account of a place: the one that it names, or the only one.
    fn account(&self, to: &Address) -> Result<&Arc<Account>, SurfaceError> {
        let id = normalize_account_id(to.account_id.as_deref().unwrap_or_default());
        if let Some(account) = self.accounts.get(&id) {
            return Ok(account);
        }
        let mut all = self.accounts.values();
        match (all.next(), all.next(), &to.account_id) {
            (Some(only), None, None) => Ok(only),
            _ => Err(SurfaceError::never(format!(
                "There is no account `{id}` on Slack."
            ))),
        }
    }
}

impl std::fmt::Debug for Slack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.accounts.keys()).finish()
    }
}

fn capabilities(
    settings: &SlackSettings,
    accounts: &BTreeMap<String, Arc<Account>>,
) -> SurfaceCapabilities {
    // What any account may do is declared; an account that may not says so.
    let own = accounts.values().map(|account| &account.settings);
    let all: Vec<_> = if accounts.is_empty() {
        vec![&settings.base]
    } else {
        own.collect()
    };
    let allowed: BTreeSet<&str> = all.iter().flat_map(|own| own.actions()).collect();
    let groups = crate::compat::ACTIONS.iter().flat_map(|(_, names)| *names);
    SurfaceCapabilities {
        format: TextFormat::Slack,
        max_chars: MAX_CHARS,
        max_lines: None,
        actions: groups
            .filter(|name| allowed.contains(*name))
            .map(|name| (*name).to_owned())
            .collect(),
        typing: false,
        threads: Threads::Replies,
        edit_every_ms: Some(EDIT_EVERY_MS),
        files: Some(FileLimits {
            count: MAX_FILES,
            bytes: all.iter().map(|own| own.media_max).max().unwrap_or(0),
        }),
    }
}

impl Surface for Slack {
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
        async move { self.account(to)?.say(to, message).await }.boxed()
    }

    fn act<'a>(
        &'a self,
        to: &'a Address,
        action: &'a SurfaceAction,
    ) -> BoxFuture<'a, Result<SurfaceOutcome, SurfaceError>> {
        async move { self.account(to)?.act(to, action).await }.boxed()
    }
}

impl Network for Slack {
    fn run(self: Arc<Self>, gateway: Gateway, cancel: CancellationToken) -> BoxFuture<'static, ()> {
        async move {
            let accounts = self.accounts.values().map(|account| {
                let (account, gateway) = (Arc::clone(account), gateway.clone());
                let cancel = cancel.child_token();
                async move {
                    match account.settings.mode {
                        Mode::Socket => socket::keep(account, gateway, cancel).await,
                        Mode::Http => webhook::keep(account, cancel).await,
                    }
                }
            });
            join_all(accounts).await;
        }
        .boxed()
    }

    fn accounts(&self) -> Vec<surface::Account> {
        let bare = self.bare.iter().map(|id| surface::Account {
            channel: ID.to_owned(),
            account_id: id.clone(),
            name: None,
            connection: Connection::Failed {
                reason: "There is no bot token.".to_owned(),
                hint: Some("Set `botToken`, or `SLACK_BOT_TOKEN` for the only account".to_owned()),
            },
        });
        let own = self.accounts.values().map(|account| account.standing());
        own.chain(bare).collect()
    }

    fn probe(&self) -> BoxFuture<'_, Vec<Probed>> {
        async move {
            let mut probed = join_all(self.accounts.values().map(|account| account.probe())).await;
            probed.extend(self.bare.iter().map(|id| Probed {
                account_id: id.clone(),
                name: None,
                works: Vec::new(),
                lacks: vec![Lack {
                        what: "There is no bot token.".to_owned(),
                        hint: Some(
                            "Copy it from the app's page `OAuth & Permissions` to `botToken`"
                                .to_owned(),
                        ),
                    }],
            }));
            probed
        }
        .boxed()
    }
}
