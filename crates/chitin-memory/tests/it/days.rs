//! Days that a question names.

use chitin_memory::words::days;

/// Saturday, 2 May 2026, noon.
const NOW: i64 = 1_777_723_200_000;

fn named(question: &str) -> Option<(String, String)> {
    days(question, NOW).map(|days| (days.first.to_string(), days.last.to_string()))
}

#[test]
fn a_question_may_name_a_day_a_month_or_a_part_of_it() {
    let span = |first: &str, last: &str| Some((first.to_owned(), last.to_owned()));
    let day = |day: &str| span(day, day);
    assert_eq!(named("what happened on 2025-03-02?"), day("2025-03-02"));
    assert_eq!(named("notes of 2025-03"), span("2025-03-01", "2025-03-31"));
    assert_eq!(
        named("In March 2025, who came"),
        span("2025-03-01", "2025-03-31")
    );
    assert_eq!(named("early March 2025"), span("2025-03-01", "2025-03-10"));
    assert_eq!(
        named("late february 2024"),
        span("2024-02-21", "2024-02-29")
    );
    assert_eq!(named("the 2nd March 2025"), day("2025-03-02"));
    assert_eq!(named("March 2, 2025"), day("2025-03-02"));
    assert_eq!(named("am 3. März 2025"), day("2025-03-03"));
    assert_eq!(named("what did we do yesterday"), day("2026-05-01"));
    assert_eq!(named("last week"), span("2026-04-25", "2026-05-02"));
    assert_eq!(named("last month"), span("2026-04-01", "2026-04-30"));
}

#[test]
fn what_only_looks_like_a_day_is_none() {
    for question in [
        "the march of the crabs",
        "may I?",
        "2025",
        "version 2025-99",
        "12-12",
        "31 February 20",
        "",
    ] {
        assert_eq!(named(question), None, "{question}");
    }
}
