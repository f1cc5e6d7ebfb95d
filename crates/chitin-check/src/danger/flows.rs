//! Private data on its way out: keys, profiles, wallets, the environment, the conversation.

use super::Danger;
use crate::phrases::{Hit, Sign};
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;
use std::ops::Range;

pub(super) const SENT: &str = "sends private data elsewhere";

/// What sends, in commands and programs.
const SENDERS: &[&str] = &[
    "requests.post",
    "requests.put",
    "httpx.post",
    "axios.post",
    "sendbeacon",
    "method: 'post'",
    "method: \"post\"",
    "method:'post'",
    "http.request(",
    "https.request(",
    "senddocument",
    "sendmessage?",
    "smtplib",
    "uploadstring",
    "uploadfile",
    "sendto(",
    ".sendall(",
    "--post-file",
    "--post-data",
    "-method post",
];

/// Words for sending, in prose.
const VERBS: &[&str] = &[
    "send", "post", "upload", "forward", "deliver", "submit", "transmit", "include", "copy", "put",
    "add them", "add it", "append", "export", "report",
];

/// Something private and something that sends, together.
pub(super) fn taken(subject: &Subject<'_>, hit: &Hit, sign: Sign) -> Option<Danger> {
    if !is_private(subject, hit) {
        return None;
    }
    let at = hit.span.start;
    let command = subject.command_around(at);
    let in_prose = subject.is_prose(at);
    if sign != Sign::Words && !in_prose && sends(subject.small(command.clone())) {
        return Some(Danger::new(
            &rules::SENDS_DATA,
            from_text(subject, command),
            SENT,
        ));
    }
    if sign == Sign::Private {
        if let Some(program) = subject.program_around(at)
            && sends(subject.small(program))
        {
            return Some(Danger::new(&rules::SENDS_DATA, hit.span.clone(), SENT));
        }
        if asks_for(subject, hit) {
            return Some(Danger::new(
                &rules::WATCHES,
                hit.span.clone(),
                "is something that no skill should ask for",
            ));
        }
    }
    let in_span = subject.is_markdown() && subject.code.span_around(at).is_some();
    let is_key = &subject.lower[hit.span.clone()] == "private key";
    let is_told = (in_prose || in_span)
        && (told_to_send(subject, at)
            || (is_key && sends(subject.small(subject.paragraph_around(at)))));
    is_told.then(|| Danger::new(&rules::SENDS_DATA, hit.span.clone(), SENT))
}

/// Cuts white space off the beginning of a range.
fn from_text(subject: &Subject<'_>, range: Range<usize>) -> Range<usize> {
    let text = &subject.lower[range.clone()];
    range.start + (text.len() - text.trim_start().len())..range.end
}

/// Sorts out public keys, keys that a command logs in with, single variables of the environment.
fn is_private(subject: &Subject<'_>, hit: &Hit) -> bool {
    let phrase = &subject.lower[hit.span.clone()];
    let after = subject.small(hit.span.end..hit.span.end + 40);
    let before = subject.small(hit.span.start.saturating_sub(40)..hit.span.start);
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | ';' | '|');
    let rest_of_word = after.split(is_end).next().unwrap_or_default();
    let start_of_word = before.rsplit(is_end).next().unwrap_or_default();
    let start_of_phrase = &before[before
        .len()
        .min(before.floor_char_boundary(before.len().saturating_sub(24)))..];
    let option = before[..before.len() - start_of_word.len()].trim_end();
    if rest_of_word.contains(".pub")
        || rest_of_word.starts_with(".example")
        || rest_of_word.starts_with("authorized_keys")
        || (option.ends_with("-i") && !option.ends_with("nc -i"))
        || option.ends_with("--env-file")
        || option.ends_with("--exclude")
        || start_of_word.contains("exclude=")
        // What lies on a server of the user's own is fetched, not sent.
        || (start_of_word.contains('@') && start_of_word.contains(':'))
        || option.ends_with("identityfile")
    {
        return false;
    }
    match phrase {
        "os.environ" | "process.env" => {
            let whole = after.starts_with([')', ',', '}', ']', ';', '\n']);
            whole || after.starts_with(".items()") || after.starts_with(".copy()")
        }
        ".env" | ".ssh" | "ssh/" => !rest_of_word.starts_with(['a', 'b', 'c', 'd', 'l', 'p', 's']),
        "environment variables" => has(
            start_of_phrase,
            &["all ", "full ", "every ", "list of ", "the user's "],
        ),
        "env)" => before.ends_with("$(") || before.ends_with('`'),
        _ => true,
    }
}

