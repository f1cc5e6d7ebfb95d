//! The extension files: permissions, tool servers, channels, model settings.

use crate::novelty;
use chitin_config::env::Env;
use chitin_workspace::extensions::permissions::{
    CallerUsage, JavaZone, MessageDecision, Pattern, PermissionRequest, TimeWindow, parse,
};
use chitin_workspace::extensions::suggestion::suggest;
use chitin_workspace::extensions::{LiveText, Secret, channels, mcp, runtime};
use jiff::Timestamp;
use std::collections::{BTreeMap, HashSet};

/// What the files are made of.
pub const DICTIONARY: &[&str] = &[
    "\n- ",
    "* ",
    "# ",
    "> ",
    "```\n",
    ": ",
    "deny: ",
    "deny-regex: ",
    "allow: ",
    "allow-regex: ",
    "require-role: admin\n",
    "message-length: 10\n",
    "rate-limit: 2/60\n",
    "concurrency-limit: 1\n",
    "time-window: 09:00-17:00 Europe/Berlin\n",
    "time-window: 22:00-06:00 +02:00\n",
    "kill-switch: on\n",
    "(?i)",
    "(?<n>a)",
    "\\k<n>",
    "(?=a)",
    "(?<!a)",
    "(?>a+)",
    "a++",
    "(a+)+$",
    "[a-z&&[^b]]",
    "[^]",
    "\\p{IsLatin}",
    "\\p{javaLowerCase}",
    "\\Q",
    "\\E",
    "\\x{1F600}",
    "\\u0041",
    "\\0101",
    "\\cA",
    "\\R",
    "\\X",
    "\\b{g}",
    "{2,1}",
    "{1000}",
    "{99999999999}",
    "|",
    "(",
    ")",
    "[",
    "]",
    "\\",
    "2147483648",
    "-1",
    "+5",
    "24:00",
    "23:59:59.999999999",
    "UTC+18:00",
    "GMT",
    "Z",
    "mode: local\n",
    "model: gpt-4o\n",
    "api-key: k-0123456789abcdef\n",
    "base-url: http://localhost\n",
    "temperature: 3\n",
    "top-p: NaN\n",
    "max-tokens: 1e3\n",
    "stop: a, b\n",
    "files: https://example.org/mcp\n",
    "http://[::1%eth0]:80/",
    "%zz",
    "\u{130}",
    "\u{a0}",
    "\u{2028}",
];

const MESSAGES: [&str; 4] = [
    "",
    "hello admin",
    "aaaaaaaaaaaaaaaaaaaaaaaa!",
    "\u{1f600} x",
];

/// Reads the text as each of the files.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check_permissions(&text);
    for line in text.lines().take(8) {
        novelty::note((
            TimeWindow::parse(line).is_ok(),
            JavaZone::parse(line).is_ok(),
        ));
        novelty::note(Pattern::expression(line).is_ok());
    }
    check_servers(&text);
    let names = channels::parse(&text);
    let distinct: HashSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "a channel twice");
    novelty::note(names.len().min(5));
    check_runtime(&text);
    check_suggestion(&text);
}

/// What is suggested names no file of the machine without saying so, and no key is told.
fn check_suggestion(text: &str) {
    let found = suggest(&LiveText::Text(text.into()));
    novelty::note((
        found.model.is_some(),
        found.max_tokens.is_some(),
        found.notes.len().min(4),
    ));
    if let Some(Ok(name)) = found.full_name() {
        assert!(name == "offline" || name.contains('/'), "{name:?}");
    }
}

fn check_permissions(text: &str) {
    let permissions = match parse(text, "ops") {
        Ok(permissions) => permissions,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            novelty::note(std::mem::discriminant(&error.problem));
            assert!(
                error.position.line <= text.len() + 1,
                "a line behind the end"
            );
            return;
        }
    };
    assert!(
        permissions
            .policies
            .iter()
            .all(|policy| !policy.lines.is_empty()),
        "a policy of no line"
    );
    for policy in &permissions.policies {
        novelty::note(policy.rule.kind());
    }
    let mut usage = CallerUsage::default();
    for message in MESSAGES {
        for now in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
            let request = PermissionRequest {
                message,
                roles: &["admin"],
                now,
            };
            let decided = permissions.decide(request, &usage);
            let admitted = permissions.admit(request, &mut usage);
            assert_eq!(decided, admitted, "looking and counting disagree");
            novelty::note(admitted == MessageDecision::Admit);
            if permissions.screen_answer(message) != MessageDecision::Admit {
                assert_ne!(
                    admitted,
                    MessageDecision::Admit,
                    "what is denied was let in"
                );
                let internal = permissions.decide_internal(request, &usage);
                assert_ne!(
                    internal,
                    MessageDecision::Admit,
                    "what is denied was let in from inside"
                );
            }
        }
        let _ = permissions.screen_answer(message);
        let _ = permissions.screen_tool_arguments(message);
    }
    let shown = serde_json::to_string(&permissions);
    assert!(shown.is_ok(), "policies that cannot be shown");
}

fn check_servers(text: &str) {
    let found = mcp::parse(text);
    let names: HashSet<_> = found.servers.iter().map(|server| &server.name).collect();
    assert_eq!(names.len(), found.servers.len(), "a server twice");
    for server in &found.servers {
        assert!(server.uri.starts_with("http://") || server.uri.starts_with("https://"));
        let prefix = mcp::tool_prefix(&server.name);
        assert!(
            prefix.len() > 1 && prefix.ends_with('_') && !prefix.starts_with('_'),
            "{prefix:?}"
        );
    }
    novelty::note((found.servers.len().min(4), found.skipped.len().min(4)));
}

fn check_runtime(text: &str) {
    let env = Env::new("/");
    let properties = BTreeMap::new();
    let overrides = runtime::Overrides::new(&properties, &env);
    let applied = runtime::apply(text, overrides, None);
    for warning in &applied.warnings {
        novelty::note(std::mem::discriminant(warning));
    }
    let Some(settings) = applied.settings else {
        return;
    };
    assert!(
        settings
            .temperature
            .is_none_or(|value| (0.0..=2.0).contains(&value))
    );
    assert!(
        settings
            .top_p
            .is_none_or(|value| (0.0..=1.0).contains(&value))
    );
    novelty::note((
        &settings.mode == "local",
        settings.max_tokens.is_some(),
        settings.stop.as_ref().map(|stop| stop.len().min(3)),
    ));
    let shown = format!("{settings:?} {}", serde_json::json!(settings));
    if let Some(key) = settings.api_key.as_ref().map(Secret::expose)
        && key.len() >= 12
        && text.matches(key).count() == 1
    {
        assert!(!shown.contains(key), "the key is shown");
    }
    let again = runtime::apply(text, overrides, Some(&settings));
    assert_eq!(
        again.settings.as_ref(),
        Some(&settings),
        "applied twice, it is another thing"
    );
}
