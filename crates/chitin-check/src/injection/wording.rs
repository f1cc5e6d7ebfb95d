//! Wording that hides something from the user or puts itself above other rules, where a phrase alone does not tell.

use crate::phrases::{Hit, Sign};
use crate::subject::Subject;
use crate::surroundings::has;

/// What is kept from the user.
const TELLING: &[&str] = &["tell", "inform", "alert", "let"];

/// Tells whether `the user` is the one who is not to know, or whether words about rules put themselves above them.
pub(super) fn is_injection(subject: &Subject<'_>, hit: &Hit, sign: Sign) -> bool {
    let before = subject.small(hit.span.start.saturating_sub(70)..hit.span.start);
    let after = subject.small(hit.span.end..hit.span.end + 60);
    let sentence = before
        .rsplit(['.', '!', '?', ';', '\n'])
        .next()
        .unwrap_or(before);
    match sign {
        Sign::Person => is_kept_from(sentence, after),
        Sign::Rules => {
            let phrase = &subject.lower[hit.span.clone()];
            let around = subject.small(hit.span.start.saturating_sub(100)..hit.span.end + 100);
            match phrase {
                "[system]" => before.trim_end_matches(' ').ends_with('\n') || before.is_empty(),
                "<system>" | "</system>" | "</instructions>" => {
                    !subject.code.is_code(hit.span.start)
                }
                "no longer apply" | "no longer applies" => {
                    has(
                        sentence,
                        &["guideline", "rules", "instructions", "restrictions"],
                    ) && has(sentence, &["your", "earlier", "previous", "system"])
                }
                "highest priority" => {
                    has(around, &["rules", "instructions"])
                        && has(
                            around,
                            &[
                                "replace",
                                "override",
                                "agents.md",
                                "system prompt",
                                "above all",
                            ],
                        )
                }
                "replace the rules" | "override the rules" | "supersedes all" => has(
                    around,
                    &["agents.md", "system", "soul.md", "instructions", "previous"],
                ),
                "maintenance mode" => has(before, &["you are now", "you are in"]),
                "must not refuse" | "never refuse" => {
                    has(around, &["assistant", "you ", "request"])
                }
                _ => has(before, &["you ", "assistant", "now "]),
            }
        }
        _ => false,
    }
}

fn is_kept_from(sentence: &str, after: &str) -> bool {
    let after = after.trim_start();
    if [
        "need not know",
        "does not need to know",
        "doesn't need to know",
        "must not know",
        "should not know",
        "shouldn't know",
        "must not notice",
        "won't notice",
        "will not notice",
        "does not notice",
    ]
    .iter()
    .any(|words| after.starts_with(words))
    {
        return true;
    }
    // Telling somebody to do something, or how, is another matter.
    if ["to ", "how ", "what to ", "when to "]
        .iter()
        .any(|words| after.starts_with(words))
    {
        return false;
    }
    let negation = [
        "do not ",
        "don't ",
        "never ",
        "without ",
        "must not ",
        "no need to ",
        "not to ",
    ]
    .iter()
    .filter_map(|words| sentence.rfind(words).map(|at| at + words.len()))
    .max();
    let Some(start) = negation else {
        return false;
    };
    let between = &sentence[start..];
    let tells = between.split_whitespace().next().is_some_and(|verb| {
        let verb = verb.trim_end_matches("ing");
        TELLING.contains(&verb)
    });
    let lets_know = !between.starts_with("let")
        || after.starts_with("know")
        || after.starts_with("see")
        || after.starts_with("notice");
    let shows = has(
        between,
        &[
            "mention this to",
            "mention it to",
            "reveal this to",
            "reveal it to",
            "report this to",
            "report it to",
            "show this to",
            "disclose",
        ],
    );
    (tells && lets_know && between.len() < 24) || shows
}
