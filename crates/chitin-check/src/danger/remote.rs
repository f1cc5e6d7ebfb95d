//! Instructions that are fetched while the agent runs, and obeyed.

use super::Danger;
use crate::phrases::Hit;
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;

/// Something is fetched, and what it says is done.
pub(super) fn obeyed(subject: &Subject<'_>, hit: &Hit) -> Option<Danger> {
    let paragraph = subject.paragraph_around(hit.span.start);
    let before = subject.small(paragraph.start..hit.span.start);
    let address = before.rfind("://")?;
    let fetched = has(
        &before[..address],
        &[
            "fetch", "load", "get ", "read ", "download", "retrieve", "check ", "curl", "wget",
            "poll", "open ", "visit",
        ],
    );
    let phrase = &subject.lower[hit.span.clone()];
    // People are told to visit a page and to follow it; that is what pages are for.
    let for_people =
        phrase.starts_with("follow the") && has(before, &["visit", "open ", "go to", "sign up"]);
    (fetched && !for_people && before.len() - address < 300).then(|| {
        Danger::new(
            &rules::REMOTE_INSTRUCTIONS,
            hit.span.clone(),
            "has the agent obey what an address says at the time",
        )
    })
}
