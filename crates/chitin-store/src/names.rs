//! Names of files: whatever an index says, nothing outside the directory can be meant.

use crate::compat;

/// The longest name that file systems take.
const MAX_BYTES: usize = 255;

/// Tells whether a name can be that of a transcript in the directory, and of nothing else.
pub(crate) fn is_transcript(name: &str) -> bool {
    !name.ends_with(compat::TRAJECTORY)
        && name
            .strip_suffix(compat::TRANSCRIPT)
            .is_some_and(is_session_id)
}

/// Tells whether a name can be that of a transcript which was put into the archive when its session was reset.
pub(crate) fn is_archived(name: &str) -> bool {
    name.split_once(compat::RESET)
        .is_some_and(|(name, time)| is_transcript(name) && is_session_id(time))
}

/// Tells whether an id can be part of a file's name: no way out of the directory, nothing hidden, no control characters.
/// Ids of topic sessions carry an escaped topic.
pub(crate) fn is_session_id(id: &str) -> bool {
    let first = id.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphanumeric())
        && id.len() <= MAX_BYTES - 64
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.%~!'()*".contains(&byte))
}

/// Returns the name of a session's transcript: the one that the index names, if it can be one, else that of its id.
pub(crate) fn transcript(session_id: &str, session_file: Option<&str>) -> Option<String> {
    let named = session_file
        .and_then(|file| file.rsplit('/').next())
        .filter(|name| is_transcript(name));
    match named {
        Some(name) => Some(name.to_owned()),
        None if is_session_id(session_id) => Some(of_id(session_id)),
        None => None,
    }
}

/// Returns the name of the transcript with an id.
pub(crate) fn of_id(session_id: &str) -> String {
    format!("{session_id}{}", compat::TRANSCRIPT)
}

/// Returns a time as it stands in names of files.
pub(crate) fn time(now: &str) -> String {
    now.chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') => c,
            _ => '-',
        })
        .take(40)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_directory() {
        for bad in [
            "", ".", "..", "../x", "a/b", ".hidden", "a\0b", "a\nb", "-x",
        ] {
            assert!(!is_session_id(bad), "{bad:?}");
        }
        assert_eq!(
            transcript("a", Some("/etc/../x/../../passwd")),
            Some("a.jsonl".to_owned())
        );
        assert_eq!(
            transcript("..", Some("/s/../b-topic-7%2F8.jsonl")),
            Some("b-topic-7%2F8.jsonl".to_owned())
        );
        assert_eq!(transcript("../../etc/passwd", None), None);
    }
}
