//! Secrets with a frame: private key blocks, webhook addresses, passwords in addresses.

use super::randomness::{is_placeholder, is_varied};
use super::shapes::Alphabet;
use super::{MAX_SECRETS, Secret, SecretKind};
use memchr::memmem;

pub(super) fn scan(text: &str, found: &mut Vec<Secret>) {
    private_keys(text, found);
    slack_webhooks(text, found);
    discord_webhooks(text, found);
    passwords_in_addresses(text, found);
}

fn private_keys(text: &str, found: &mut Vec<Secret>) {
    const BEGIN: &str = "-----BEGIN ";
    const MAX_BLOCK: usize = 16 * 1024;
    const MAX_LABEL: usize = 48;
    let bytes = text.as_bytes();
    for start in memmem::find_iter(bytes, BEGIN.as_bytes()).take(MAX_SECRETS) {
        let label_start = start + BEGIN.len();
        let window = &bytes[label_start..bytes.len().min(label_start + MAX_LABEL)];
        let Some(label_length) = memmem::find(window, b"-----") else {
            continue;
        };
        if memmem::find(&window[..label_length], b"PRIVATE KEY").is_none() {
            continue;
        }
        let body_start = label_start + label_length + 5;
        let limit = bytes.len().min(body_start + MAX_BLOCK);
        let body_end = memmem::find(&bytes[body_start..limit], b"-----END").map_or_else(
            || end_of_base64(bytes, body_start, limit),
            |at| body_start + at,
        );
        let Some(body) = text.get(body_start..body_end) else {
            continue;
        };
        let letters: String = body
            .replace("\\n", "")
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(512)
            .collect();
        if letters.len() >= 40 && is_varied(&letters) && !is_placeholder(&letters) {
            found.push(Secret::new(
                SecretKind::PrivateKey,
                start..body_end,
                "a private key in PEM form",
                "-----BEGIN PRIVATE KEY-----…".to_owned(),
            ));
        }
    }
}

fn end_of_base64(bytes: &[u8], start: usize, limit: usize) -> usize {
    let is_body = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'\n' | b'\r' | b' ' | b'\\')
    };
    start
        + bytes[start..limit]
            .iter()
            .take_while(|&&b| is_body(b))
            .count()
}

fn slack_webhooks(text: &str, found: &mut Vec<Secret>) {
    const HOST: &str = "hooks.slack.com/services/";
    for start in memmem::find_iter(text.as_bytes(), HOST.as_bytes()).take(MAX_SECRETS) {
        let path = path_at(text, start + HOST.len());
        let mut parts = path.split('/');
        let (team, hook, secret) = (parts.next(), parts.next(), parts.next());
        let is_hook = team.is_some_and(|part| part.starts_with('T'))
            && hook.is_some_and(|part| part.starts_with('B'))
            && secret.is_some_and(|part| part.len() >= 20 && is_varied(part))
            && !is_placeholder(path);
        if is_hook {
            push_webhook(found, start, HOST, path, "a Slack webhook");
        }
    }
}

fn discord_webhooks(text: &str, found: &mut Vec<Secret>) {
    const PATH: &str = "/api/webhooks/";
    for start in memmem::find_iter(text.as_bytes(), PATH.as_bytes()).take(MAX_SECRETS) {
        let host =
            text[..start].ends_with("discord.com") || text[..start].ends_with("discordapp.com");
        let path = path_at(text, start + PATH.len());
        let mut parts = path.split('/');
        let (id, secret) = (parts.next(), parts.next());
        let is_hook = host
            && id.is_some_and(|id| id.len() >= 15 && id.bytes().all(|b| b.is_ascii_digit()))
            && secret.is_some_and(|part| part.len() >= 40 && is_varied(part))
            && !is_placeholder(path);
        if is_hook {
            push_webhook(found, start, PATH, path, "a Discord webhook");
        }
    }
}

fn push_webhook(
    found: &mut Vec<Secret>,
    start: usize,
    frame: &str,
    path: &str,
    what: &'static str,
) {
    found.push(Secret::new(
        SecretKind::Webhook,
        start..start + frame.len() + path.len(),
        what,
        format!("{frame}…{}", &path[path.len() - 2..]),
    ));
}

/// Returns the path letters from an offset on, without separators at the end.
fn path_at(text: &str, start: usize) -> &str {
    let length = text.as_bytes()[start..]
        .iter()
        .take_while(|&&b| Alphabet::Token.has(b) || b == b'/')
        .count();
    text[start..start + length].trim_end_matches('/')
}

/// Finds `scheme://user:password@host`.
fn passwords_in_addresses(text: &str, found: &mut Vec<Secret>) {
    const MAX_AUTHORITY: usize = 256;
    let bytes = text.as_bytes();
    for at in memmem::find_iter(bytes, b"://").take(MAX_SECRETS) {
        let start = at + 3;
        let window = &bytes[start..bytes.len().min(start + MAX_AUTHORITY)];
        let length = window
            .iter()
            .position(|&b| {
                !b.is_ascii_graphic()
                    || matches!(b, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'?' | b'#')
            })
            .unwrap_or(window.len());
        let authority = &text[start..start + length];
        let Some((user_info, host)) = authority.rsplit_once('@') else {
            continue;
        };
        let Some((user, password)) = user_info.split_once(':') else {
            continue;
        };
        let is_real = password.len() >= 8
            && !host.is_empty()
            && is_varied(password)
            && !is_placeholder(password)
            && !password.starts_with(['$', '{', '[', '(', '%', '*'])
            && !password.to_ascii_lowercase().contains("pass");
        if is_real {
            let from = start + user.len() + 1;
            found.push(Secret::new(
                SecretKind::Assignment,
                from..from + password.len(),
                "The password in an address",
                "[hidden]".to_owned(),
            ));
        }
    }
}
