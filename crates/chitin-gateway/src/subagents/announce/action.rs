//! What a parent is asked to do with a result (R42).

use super::texts;
use chitin_contract::{AnnounceAsks, AnnounceRules, ParentOnly};
use chitin_protocol::session_key::{self, KeyGrammar};
use chitin_protocol::text::utf16_prefix;
use chitin_text::compat::NO_REPLY;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long words of a user's own may be, in UTF-16 units.
const MOST_OWN: usize = 4000;

/// Who began the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Requester {
    /// A session that nobody sees: a subagent or a schedule.
    Internal,
    /// A session with a user.
    Visible,
}

impl Requester {
    /// Tells by the key of a session whether anybody sees it.
    pub fn of(session_key: &str, grammar: KeyGrammar) -> Self {
        let internal = session_key::is_subagent(session_key, grammar)
            || session_key::is_cron(session_key, grammar);
        if internal {
            Self::Internal
        } else {
            Self::Visible
        }
    }
}

/// For whom a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CompletionTarget {
    /// For whoever the parent speaks to.
    #[default]
    Usual,
    /// For the parent alone.
    Parent,
}

/// The kind of thing that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ActionClass {
    /// To take it in and tell the one above.
    InternalUpdate,
    /// To look at it, go on if need be, and then tell the user.
    ParentReview,
    /// To tell the user now.
    UserDelivery,
    /// To take it in; the reply goes nowhere.
    Private,
}

impl ActionClass {
    /// Returns the name as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InternalUpdate => "internal-update",
            Self::ParentReview => "parent-review",
            Self::UserDelivery => "user-delivery",
            Self::Private => "private",
        }
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnnounceAction {
    /// The kind.
    pub class: ActionClass,
    /// Whether the parent may answer with silence.
    pub may_stay_silent: bool,
}

/// Says what a parent is asked to do.
pub fn action(
    requester: Requester,
    expects_message: bool,
    target: CompletionTarget,
    rules: &AnnounceRules,
) -> AnnounceAction {
    let (class, may_stay_silent) = match (target, rules.parent_only, requester, rules.asks) {
        (CompletionTarget::Parent, ParentOnly::Private, _, _) => (ActionClass::Private, true),
        (_, _, Requester::Internal, _) => (ActionClass::InternalUpdate, true),
        (_, _, Requester::Visible, AnnounceAsks::Delivery) => {
            (ActionClass::UserDelivery, !expects_message)
        }
        (_, _, Requester::Visible, AnnounceAsks::Review) => (ActionClass::ParentReview, true),
    };
    AnnounceAction {
        class,
        may_stay_silent,
    }
}

/// Returns the words for it: the user's own, if there are any, or ours.
pub fn action_text(action: AnnounceAction, announce_type: &str, own: Option<&str>) -> String {
    if let Some(own) = own.map(str::trim).filter(|own| !own.is_empty()) {
        return utf16_prefix(own, MOST_OWN).to_owned();
    }
    let mut text = match action.class {
        ActionClass::InternalUpdate => texts::INTERNAL_UPDATE.to_owned(),
        ActionClass::ParentReview => format!("A {announce_type} {}", texts::PARENT_REVIEW),
        ActionClass::UserDelivery => format!("A {announce_type} {}", texts::USER_DELIVERY),
        ActionClass::Private => format!("A {announce_type} {}", texts::PRIVATE),
    };
    if action.may_stay_silent {
        let when = match action.class {
            ActionClass::InternalUpdate => "it is known already or changes nothing",
            ActionClass::ParentReview | ActionClass::UserDelivery => {
                "the user can see this very outcome already"
            }
            ActionClass::Private => "nothing is left to do",
        };
        if action.class == ActionClass::UserDelivery {
            text = format!("{text} {}", texts::NOT_VERBATIM);
        }
        text = format!("{text} If {when}, reply with exactly {NO_REPLY}.");
    }
    text
}
