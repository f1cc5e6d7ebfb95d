//! What a person wrote, without what the runtime put around it (H27).

use regex::Regex;
use std::sync::LazyLock;

/// What a release puts before the words of a person, each as often as it stands there:
/// labelled blocks of JSON (the migrated ones with another label), lines of the system, files that came along, and the notes of a start.
static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)\A(?:
            [^\n]{1,120}?\ \(untrusted[^)\n]*\):\n```json\n(?s:.*?)\n```\s*
          | [^\n]{1,120}?:\ ⟦openclaw:ctx⟧\n```json\n(?s:.*?)\n```\s*
          | System:\ \[[^\n]*(?:\n\s*|\z)
          | \[media\ attached[^\n]*\][^\S\n]*(?:\n|\z)
          | \(startup\ notes\)\n\n
        )",
    )
    .ok()
});

/// The time at which a message came: `[Mon 2026-11-16 23:36 GMT+1] `.
static STAMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\A\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2} \d{2}:\d{2}(?::\d{2})?(?: [^\]\n]{1,40})?\] ?")
        .ok()
});

/// Returns what a person wrote.
pub fn plain_text(stored: &str) -> String {
    let mut rest = stored;
    while let Some(found) = BEFORE.as_ref().and_then(|pattern| pattern.find(rest)) {
        if found.is_empty() {
            break;
        }
        rest = &rest[found.end()..];
    }
    if let Some(stamp) = STAMP.as_ref().and_then(|pattern| pattern.find(rest)) {
        rest = &rest[stamp.end()..];
    }
    rest.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "Sender (untrusted metadata):\n```json\n{\n  \"id\": \"7\"\n}\n```\n\n";

    #[test]
    fn blocks_system_lines_files_and_the_time_go_and_the_words_stay() {
        let migrated = BLOCK.replace("Sender (untrusted metadata):", "Sender: ⟦openclaw:ctx⟧");
        for stored in [
            format!("{BLOCK}Hello [you]."),
            format!("{migrated}Hello [you]."),
            format!(
                "Conversation info (untrusted metadata):\n```json\n{{}}\n```\n\n{BLOCK}Hello [you]."
            ),
            format!(
                "System: [2026-11-16 22:37:19 UTC] x\nSystem: [y] z\n\n{BLOCK}[Mon 2026-11-16 23:37 GMT+1] Hello [you]."
            ),
            format!("[media attached: /a/b.png (image/png) | /a/b.png]\n{BLOCK}Hello [you]."),
            "[Mon 2026-11-16 23:36 GMT+1] Hello [you].".to_owned(),
            "Hello [you].".to_owned(),
        ] {
            assert_eq!(plain_text(&stored), "Hello [you].", "{stored}");
        }
    }

    #[test]
    fn what_stands_within_the_words_is_theirs() {
        for words in [
            format!("I got this:\n\n{BLOCK}What is it?"),
            "System: is a word of mine".to_owned(),
            "[cron:1 a] Do it. [Mon 2026-11-16 23:36 GMT+1] x".to_owned(),
            "(a note)\n\nand words".to_owned(),
            String::new(),
        ] {
            assert_eq!(plain_text(&words), words);
        }
    }
}
