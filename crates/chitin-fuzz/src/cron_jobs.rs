//! Files of schedules, and times that are reckoned from them.

use crate::novelty;
use chitin_gateway::cron::CronDocument;
use jiff::tz::TimeZone;

/// What such files are made of.
pub const DICTIONARY: &[&str] = &[
    "{\"version\":1,\"jobs\":[",
    "{\"id\":\"a\",\"schedule\":{\"kind\":\"every\",\"everyMs\":1000},\"payload\":{\"message\":\"hi\"}}",
    "\"schedule\":{\"kind\":\"cron\",\"expr\":\"0 9 * * 1-5\",\"tz\":\"UTC\"}",
    "\"schedule\":{\"kind\":\"at\",\"at\":\"2026-05-01T09:00:00Z\"}",
    "\"expr\":\"*/5 * * * * *\"",
    "\"expr\":\"0 0 L * *\"",
    "\"expr\":\"0 0 * * 5#3\"",
    "\"expr\":\"0 0 30 2 *\"",
    "\"expr\":\"0 0 15W * *\"",
    "\"anchorMs\":-1",
    "\"everyMs\":9223372036854775807",
    "\"state\":{\"nextRunAtMs\":1}",
    "\"sessionTarget\":\"session:agent:main:main\"",
    "\"deleteAfterRun\":false",
    "\"enabled\":false",
    "\"delivery\":{\"mode\":\"announce\",\"channel\":\"last\"}",
    "]}",
    ",",
];

/// Takes bytes as a file.
pub fn run(data: &[u8]) {
    let Ok(document) = CronDocument::read(data) else {
        novelty::note("refused");
        return;
    };
    let again = CronDocument::read(&document.write()).expect("what was read can be read again");
    assert_eq!(again, document, "what was read is read the same again");
    let zone = TimeZone::UTC;
    novelty::note((
        document.entries().count().min(8),
        document.odd().count().min(8),
    ));
    for entry in document.entries().take(4) {
        let fits = entry.check(&zone);
        novelty::note((entry.schedule.kind as u8, fits.is_ok(), entry.enabled));
        let Ok(()) = fits else { continue };
        for now in [0, 1_777_777_777_777] {
            let next = entry.next_ms(now, &zone);
            assert!(next.is_none_or(|next| next > now), "the next time is later");
            // A date that never comes is sought through thousands of years: once is enough.
            if next.is_some() {
                let again = entry.next_ms(now, &zone);
                assert_eq!(next, again, "and the same when asked again");
            }
            novelty::note(next.is_some());
        }
    }
}
