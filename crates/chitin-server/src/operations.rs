//! The table of operations: every request that the API answers, once.
//!
//! Routing, `Allow` headers, access, the names in metrics and the OpenAPI document come from it, so that they cannot disagree. Handlers
//! are found by [`Endpoint`] in `answer.rs`; a query parameter that is not listed here never reaches one.

use crate::api::{
    AgentList, AnswerApproval, ApprovalConflict, ApprovalList, BindingList, ChannelList,
    DeleteSession, Health, LoginReply, LoginRequest, Me, PairingCodeRequest, PairingList,
    Readiness, ReceivedMessage, RevokeApproval, RevokeRequest, SaveFile, SendMessage, SentMessage,
    ServerStatus, SessionDetails, SessionList, SessionTree, StopReply, Success, UndoTurn,
    UnsavedPreview,
};
use crate::error::FileConflict;
use crate::feed::StreamEvent;
use crate::openai::{ChatCompletion, ChatCompletionRequest, Model, ModelList};
use crate::openapi::{Schemas, Shape, document, events, json, messages, request, stream_or, text};
use crate::socket::{SocketCommand, SocketMessage};
use crate::workspace_api::{
    ChangeList, FileList, FilePreview, FileText, FindingList, Lens, MemoryReply, SavedFile,
    SkillList, TraceList, TraceReply, TurnDiff, TurnList, UndoReport,
};
use chitin_gateway::approvals::ResolvedApproval;
use chitin_gateway::forget::ForgetReport;
use chitin_gateway::route::RouteExplanation;

/// Which method an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// `GET`, and `HEAD` besides.
    Get,
    /// `GET` alone: the reply has no end that a `HEAD` could describe.
    Stream,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
}

/// Who may use an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody.
    Public,
    /// Whoever has the token in the body; the handler checks it.
    SignIn,
    /// Whoever has the token or is signed in. The handler checks it, and being neither is not counted as a wrong token.
    SignedIn,
    /// Whoever has the token, and the page after signing in.
    Token,
}

/// What a query parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// A text.
    Text,
    /// A text that must be given.
    Needed,
    /// Texts; the parameter may come several times.
    Texts,
    /// A number above 0.
    Count,
}

/// A query parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ParameterKind,
    /// What it does.
    pub summary: &'static str,
}

/// A request that the API answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Its name.
    pub endpoint: Endpoint,
    /// Its method.
    pub verb: Verb,
    /// Its path. A name in braces stands for one segment, with a star for all that follow.
    pub path: &'static str,
    /// Who may use it.
    pub access: Access,
    /// Its name in metrics, which several share.
    pub label: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Its query parameters.
    pub query: &'static [Parameter],
}

/// The longest name in a path, in bytes.
pub(crate) const LONGEST_NAME: usize = 1024;

const fn optional(name: &'static str, summary: &'static str) -> Parameter {
    let kind = ParameterKind::Text;
    Parameter {
        name,
        kind,
        summary,
    }
}

const fn needed(name: &'static str, summary: &'static str) -> Parameter {
    let kind = ParameterKind::Needed;
    Parameter {
        name,
        kind,
        summary,
    }
}

const fn several(name: &'static str, summary: &'static str) -> Parameter {
    let kind = ParameterKind::Texts;
    Parameter {
        name,
        kind,
        summary,
    }
}

const fn count(name: &'static str, summary: &'static str) -> Parameter {
    let kind = ParameterKind::Count;
    Parameter {
        name,
        kind,
        summary,
    }
}

