//! What can go wrong with a call, and what that means for whoever wanted it.

use super::error_text::advice;
use chitin_gateway::SurfaceError;
use chitin_gateway::surface::Again;

/// The longest code that is shown.
const LONGEST_CODE: usize = 80;

/// Why a call did not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallError {
    /// Slack says no.
    Refused {
        method: &'static str,
        /// Slack's word for it.
        code: String,
        /// What the token would have to allow.
        needed: Option<String>,
    },
    /// Too many calls; Slack says how long to wait.
    Limited { method: &'static str, seconds: u64 },
    /// It may work later.
    Unreachable {
        method: &'static str,
        reason: String,
    },
    /// It will not work later either.
    Odd {
        method: &'static str,
        reason: String,
    },
    /// Something has to be configured first.
    Missing {
        what: &'static str,
        hint: &'static str,
    },
}

impl CallError {
    pub(crate) fn unreachable(method: &'static str, reason: &str) -> Self {
        let reason = reason.to_owned();
        Self::Unreachable { method, reason }
    }

    pub(crate) fn odd(method: &'static str, reason: &str) -> Self {
        let reason = reason.to_owned();
        Self::Odd { method, reason }
    }

    /// Returns Slack's word for it.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            Self::Limited { .. }
            | Self::Unreachable { .. }
            | Self::Odd { .. }
            | Self::Missing { .. } => None,
        }
    }

    /// Tells whether the token is good for nothing any more.
    pub(crate) fn is_about_the_token(&self) -> bool {
        matches!(
            self.code(),
            Some(
                "invalid_auth"
                    | "not_authed"
                    | "token_revoked"
                    | "token_expired"
                    | "account_inactive"
                    | "not_allowed_token_type"
                    | "no_permission"
                    | "org_login_required"
                    | "ekm_access_denied"
                    | "team_access_not_granted"
                    | "app_uninstalled"
            )
        )
    }

    /// Tells whether nothing will change until somebody changes something.
    pub(crate) fn is_final(&self) -> bool {
        self.again() == Again::Never
    }

    /// Returns what to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Refused { code, needed, .. } => advice(code, needed.as_deref()).1,
            Self::Missing { hint, .. } => Some((*hint).to_owned()),
            Self::Limited { .. } | Self::Unreachable { .. } | Self::Odd { .. } => None,
        }
    }

    /// Returns what happened, without what to do about it.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Refused {
                method,
                code,
                needed,
            } => {
                let (what, _) = advice(code, needed.as_deref());
                format!("Slack refused `{method}`: {what} (`{code}`).")
            }
            Self::Limited { method, seconds } => {
                format!("Slack wants {seconds} seconds of rest before `{method}`.")
            }
            Self::Unreachable { method, reason } => {
                format!("Slack could not be asked for `{method}`: {reason}.")
            }
            Self::Odd { method, reason } => format!("`{method}` did not work: {reason}."),
            Self::Missing { what, .. } => (*what).to_owned(),
        }
    }

    pub(crate) fn again(&self) -> Again {
        match self {
            Self::Refused { code, .. } => match code.as_str() {
                "internal_error"
                | "fatal_error"
                | "service_unavailable"
                | "request_timeout"
                | "team_added_to_org" => Again::Soon,
                _ => Again::Never,
            },
            Self::Limited { seconds, .. } => Again::After(seconds.saturating_mul(1_000)),
            Self::Unreachable { .. } => Again::Soon,
            Self::Odd { .. } | Self::Missing { .. } => Again::Never,
        }
    }
}

impl From<CallError> for SurfaceError {
    fn from(error: CallError) -> Self {
        let message = match error.hint() {
            Some(hint) => format!("{} {hint}.", error.reason()),
            None => error.reason(),
        };
        Self {
            message,
            again: error.again(),
        }
    }
}

/// Makes a word of Slack's fit to be shown.
pub(super) fn code(text: &str) -> String {
    text.chars()
        .filter(|sign| !sign.is_control() && *sign != '`')
        .take(LONGEST_CODE)
        .collect()
}