/// Tells whether a command or program sends what it has.
pub(super) fn sends(text: &str) -> bool {
    // Nothing shorter names what is sent and where to.
    if text.len() < 12 {
        return false;
    }
    if has(text, SENDERS) {
        return true;
    }
    let curl = text.contains("curl")
        && (has(
            text,
            &[
                " -d ",
                " -d@",
                " --data",
                "=@",
                " @-",
                " -t -",
                " -t /",
                " -t \"",
                " -t $",
                " -t @",
                "--upload-file",
                "-x post",
                "-d\"",
                "-d$",
            ],
        ) || has(text, &["=$", "?$"]) && text.contains("://"));
    let posts = text.contains("urlopen(") && has(text, &["data=", ", open(", "post"]);
    let copies = has(text, &["scp ", "rsync ", "rclone "]) && text.contains('@');
    let pipes = has(text, &["| nc ", "|nc ", "| ncat ", "nc -q", "nc -w"]);
    curl || posts || copies || pipes
}

/// Tells whether prose asks for something to be sent to an address.
fn told_to_send(subject: &Subject<'_>, at: usize) -> bool {
    let paragraph = subject.paragraph_around(at);
    let text = subject.small(paragraph);
    if !text.contains("://") && !text.contains('@') {
        return false;
    }
    let directed = [
        "to http",
        "to `http",
        "to <http",
        "of http",
        "at http",
        "with http",
        "bin http",
        "to [",
        "to audit@",
        "to log@",
    ]
    .iter()
    .any(|way| text.contains(way))
        || (text.contains(" the request to ") && text.contains("://"));
    let verb = VERBS.iter().find_map(|verb| text.find(verb));
    let Some(verb) = verb.filter(|_| directed) else {
        return false;
    };
    let before = &text[..verb];
    let sentence = before.rsplit(['.', '!', '\n']).next().unwrap_or(before);
    !has(sentence, &["never", "not ", "n't "])
}

/// Tells whether the user is to be asked for the words that open a wallet.
fn asks_for(subject: &Subject<'_>, hit: &Hit) -> bool {
    if !subject.lower[hit.span.clone()].ends_with("phrase") {
        return false;
    }
    let before = subject.small(hit.span.start.saturating_sub(60)..hit.span.start);
    let sentence = before.rsplit(['.', '!', '\n']).next().unwrap_or(before);
    let asked = has(
        sentence,
        &["ask the user", "ask for", "ask them", "have the user"],
    ) || (has(sentence, &["enter", "type", "paste", "provide", "give"])
        && sentence.contains("your "));
    asked
        && !has(
            sentence,
            &["never", "not ", "n't ", "that ask", "who ask", "operator"],
        )
}

/// A name that is made of data: `dig $(…).example`.
pub(super) fn looked_up(subject: &Subject<'_>, hit: &Hit) -> Option<Danger> {
    let command = subject.command_around(hit.span.start);
    let rest = subject.small(hit.span.end..command.end);
    let whole = subject.small(command.clone());
    let program = subject.program_around(hit.span.start);
    let together = program.map_or(whole, |program| subject.small(program));
    let makes = has(
        together,
        &[
            "base64",
            "xxd",
            "whoami",
            "hostname",
            "id -un",
            "hexdump",
            "od -",
            "credentials",
            "gzip",
        ],
    );
    let carries = (rest.contains(").") || rest.contains("}.") || carries_variable(rest))
        && rest.contains('$');
    let in_words = subject.is_prose(hit.span.start)
        && &subject.lower[hit.span.clone()] == "resolve"
        && has(rest, &["<hex", "<base", "encoded"]);
    ((makes && carries) || in_words).then(|| {
        Danger::new(
            &rules::SENDS_DATA,
            hit.span.start..command.end,
            "sends data in the names that it looks up",
        )
    })
}

/// Tells whether a variable is followed by a dot: `$b.d.example`.
fn carries_variable(text: &str) -> bool {
    text.split('$').skip(1).any(|part| {
        let name = part.len()
            - part
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
                .len();
        name > 0 && part[name..].starts_with('.')
    })
}