/// Makes the table, and from the same lines the shapes of requests and replies. The program routes by the table and never calls for
/// shapes, so that the code which makes schemas is not part of it.
macro_rules! operations {
    (@request $schemas:ident) => { None };
    (@request $schemas:ident $request:ty) => { Some(request::<$request>($schemas)) };
    ($($endpoint:ident: $verb:ident $path:literal, $access:ident, $label:literal, $summary:literal
        $(, query [$($parameter:expr),+])? $(, takes $request:ty)?, replies {$($status:literal: $content:expr),+}
        $(, fails [$($failure:literal),+])?;)+) => {
        /// The name of an operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Endpoint {
            $(#[doc = $summary] $endpoint,)+
        }

        /// All operations. Paths without names come before those with names that would match them too.
        pub const OPERATIONS: &[Operation] = &[$(Operation {
            endpoint: Endpoint::$endpoint,
            verb: Verb::$verb,
            path: $path,
            access: Access::$access,
            label: $label,
            summary: $summary,
            query: &[$($($parameter),+)?],
        }),+];

        /// Returns what an operation takes and replies with.
        pub(crate) fn shape(endpoint: Endpoint, schemas: &mut Schemas) -> Shape {
            match endpoint {
                $(Endpoint::$endpoint => Shape {
                    request: operations!(@request schemas $($request)?),
                    replies: vec![$(($status, $content(schemas))),+],
                    failures: vec![$($($failure),+)?],
                },)+
            }
        }
    };
}

