//! Failed requests: one error type, and its body in our own format or in OpenAI's.

use crate::body::Body;
use crate::workspace_api::{CurrentFile, WorkspaceApiError, WorkspaceApiErrorKind};
use bytes::Bytes;
use chitin_gateway::access::TrustError;
use chitin_gateway::{HostError, IntakeRefusal};
use chitin_store::StoreError;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;

/// What a failure is called that the next process of the server does not have.
const RESTARTING: &str = "restarting";

/// The body of a failed request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ErrorBody {
    /// What went wrong.
    error: ErrorDetails,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ErrorDetails {
    /// A word for programs.
    code: String,
    /// What happened, as a sentence.
    message: String,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// The body of a refused write: what went wrong, and the file as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FileConflict {
    /// What went wrong.
    pub(crate) error: ErrorDetails,
    /// The file as it is.
    pub(crate) current: CurrentFile,
}

/// The body of a failed request below `/v1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct OpenAiErrorBody {
    /// What went wrong.
    error: OpenAiErrorDetails,
}

/// What went wrong, as OpenAI's clients read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct OpenAiErrorDetails {
    /// What happened, and what can be done about it.
    message: String,
    /// The kind of error.
    r#type: &'static str,
    /// The part of the request that is wrong.
    param: Option<&'static str>,
    /// A word for programs.
    code: &'static str,
}

/// The body of a failed request, in either format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum AnyErrorBody {
    Own(ErrorBody),
    OpenAi(OpenAiErrorBody),
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
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
    pub allow: Option<Box<str>>,
}

/// The format of error bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    /// Our own.
    Own,
    /// OpenAI's.
    OpenAi,
}

impl ErrorFormat {
    /// Returns the format below a path.
    pub(crate) fn of(path: &str) -> Self {
        if path == "/v1" || path.starts_with("/v1/") {
            Self::OpenAi
        } else {
            Self::Own
        }
    }
}

impl ApiError {
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

    pub(crate) fn restarting() -> Self {
        Self {
            retry_after: Some(1),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                RESTARTING,
                "The server is restarting.",
            )
        }
    }

    /// Tells whether the next process of the server can answer.
    pub(crate) fn is_restarting(&self) -> bool {
        self.code == RESTARTING
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

    /// Returns the details in our own format.
    pub(crate) fn details(&self) -> ErrorDetails {
        ErrorDetails {
            code: self.code.to_owned(),
            message: self.message.clone(),
            hint: self.hint.clone(),
        }
    }

    /// Returns the body.
    pub(crate) fn body(&self, format: ErrorFormat) -> AnyErrorBody {
        match format {
            ErrorFormat::Own => AnyErrorBody::Own(ErrorBody {
                error: self.details(),
            }),
            ErrorFormat::OpenAi => AnyErrorBody::OpenAi(OpenAiErrorBody {
                error: OpenAiErrorDetails {
                    message: match &self.hint {
                        Some(hint) => format!("{} {hint}", self.message),
                        None => self.message.clone(),
                    },
                    r#type: self.openai_type(),
                    param: self.param,
                    code: self.code,
                },
            }),
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
    pub(crate) fn response(&self, format: ErrorFormat) -> Response<Body> {
        let body = serde_json::to_vec(&self.body(format));
        let bytes = Bytes::from(body.unwrap_or_default());
        let mut response = Response::new(Body::whole(bytes));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        let allow = self.allow.as_ref();
        if let Some(allow) = allow.and_then(|allow| HeaderValue::from_str(allow).ok()) {
            headers.insert(ALLOW, allow);
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

impl From<IntakeRefusal> for ApiError {
    fn from(refusal: IntakeRefusal) -> Self {
        let said = sentence(&refusal.to_string());
        match refusal {
            IntakeRefusal::Closing => Self::closing(),
            IntakeRefusal::Restarting => Self::restarting(),
            IntakeRefusal::Empty => Self::new(StatusCode::BAD_REQUEST, "empty_message", said),
            IntakeRefusal::TooLarge(_) => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "message_too_large", said)
            }
            IntakeRefusal::UnknownAgent { nearest, .. } => {
                let problem = Self::new(StatusCode::NOT_FOUND, "unknown_agent", said);
                match nearest {
                    Some(nearest) => problem.hint(format!("Did you mean `{nearest}`?")),
                    None => problem.hint("`GET /api/agents` lists them."),
                }
            }
            IntakeRefusal::BadSession { .. } => {
                Self::new(StatusCode::BAD_REQUEST, "bad_session", said)
            }
            IntakeRefusal::ChannelShut { .. } => {
                Self::new(StatusCode::FORBIDDEN, "channel_shut", said)
            }
            IntakeRefusal::NoRoute(error) => {
                Self::new(StatusCode::CONFLICT, "no_route", said).hint(error.hint())
            }
            IntakeRefusal::Full { .. } | IntakeRefusal::TooMuch => Self {
                retry_after: Some(5),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "full", said)
            },
            IntakeRefusal::NoSpace { .. } => Self {
                retry_after: Some(30),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "disk_full", said)
            }
            .hint("Make room on the disk of Chitin's home; messages are accepted again by themselves."),
            IntakeRefusal::QueueFull { .. } => Self::too_many("queue_full", said, 5),
            // Nothing was accepted; whoever sends it again later may be luckier.
            IntakeRefusal::Store(error) => {
                let problem = Self {
                    retry_after: Some(5),
                    ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "store", said)
                };
                match error.hint() {
                    Some(hint) => problem.hint(hint),
                    None => problem,
                }
            }
            IntakeRefusal::Host(error) if error.bad_request => Self::from(error),
            // The agent's workspace or its configuration is broken for now.
            IntakeRefusal::Host(error) => Self {
                hint: error.hint,
                retry_after: Some(5),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "agent", said)
            },
        }
    }
}

impl From<StoreError> for ApiError {
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

impl From<HostError> for ApiError {
    fn from(error: HostError) -> Self {
        let (status, code) = if error.bad_request {
            (StatusCode::BAD_REQUEST, "bad_request")
        } else {
            (StatusCode::INTERNAL_SERVER_ERROR, "agent")
        };
        let problem = Self::new(status, code, sentence(&error.message));
        Self {
            hint: error.hint,
            ..problem
        }
    }
}

impl From<WorkspaceApiError> for ApiError {
    fn from(error: WorkspaceApiError) -> Self {
        let (status, code) = match &error.kind {
            WorkspaceApiErrorKind::Missing => (StatusCode::NOT_FOUND, "not_found"),
            WorkspaceApiErrorKind::Bad => (StatusCode::BAD_REQUEST, "bad_request"),
            WorkspaceApiErrorKind::Refused => (StatusCode::FORBIDDEN, "refused"),
            WorkspaceApiErrorKind::Conflict { .. } => (StatusCode::CONFLICT, "conflict"),
            WorkspaceApiErrorKind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            WorkspaceApiErrorKind::NotHere => (StatusCode::NOT_IMPLEMENTED, "not_here"),
            WorkspaceApiErrorKind::Failed => (StatusCode::INTERNAL_SERVER_ERROR, "workspace"),
        };
        Self {
            hint: error.hint,
            ..Self::new(status, code, sentence(&error.message))
        }
    }
}

impl From<TrustError> for ApiError {
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
