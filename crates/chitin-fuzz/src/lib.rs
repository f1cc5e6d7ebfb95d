//! Hostile input for everything in Chitin that reads what it did not write.
//!
//! In: bytes. Out: nothing, or a panic that says which promise was broken. Each target is one function that takes bytes,
//! so that libFuzzer and the runner of this crate can drive it alike. Targets that need files build them in a directory
//! of this process, see [`scratch`].

#![forbid(unsafe_code)]

pub mod announce;
pub mod backup_archive;
pub mod check_text;
pub mod command;
pub mod config;
pub mod context;
pub mod cron_jobs;
pub mod directory_note;
pub mod discord_event;
pub mod edit;
pub mod front_matter;
pub mod history;
pub mod job_log;
pub mod mcp_message;
pub mod memory_text;
pub mod model_stream;
pub mod mutate;
pub mod net;
pub mod novelty;
pub mod pack_archive;
pub mod pack_artifact;
pub mod pack_definition;
pub mod pack_policy;
pub mod patch;
pub mod path_guard;
pub mod permissions;
pub mod plugin_message;
pub mod recipe;
pub mod recording;
pub mod records;
pub mod registry_answer;
pub mod route;
pub mod rpc;
pub mod scratch;
pub mod server_connection;
pub mod server_request;
pub mod session_keys;
pub mod skill_discovery;
pub mod slack_event;
pub mod state_file;
pub mod tar;
pub mod text;
pub mod trace;
pub mod transcript;
pub mod transcript_marker;
pub mod tree;
pub mod undo_index;
pub mod undo_state;
pub mod web_page;
pub mod word_table;

/// One thing that is fed.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, which is also that of its directory of seeds.
    pub name: &'static str,
    /// Takes one input; panics when a promise is broken.
    pub run: fn(&[u8]),
    /// Words that mean something to the code behind it.
    pub dictionary: &'static [&'static str],
}

/// Every target, by name.
pub const TARGETS: [Target; 41] = [
    Target {
        name: "announce",
        run: announce::run,
        dictionary: announce::DICTIONARY,
    },
    Target {
        name: "backup_archive",
        run: backup_archive::run,
        dictionary: backup_archive::DICTIONARY,
    },
    Target {
        name: "check_text",
        run: check_text::run,
        dictionary: check_text::DICTIONARY,
    },
    Target {
        name: "command",
        run: command::run,
        dictionary: command::DICTIONARY,
    },
    Target {
        name: "config",
        run: config::run,
        dictionary: config::DICTIONARY,
    },
    Target {
        name: "context",
        run: context::run,
        dictionary: context::DICTIONARY,
    },
    Target {
        name: "cron_jobs",
        run: cron_jobs::run,
        dictionary: cron_jobs::DICTIONARY,
    },
    Target {
        name: "directory_note",
        run: directory_note::run,
        dictionary: directory_note::DICTIONARY,
    },
    Target {
        name: "discord_event",
        run: discord_event::run,
        dictionary: discord_event::DICTIONARY,
    },
    Target {
        name: "edit",
        run: edit::run,
        dictionary: edit::DICTIONARY,
    },
    Target {
        name: "front_matter",
        run: front_matter::run,
        dictionary: front_matter::DICTIONARY,
    },
    Target {
        name: "history",
        run: history::run,
        dictionary: history::DICTIONARY,
    },
    Target {
        name: "job_log",
        run: job_log::run,
        dictionary: job_log::DICTIONARY,
    },
    Target {
        name: "mcp_message",
        run: mcp_message::run,
        dictionary: mcp_message::DICTIONARY,
    },
    Target {
        name: "memory_text",
        run: memory_text::run,
        dictionary: memory_text::DICTIONARY,
    },
    Target {
        name: "model_stream",
        run: model_stream::run,
        dictionary: model_stream::DICTIONARY,
    },
    Target {
        name: "pack_archive",
        run: pack_archive::run,
        dictionary: pack_archive::DICTIONARY,
    },
    Target {
        name: "pack_artifact",
        run: pack_artifact::run,
        dictionary: pack_artifact::DICTIONARY,
    },
    Target {
        name: "pack_definition",
        run: pack_definition::run,
        dictionary: pack_definition::DICTIONARY,
    },
    Target {
        name: "pack_policy",
        run: pack_policy::run,
        dictionary: pack_policy::DICTIONARY,
    },
    Target {
        name: "patch",
        run: patch::run,
        dictionary: patch::DICTIONARY,
    },
    Target {
        name: "path_guard",
        run: path_guard::run,
        dictionary: path_guard::DICTIONARY,
    },
    Target {
        name: "permissions",
        run: permissions::run,
        dictionary: permissions::DICTIONARY,
    },
    Target {
        name: "plugin_message",
        run: plugin_message::run,
        dictionary: plugin_message::DICTIONARY,
    },
    Target {
        name: "recording",
        run: recording::run,
        dictionary: recording::DICTIONARY,
    },
    Target {
        name: "registry_answer",
        run: registry_answer::run,
        dictionary: registry_answer::DICTIONARY,
    },
    Target {
        name: "route",
        run: route::run,
        dictionary: route::DICTIONARY,
    },
    Target {
        name: "server_connection",
        run: server_connection::run,
        dictionary: server_connection::DICTIONARY,
    },
    Target {
        name: "server_request",
        run: server_request::run,
        dictionary: server_request::DICTIONARY,
    },
    Target {
        name: "session_keys",
        run: session_keys::run,
        dictionary: session_keys::DICTIONARY,
    },
    Target {
        name: "skill_discovery",
        run: skill_discovery::run,
        dictionary: skill_discovery::DICTIONARY,
    },
    Target {
        name: "slack_event",
        run: slack_event::run,
        dictionary: slack_event::DICTIONARY,
    },
    Target {
        name: "state_file",
        run: state_file::run,
        dictionary: state_file::DICTIONARY,
    },
    Target {
        name: "text",
        run: text::run,
        dictionary: text::DICTIONARY,
    },
    Target {
        name: "trace",
        run: trace::run,
        dictionary: trace::DICTIONARY,
    },
    Target {
        name: "transcript",
        run: transcript::run,
        dictionary: transcript::DICTIONARY,
    },
    Target {
        name: "transcript_marker",
        run: transcript_marker::run,
        dictionary: transcript_marker::DICTIONARY,
    },
    Target {
        name: "undo_index",
        run: undo_index::run,
        dictionary: undo_index::DICTIONARY,
    },
    Target {
        name: "undo_state",
        run: undo_state::run,
        dictionary: undo_state::DICTIONARY,
    },
    Target {
        name: "web_page",
        run: web_page::run,
        dictionary: web_page::DICTIONARY,
    },
    Target {
        name: "word_table",
        run: word_table::run,
        dictionary: word_table::DICTIONARY,
    },
];
