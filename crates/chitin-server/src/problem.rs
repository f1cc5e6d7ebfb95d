//! What is said when something cannot be done: in our own shape, or as OpenAI's clients expect it.

use crate::body::Body;
use crate::desk::{DeskError, Trouble};
use bytes::Bytes;
use chitin_gateway::access::TrustError;
use chitin_gateway::{HostError, Refusal};
use chitin_store::StoreError;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

/// Why a request is not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The status.
    pub status: StatusCode,
    /// A word for programs.
    pub code: &'static str,
    /// What happened, as a sentence.
    pub message: String,
    /// What can be done about it.
    pub hint: Option<String>,
    /// The part of the request that is wrong.
    pub param: Option<&'static str>,
    /// After how many seconds it may work.
    pub retry_after: Option<u64>,
    /// The methods that would do.
    pub allow: Option<&'static str>,
}

/// Whose shape an answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    /// Our own.
    Own,
    /// OpenAI's.
    OpenAi,
}

impl Face {
    /// Returns the shape of answers below a path.
    pub(crate) fn of(path: &str) -> Self {
        if path == "/v1" || path.starts_with("/v1/") {
            Self::OpenAi
        } else {
            Self::Own
        }
    }
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            hint: None,
            param: None,
            retry_after: None,
            allow: None,
        }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    pub(crate) fn closing() -> Self {
        Self {
            retry_after: Some(5),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "draining",
                "The server is shutting down.",
            )
        }
    }

    pub(crate) fn too_many(code: &'static str, message: impl Into<String>, seconds: u64) -> Self {
        Self {
            retry_after: Some(seconds.max(1)),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, code, message)
        }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn param(mut self, param: &'static str) -> Self {
        self.param = Some(param);
        self
    }

    /// Returns what is said, without the status.
    pub(crate) fn body(&self, face: Face) -> Value {
        match face {
            Face::Own => {
                let mut error = json!({"code": self.code, "message": self.message});
                if let Some(hint) = &self.hint {
                    error["hint"] = json!(hint);
                }
                json!({ "error": error })
            }
            Face::OpenAi => {
                let message = match &self.hint {
                    Some(hint) => format!("{} {hint}", self.message),
                    None => self.message.clone(),
                };
                json!({"error": {
                    "message": message,
                    "type": self.openai_type(),
                    "param": self.param,
                    "code": self.code,
                }})
            }
        }
    }

    fn openai_type(&self) -> &'static str {
        match self.status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::FORBIDDEN => "permission_error",
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        }
    }

    /// Makes the answer. What may have been left unread of the request ends the connection.
    pub(crate) fn response(&self, face: Face) -> Response<Body> {
        let bytes = Bytes::from(self.body(face).to_string());
        let mut response = Response::new(Body::whole(bytes));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::REQUEST_TIMEOUT
            | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let said = sentence(&refusal.to_string());
        match refusal {
            Refusal::Closing => Self::closing(),
            Refusal::Empty => Self::new(StatusCode::BAD_REQUEST, "empty_message", said),
            Refusal::TooLarge(_) => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "message_too_large", said)
            }
            Refusal::UnknownAgent { nearest, .. } => {
                let problem = Self::new(StatusCode::NOT_FOUND, "unknown_agent", said);
                match nearest {
                    Some(nearest) => problem.hint(format!("Did you mean `{nearest}`?")),
                    None => problem.hint("`GET /api/agents` lists them."),
                }
            }
            Refusal::BadSession { .. } => Self::new(StatusCode::BAD_REQUEST, "bad_session", said),
            Refusal::ChannelShut { .. } => Self::new(StatusCode::FORBIDDEN, "channel_shut", said),
            Refusal::NoRoute(error) => {
                Self::new(StatusCode::CONFLICT, "no_route", said).hint(error.hint())
            }
            Refusal::Full { .. } | Refusal::TooMuch => Self {
                retry_after: Some(5),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "full", said)
            },
            Refusal::QueueFull { .. } => Self::too_many("queue_full", said, 5),
            Refusal::Store(error) => Self::from(error),
            Refusal::Host(error) => Self::from(error),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let said = sentence(&error.to_string());
        let problem = match &error {
            StoreError::Unknown { .. } => Self::new(StatusCode::NOT_FOUND, "unknown_session", said),
            StoreError::Busy { .. } => Self::new(StatusCode::CONFLICT, "busy", said),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "store", said),
        };
        match error.hint() {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

impl From<HostError> for Problem {
    fn from(error: HostError) -> Self {
        let problem = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "agent",
            sentence(&error.message),
        );
        Self {
            hint: error.hint,
            ..problem
        }
    }
}

impl From<DeskError> for Problem {
    fn from(error: DeskError) -> Self {
        let (status, code) = match &error.trouble {
            Trouble::Missing => (StatusCode::NOT_FOUND, "not_found"),
            Trouble::Bad => (StatusCode::BAD_REQUEST, "bad_request"),
            Trouble::Refused => (StatusCode::FORBIDDEN, "refused"),
            Trouble::Conflict { .. } => (StatusCode::CONFLICT, "conflict"),
            Trouble::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            Trouble::NotHere => (StatusCode::NOT_IMPLEMENTED, "not_here"),
            Trouble::Failed => (StatusCode::INTERNAL_SERVER_ERROR, "desk"),
        };
        Self {
            hint: error.hint,
            ..Self::new(status, code, sentence(&error.message))
        }
    }
}

impl From<TrustError> for Problem {
    fn from(error: TrustError) -> Self {
        let (status, code) = match &error {
            TrustError::NoCode => (StatusCode::BAD_REQUEST, "bad_code"),
            TrustError::UnknownCode => (StatusCode::NOT_FOUND, "unknown_code"),
            TrustError::UnknownSender { .. } => (StatusCode::NOT_FOUND, "unknown_sender"),
            TrustError::TooManyWrong { .. } => (StatusCode::TOO_MANY_REQUESTS, "too_many_wrong"),
            TrustError::Full { .. } => (StatusCode::CONFLICT, "full"),
            TrustError::File { .. } | TrustError::NoRandomness => {
                (StatusCode::INTERNAL_SERVER_ERROR, "trust")
            }
        };
        let problem = Self::new(status, code, sentence(&error.to_string()));
        match error.hint() {
            Some(hint) => problem.hint(sentence(hint)),
            None => problem,
        }
    }
}

/// Shortens what a client sent, for a message.
pub(crate) fn short(text: &str) -> String {
    at_most(text, 64)
}

/// Shortens a text to so many characters.
pub(crate) fn at_most(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Makes a sentence of what an error says: a capital first, a full stop last.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let mut sentence: String = match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    };
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}
