//! Where the texts of a turn come from, as far as they are not the owner's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How many origins are kept of a session. More of them take nothing more away.
pub const MOST_ORIGINS: usize = 32;
/// The longest part of an origin that others choose, in characters.
const LONGEST: usize = 300;

/// Where a text comes from that is not the owner's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Origin {
    /// Somebody else wrote it.
    Guest {
        /// Who, or where it was written.
        sender: String,
    },
    /// A page that was fetched.
    Web {
        /// Its address.
        url: String,
    },
    /// A command that had the network, or that could read files of other origins.
    Command {
        /// Its command line.
        command: String,
    },
    /// A tool of an MCP server.
    McpServer {
        /// The server.
        name: String,
    },
    /// A file.
    File {
        /// Its path as it was named, or its name.
        path: String,
        /// Why it is not the owner's.
        why: FileOrigin,
    },
    /// Another session, which had text of the other origins that stand beside this one.
    Session {
        /// The session.
        key: String,
    },
}

/// Why a file is not the owner's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileOrigin {
    /// It came with a message.
    Received,
    /// A tool wrote it while there was untrusted text.
    Written,
    /// It is outside the workspace.
    Outside,
    /// A kind of which this version knows nothing.
    #[serde(other)]
    Other,
}

impl Origin {
    /// Makes the origin of what somebody else wrote.
    pub fn guest(sender: &str) -> Self {
        Self::Guest {
            sender: plain(sender),
        }
    }

    /// Makes the origin of a page.
    pub fn web(url: &str) -> Self {
        Self::Web { url: plain(url) }
    }

    /// Makes the origin of the output of a command.
    pub fn command(command: &str) -> Self {
        Self::Command {
            command: plain(command),
        }
    }

    /// Makes the origin of what an MCP server answers.
    pub fn server(name: &str) -> Self {
        Self::McpServer { name: plain(name) }
    }

    /// Makes the origin of what a file holds.
    pub fn file(path: &str, why: FileOrigin) -> Self {
        Self::File {
            path: plain(path),
            why,
        }
    }

    /// Makes the origin of what another session says.
    pub fn session(key: &str) -> Self {
        Self::Session { key: plain(key) }
    }

    /// Tells whether it is the text of people who are no owner, or stands for other origins: a guest's own rights hold for these.
    pub const fn is_of_guests(&self) -> bool {
        match self {
            Self::Guest { .. } | Self::Session { .. } => true,
            Self::Web { .. }
            | Self::Command { .. }
            | Self::McpServer { .. }
            | Self::File { .. } => false,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Guest { sender } => write!(f, "a message of {sender}"),
            Self::Web { url } => write!(f, "{url}"),
            Self::Command { command } => write!(f, "the output of `{command}`"),
            Self::McpServer { name } => write!(f, "the MCP server `{name}`"),
            Self::File { path, why } => match why {
                FileOrigin::Received => write!(f, "the file `{path}`, which was received"),
                FileOrigin::Written => {
                    write!(
                        f,
                        "the file `{path}`, which was written from untrusted text"
                    )
                }
                FileOrigin::Outside => {
                    write!(f, "the file `{path}`, which is outside the workspace")
                }
                FileOrigin::Other => write!(f, "the file `{path}`"),
            },
            Self::Session { key } => write!(f, "the session `{key}`"),
        }
    }
}

/// Where the texts of a context come from, and what is taken away because of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextOrigins {
    /// Texts of the owner, in words.
    pub trusted: Vec<String>,
    /// Texts that are not the owner's.
    pub untrusted: Vec<UntrustedText>,
    /// What needs the owner because of them.
    pub taken_away: Vec<TakenAway>,
}

/// A text that is not the owner's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UntrustedText {
    /// Where it comes from.
    pub origin: Origin,
    /// The same in words.
    pub text: String,
}

/// Something that needs the owner's approval while there is untrusted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TakenAway {
    /// What it is, as the end of "needs the owner to …".
    pub what: String,
    /// The entry of `access.untrusted.allow` that allows it.
    pub allow: String,
}

/// Adds origins to others, each once and not too many. One that holds for guests' turns makes room for one that does not.
pub fn add_origins<'o>(known: &mut Vec<Origin>, more: impl IntoIterator<Item = &'o Origin>) {
    for origin in more {
        if known.contains(origin) {
            continue;
        }
        if known.len() < MOST_ORIGINS {
            known.push(origin.clone());
        } else if !origin.is_of_guests()
            && known.iter().all(Origin::is_of_guests)
            && let Some(last) = known.last_mut()
        {
            *last = origin.clone();
        }
    }
}

/// Names origins in one line.
pub fn origins_in_words(origins: &[Origin]) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = origins.iter().take(SHOWN).map(Origin::to_string).collect();
    if origins.len() > SHOWN {
        names.push(format!("{} more", origins.len() - SHOWN));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// Others choose these texts, and people read them: one line, nothing that a terminal would act on, not too long.
fn plain(text: &str) -> String {
    let hidden = |c: char| matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}');
    let mut kept: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| !hidden(*c))
        .take(LONGEST + 1)
        .collect();
    if kept.chars().count() > LONGEST {
        kept = kept.chars().take(LONGEST).collect();
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{FileOrigin, MOST_ORIGINS, Origin, add_origins, origins_in_words};

    #[test]
    fn origins_are_read_as_they_are_written() {
        let origins = [
            Origin::guest("discord:42"),
            Origin::web("https://pier.example/a"),
            Origin::file("notes/page.md", FileOrigin::Written),
        ];
        let text = serde_json::to_string(&origins).unwrap();
        assert!(text.contains(r#"{"kind":"web","url":"https://pier.example/a"}"#));
        let read: Vec<Origin> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, origins);
    }

    #[test]
    fn many_guests_do_not_crowd_out_a_page() {
        let mut known = Vec::new();
        let guests: Vec<Origin> = (0..100).map(|n| Origin::guest(&n.to_string())).collect();
        add_origins(&mut known, &guests);
        assert_eq!(known.len(), MOST_ORIGINS);
        add_origins(&mut known, [&Origin::web("https://pier.example")]);
        assert_eq!(known.len(), MOST_ORIGINS);
        assert!(known.contains(&Origin::web("https://pier.example")));
    }

    #[test]
    fn names_that_others_chose_stay_on_one_line() {
        let origin = Origin::web("https://a.example/\n\u{1b}[2J\u{202e}x");
        assert_eq!(origin.to_string(), "https://a.example/  [2Jx");
        let many: Vec<Origin> = (0..5).map(|n| Origin::server(&n.to_string())).collect();
        assert_eq!(
            origins_in_words(&many),
            "the MCP server `0`, the MCP server `1`, the MCP server `2` and 2 more"
        );
    }
}
