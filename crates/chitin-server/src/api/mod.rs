//! Our own endpoints.

mod approvals;
mod changes;
mod channels;
mod earlier;
mod events;
mod login;
mod messages;
mod sessions;
mod status;
mod tree;
mod workspace;

pub(crate) use approvals::{
    AnswerApproval, ApprovalConflict, ApprovalList, RevokeApproval, answer_approval, approvals,
    revoke_approval,
};
pub(crate) use changes::{UndoTurn, changes, turn_changes, undo, undo_preview};
pub(crate) use channels::{
    BindingList, ChannelList, PairingCodeRequest, PairingList, Readiness, RevokeRequest, accounts,
    approve, channels, pairing, ready, reject, revoke, routes,
};
pub(crate) use earlier::find as earlier;
pub(crate) use events::events;
pub(crate) use login::{LoginReply, LoginRequest, Me, login, logout, me};
pub(crate) use messages::{ReceivedMessage, SendMessage, SentMessage, check_key, send};
pub(crate) use sessions::{
    ContextReport, DeleteSession, SessionDetails, SessionList, StopReply, agent_of, context,
    delete_session, key, session, session_key, sessions, stop,
};
pub(crate) use status::{AgentList, Health, ServerStatus, agents, explain, health, status};
pub(crate) use tree::{SessionTree, tree};
pub(crate) use workspace::{
    SaveFile, UnsavedPreview, file, files, findings, lens, memory, preview, save_file, skills,
    trace, traces, turns,
};

use schemars::JsonSchema;
use serde::Serialize;

/// What was asked for is done.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Success {
    /// Always true.
    ok: bool,
}

impl Success {
    pub(crate) const DONE: Self = Self { ok: true };
}
