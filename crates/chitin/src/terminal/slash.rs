//! What a user types that is not for the model: lines that begin with a slash.

use chitin_protocol::nearest::nearest;
use std::fmt::Write as _;

/// A line that a user typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// Nothing.
    Empty,
    /// Words for the model.
    Words(String),
    /// Something for the program.
    Command(Slash),
    /// A command that there is not, and the one that was probably meant.
    Unknown {
        typed: String,
        nearest: Option<&'static str>,
    },
    /// A command with words that it cannot use, and how it is used.
    Misused { usage: &'static str },
}

/// Something that the program is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slash {
    /// Show what the model gets.
    Context,
    /// Put the conversation into a summary; the words say what to keep.
    Compact { words: Option<String> },
    /// Show the model, or take another one.
    Model { name: Option<String> },
    /// Begin the session anew.
    New,
    /// List the sessions, or go to another one.
    Sessions { key: Option<String> },
    /// Say how the session stands.
    Status,
    /// List the tools.
    Tools,
    /// Say what can be typed.
    Help,
    /// Leave.
    Quit,
}

/// A command as the help shows it.
struct Known {
    name: &'static str,
    usage: &'static str,
    does: &'static str,
}

/// Every command, in the order of the help.
const KNOWN: [Known; 10] = [
    Known {
        name: "help",
        usage: "/help",
        does: "show this",
    },
    Known {
        name: "context",
        usage: "/context",
        does: "show exactly what the model gets",
    },
    Known {
        name: "status",
        usage: "/status",
        does: "show the session, its model, tokens and cost",
    },
    Known {
        name: "tools",
        usage: "/tools",
        does: "list the tools and who may use them",
    },
    Known {
        name: "model",
        usage: "/model [PROVIDER/NAME]",
        does: "show the model, or switch to another one",
    },
    Known {
        name: "compact",
        usage: "/compact [WORDS]",
        does: "compact the conversation; WORDS say what to keep",
    },
    Known {
        name: "new",
        usage: "/new",
        does: "start a new session; the old one is archived",
    },
    Known {
        name: "sessions",
        usage: "/sessions [KEY]",
        does: "list the sessions, or switch to another one",
    },
    Known {
        name: "quit",
        usage: "/quit",
        does: "quit; so do Ctrl-D and Ctrl-C twice",
    },
    Known {
        name: "exit",
        usage: "/exit",
        does: "the same",
    },
];

/// Reads a line.
pub(crate) fn parse(line: &str) -> Input {
    let line = line.trim();
    if line.is_empty() {
        return Input::Empty;
    }
    let Some(rest) = line.strip_prefix('/') else {
        return Input::Words(line.to_owned());
    };
    if rest.starts_with('/') {
        return Input::Words(rest.to_owned());
    }
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A path, or several lines that happen to begin with a slash, are words.
    if name.contains('/') || line.contains('\n') && !known(&name.to_lowercase()) {
        return Input::Words(line.to_owned());
    }
    let words = words.trim();
    let words = (!words.is_empty()).then(|| words.to_owned());
    let name = name.to_lowercase();
    let command = match (name.as_str(), words) {
        ("compact", words) => Slash::Compact { words },
        ("model", name) => match one_word(name) {
            Ok(name) => Slash::Model { name },
            Err(Several) => return misused("model"),
        },
        ("sessions", key) => match one_word(key) {
            Ok(key) => Slash::Sessions { key },
            Err(Several) => return misused("sessions"),
        },
        ("context", None) => Slash::Context,
        ("new", None) => Slash::New,
        ("status", None) => Slash::Status,
        ("tools", None) => Slash::Tools,
        ("help", _) => Slash::Help,
        ("quit" | "exit", None) => Slash::Quit,
        (name, Some(_)) if known(name) => return misused(name),
        (name, _) => {
            return Input::Unknown {
                nearest: nearest(name, KNOWN.iter().map(|known| known.name)),
                typed: name.to_owned(),
            };
        }
    };
    Input::Command(command)
}

/// There is more than one word where one is wanted.
struct Several;

fn one_word(words: Option<String>) -> Result<Option<String>, Several> {
    match words {
        Some(words) if words.contains(char::is_whitespace) => Err(Several),
        words => Ok(words),
    }
}

fn known(name: &str) -> bool {
    KNOWN.iter().any(|known| known.name == name)
}

fn misused(name: &str) -> Input {
    let known = KNOWN.iter().find(|known| known.name == name);
    Input::Misused {
        usage: known.map_or("/help", |known| known.usage),
    }
}

/// Returns what `/help` says.
pub(crate) fn help() -> String {
    let width = KNOWN.iter().map(|known| known.usage.len()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for Known { usage, does, .. } in KNOWN {
        let _ = writeln!(text, "{usage:width$}  {does}");
    }
    text.push_str(
        "\nAnything else is sent to the agent. `//` starts a message with a slash; a backslash at the end of a line continues it.\n",
    );
    text
}

/// Returns every command and what it does, for completion.
pub(super) fn commands() -> impl Iterator<Item = (&'static str, &'static str)> {
    KNOWN.iter().map(|known| (known.name, known.does))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_commands_and_slips_are_told_apart() {
        let words = |text: &str| Input::Words(text.to_owned());
        let unknown = |typed: &str, nearest| Input::Unknown {
            typed: typed.to_owned(),
            nearest,
        };
        let cases = [
            ("  ", Input::Empty),
            ("hello /help", words("hello /help")),
            ("//help", words("/help")),
            ("/etc/hosts is wrong", words("/etc/hosts is wrong")),
            ("/usr\nbin", words("/usr\nbin")),
            ("/context", Input::Command(Slash::Context)),
            (" /NEW ", Input::Command(Slash::New)),
            ("/exit", Input::Command(Slash::Quit)),
            ("/quit", Input::Command(Slash::Quit)),
            ("/help me", Input::Command(Slash::Help)),
            ("/compact", Input::Command(Slash::Compact { words: None })),
            (
                "/compact keep the\ntide table",
                Input::Command(Slash::Compact {
                    words: Some("keep the\ntide table".to_owned()),
                }),
            ),
            (
                "/model anthropic/claude",
                Input::Command(Slash::Model {
                    name: Some("anthropic/claude".to_owned()),
                }),
            ),
            (
                "/sessions agent:main:main",
                Input::Command(Slash::Sessions {
                    key: Some("agent:main:main".to_owned()),
                }),
            ),
            (
                "/model a b",
                Input::Misused {
                    usage: "/model [PROVIDER/NAME]",
                },
            ),
            ("/new session", Input::Misused { usage: "/new" }),
            ("/contxt", unknown("contxt", Some("context"))),
            ("/", unknown("", None)),
            ("/zzzzzz", unknown("zzzzzz", None)),
        ];
        for (line, meant) in cases {
            assert_eq!(parse(line), meant, "{line:?}");
        }
    }

    #[test]
    fn help_names_every_command_and_every_command_is_understood() {
        let help = help();
        for (name, does) in commands() {
            assert!(help.contains(&format!("/{name}")) && help.contains(does));
            assert!(
                matches!(parse(&format!("/{name}")), Input::Command(_)),
                "{name}"
            );
        }
    }
}