operations! {
    Health: Get "/health", Public, "health", "Tells whether the server is running.",
        replies {200: json::<Health>, 503: json::<Health>};
    Ready: Get "/ready", Public, "ready", "Tells whether the server accepts messages, can store them, and no chat channel has given up.",
        replies {200: json::<Readiness>, 503: json::<Readiness>};
    Metrics: Get "/metrics", Token, "metrics", "Returns metrics in Prometheus' text format.",
        replies {200: text};
    OpenApi: Get "/openapi.json", Token, "openapi", "Returns this document.",
        replies {200: document};
    Login: Post "/api/login", SignIn, "login", "Signs the page in: sets a cookie.",
        takes LoginRequest, replies {200: json::<LoginReply>};
    Logout: Post "/api/logout", Token, "login", "Signs the page out.",
        replies {200: json::<Success>};
    Me: Get "/api/me", SignedIn, "login", "Tells whether the page is signed in.",
        replies {200: json::<Me>};
    Status: Get "/api/status", Token, "status", "Returns agents, busy sessions and connections.",
        replies {200: json::<ServerStatus>};
    Agents: Get "/api/agents", Token, "agents", "Lists the agents.",
        replies {200: json::<AgentList>};
    Files: Get "/api/agents/{agent}/files", Token, "agent", "Lists the files of a workspace.",
        replies {200: json::<FileList>}, fails [404, 501];
    File: Get "/api/agents/{agent}/file", Token, "agent", "Reads a file of a workspace.",
        query [needed("path", "The path below the workspace.")],
        replies {200: json::<FileText>}, fails [404, 501];
    SaveFile: Put "/api/agents/{agent}/file", Token, "agent", "Writes a file, unless it changed since its author read it.",
        query [needed("path", "The path below the workspace.")], takes SaveFile,
        replies {200: json::<SavedFile>, 409: json::<FileConflict>}, fails [404, 501];
    Preview: Post "/api/agents/{agent}/preview", Token, "preview", "Shows what the next turn would hold if a file had another text.",
        takes UnsavedPreview, replies {200: json::<FilePreview>}, fails [404, 501];
    Skills: Get "/api/agents/{agent}/skills", Token, "agent", "Lists the skills of an agent.",
        replies {200: json::<SkillList>}, fails [404, 501];
    Findings: Get "/api/agents/{agent}/findings", Token, "agent", "Checks a workspace.",
        replies {200: json::<FindingList>}, fails [404, 501];
    Changes: Get "/api/agents/{agent}/changes", Token, "changes", "Lists the turns that changed the workspace, the newest first.",
        query [count("limit", "The maximum number of turns.")],
        replies {200: json::<ChangeList>}, fails [404, 501];
    TurnChanges: Get "/api/agents/{agent}/turn-changes", Token, "changes", "Returns the lines that a turn changed.",
        query [needed("turn", "The number of the turn.")],
        replies {200: json::<TurnDiff>}, fails [404, 501];
    UndoPreview: Get "/api/agents/{agent}/undo", Token, "undo", "Tells what an undo would do.",
        query [needed("turn", "The number of the turn to whose beginning it leads.")],
        replies {200: json::<UndoReport>}, fails [403, 404, 501];
    Undo: Post "/api/agents/{agent}/undo", Token, "undo", "Takes the workspace back to before a turn.",
        takes UndoTurn, replies {200: json::<UndoReport>}, fails [403, 404, 501];
    Memory: Get "/api/agents/{agent}/memory", Token, "agent", "Describes an agent's memory, or searches it.",
        query [optional("q", "What to search for; without it, an overview."), count("limit", "The maximum number of results.")],
        replies {200: json::<MemoryReply>}, fails [404, 501];
    Explain: Get "/api/route", Token, "route", "Tells which agent and session would get a message, and why.",
        query [
            optional("channel", "The channel; by default `web`."), optional("account", "The account on the channel."),
            optional("peer", "Where it was written: a kind and an id, such as `channel:123`."),
            optional("parent", "The channel above a thread, like `peer`."), optional("guild", "The guild."),
            optional("team", "The team."), several("role", "A role of the sender."), optional("thread", "The thread."),
            optional("sender", "The sender.")
        ],
        replies {200: json::<RouteExplanation>};
    Routes: Get "/api/routes", Token, "route", "Lists the bindings of the configuration.",
        replies {200: json::<BindingList>};
    Channels: Get "/api/channels", Token, "channels", "Returns the state of chat channels, and refused messages.",
        replies {200: json::<ChannelList>};
    Pairing: Get "/api/pairing", Token, "pairing", "Lists pending pairing requests and approved senders.",
        replies {200: json::<PairingList>};
    Approve: Post "/api/pairing/approve", Token, "pairing", "Approves a sender.",
        takes PairingCodeRequest, replies {200: json::<Success>}, fails [404, 409];
    Reject: Post "/api/pairing/reject", Token, "pairing", "Rejects a sender.",
        takes PairingCodeRequest, replies {200: json::<Success>}, fails [404, 409];
    Revoke: Post "/api/pairing/revoke", Token, "pairing", "Revokes the approval of a sender.",
        takes RevokeRequest, replies {200: json::<Success>}, fails [404, 409];
    Approvals: Get "/api/approvals", Token, "approvals", "Lists the questions for permission that wait, and what was allowed always.",
        replies {200: json::<ApprovalList>};
    RevokeApproval: Post "/api/approvals/revoke", Token, "approvals", "Takes back what was allowed always.",
        takes RevokeApproval, replies {200: json::<Success>}, fails [404];
    AnswerApproval: Post "/api/approvals/{id}", Token, "approvals", "Answers a question for permission. The first answer counts.",
        takes AnswerApproval,
        replies {200: json::<ResolvedApproval>, 409: json::<ApprovalConflict>, 410: json::<ApprovalConflict>}, fails [404];
    Send: Post "/api/messages", Token, "messages", "Sends a message to an agent.",
        takes SendMessage,
        replies {200: stream_or::<StreamEvent<'static>, SentMessage>, 202: json::<ReceivedMessage>}, fails [404, 409, 500];
    Events: Stream "/api/events", Token, "events", "Streams events: all, those of a session, or those of a job until it has finished.",
        query [optional("session", "Only events of this session."), optional("job", "Only events of this job."),
            optional("answers", "`approvals`: questions for permission are asked as long as this client listens, which can answer them.")],
        replies {200: events::<StreamEvent<'static>>}, fails [404];
    Socket: Stream "/api/socket", Token, "socket", "Opens a WebSocket: messages in, events out.",
        replies {101: messages::<SocketCommand, SocketMessage<'static>>}, fails [426];
    Sessions: Get "/api/sessions", Token, "sessions", "Lists sessions, the most recently used first.",
        query [optional("agent", "Only sessions of this agent."), count("limit", "The maximum number of sessions; 100 if left out, 1,000 at most."),
            optional("after", "Where the list goes on: `next` of the reply before.")],
        replies {200: json::<SessionList>}, fails [404];
    Tree: Get "/api/tree", Token, "sessions", "Returns the tree of sessions and what each is doing, the busy ones first.",
        query [count("limit", "The maximum number of sessions besides the busy ones; 100 if left out, 2,000 at most."),
            optional("after", "Where the list goes on: `next` of the reply before.")],
        replies {200: json::<SessionTree>};
    Session: Get "/api/sessions/{key}", Token, "session", "Returns a session with its last records.",
        query [count("limit", "The maximum number of records.")],
        replies {200: json::<SessionDetails>}, fails [404];
    Context: Get "/api/sessions/{key}/context", Token, "context", "Returns what the model would get in the next turn, as `chitin context --json` prints it.",
        replies {200: json::<crate::api::ContextReport>}, fails [400, 404];
    Turns: Get "/api/sessions/{key}/turns", Token, "turns", "Lists the recorded turns of a session.",
        replies {200: json::<TurnList>}, fails [404, 501];
    Lens: Get "/api/sessions/{key}/lens", Token, "lens", "Returns what the model got in a turn, fragment by fragment.",
        query [optional("turn", "The id of a recorded turn; without it, or with `next`, the next turn.")],
        replies {200: json::<Lens>}, fails [400, 404, 501];
    Stop: Post "/api/sessions/{key}/stop", Token, "stop", "Stops the turn of a session and drops its queue.",
        replies {200: json::<StopReply>}, fails [404];
    DeleteSession: Post "/api/sessions/{key}/delete", Token, "sessions", "Deletes a session and those that it began, everywhere: transcripts, recordings, memory, changes, jobs. Says what is left.",
        takes DeleteSession, replies {200: json::<ForgetReport>}, fails [404, 409];
    Traces: Get "/api/traces", Token, "traces", "Lists recorded sessions, the newest first.",
        query [
            optional("agent", "Only sessions of this agent."), optional("session", "Only this session."),
            count("limit", "The maximum number of sessions.")
        ],
        replies {200: json::<TraceList>}, fails [404, 501];
    Trace: Get "/api/traces/{id}", Token, "traces", "Returns a recorded session, event by event.",
        replies {200: json::<TraceReply>}, fails [404, 501];
    ChatCompletions: Post "/v1/chat/completions", Token, "openai", "Sends a message to an agent in OpenAI's shape.",
        takes ChatCompletionRequest,
        replies {200: stream_or::<crate::openai::ChatCompletionChunk, ChatCompletion>}, fails [404, 409, 500, 502, 504];
    Models: Get "/v1/models", Token, "openai", "Lists the agents in OpenAI's shape.",
        replies {200: json::<ModelList>};
    Model: Get "/v1/models/{*model}", Token, "openai", "Returns an agent in OpenAI's shape.",
        replies {200: json::<Model>}, fails [404];
}

impl Operation {
    /// Returns the name in a path, if the path is of this operation; an empty one if the operation has none.
    fn name_in<'a>(&self, path: &'a str) -> Option<&'a str> {
        let Some((before, rest)) = self.path.split_once('{') else {
            return (self.path == path).then_some("");
        };
        let (name, after) = rest.split_once('}')?;
        let inner = path.strip_prefix(before)?.strip_suffix(after)?;
        let whole = name.starts_with('*') || !inner.contains('/');
        (whole && !inner.is_empty()).then_some(inner)
    }
}

/// Finds the operations with a path, and the name in it as it is spelled there.
pub(crate) fn at_path(path: &str) -> Vec<(&'static Operation, &str)> {
    let mut found: Vec<(&Operation, &str)> = Vec::new();
    for operation in OPERATIONS {
        if let Some(name) = operation.name_in(path)
            && found
                .first()
                .is_none_or(|(first, _)| first.path == operation.path)
        {
            found.push((operation, name));
        }
    }
    found
}

impl Verb {
    /// Returns the methods that it stands for.
    pub const fn methods(self) -> &'static [&'static str] {
        match self {
            Self::Get => &["GET", "HEAD"],
            Self::Stream => &["GET"],
            Self::Post => &["POST"],
            Self::Put => &["PUT"],
        }
    }
}
