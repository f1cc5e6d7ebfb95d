//! What budgets took away, in figures and in lines.

use crate::given::{Given, extra, file, missing};
use chitin_context::budget::LimitUnit;
use chitin_context::report::{system_notice, user_notice};
use chitin_contract::{ALL, CANONICAL, Contract, OPENCLAW_2026_4, OPENCLAW_2026_9};
use std::fmt::Write as _;

fn lines(given: &Given) -> Vec<String> {
    let context = given.context();
    context
        .files
        .report
        .warning_lines(context.contract, &context.limits)
}

/// A text of so many units, with a limit of so many.
fn one(contract: &'static Contract, length: usize, limit: usize) -> Given {
    let mut given = Given::new(contract, vec![file("SOUL.md", "x".repeat(length))]);
    given.limits.per_file = limit;
    given
}

#[test]
fn three_files_are_named_and_the_rest_is_counted() {
    let names = ["AGENTS.md", "SOUL.md", "TOOLS.md", "USER.md"];
    let mut records: Vec<_> = names.map(|name| file(name, "x".repeat(400))).into();
    records.push(missing("IDENTITY.md"));
    let mut given = Given::new(&CANONICAL, records);
    given.limits.per_file = 150;
    given.limits.total = Some(500);
    given.extras = vec![extra("docs", file("AGENTS.md", "x".repeat(400)))];
    insta::assert_snapshot!(lines(&given).join("\n"), @"
    AGENTS.md (/w/AGENTS.md): 400 raw -> 149 injected (~63% removed; max/file).
    SOUL.md: 400 raw -> 149 injected (~63% removed; max/file).
    TOOLS.md: 400 raw -> 149 injected (~63% removed; max/file).
    +2 more truncated file(s).
    To let more through, raise agents.defaults.bootstrapMaxChars or agents.defaults.bootstrapTotalMaxChars, or shorten the file.
    ");
}

#[test]
fn every_contract_has_its_own_advice() {
    let mut told = String::new();
    for contract in ALL {
        let records = vec![
            file("AGENTS.md", "x".repeat(25_000)),
            file("USER.md", "x".repeat(25_000)),
        ];
        let given = Given::new(contract, records);
        let lines = lines(&given);
        let _ = writeln!(told, "--- {}", contract.name);
        for line in &lines {
            let _ = writeln!(told, "{line}");
        }
        let places = (
            user_notice(&lines, contract).is_some(),
            system_notice(&lines, contract).is_some(),
        );
        let _ = writeln!(
            told,
            "(beside the user's words, in the system prompt: {places:?})"
        );
    }
    insta::assert_snapshot!(told);
}

/// 29 of 200 are 14.5 percent, but not in the doubles that the recorded programs reckon in.
#[test]
fn percentages_are_rounded_as_doubles_round() {
    let percent = |length, limit| {
        let line = lines(&one(&CANONICAL, length, limit)).remove(0);
        line[line.find('~').unwrap()..line.find('%').unwrap()].to_owned()
    };
    assert_eq!(percent(200, 171), "~14");
    assert_eq!(percent(200, 175), "~13");
    assert_eq!(percent(1000, 500), "~50");
}

#[test]
fn near_means_eighty_five_percent_rounded_up() {
    let near = |length, limit| {
        let report = one(&CANONICAL, length, limit).context().files.report;
        report.files[0].near_limit
    };
    assert!(!near(84, 99) && near(85, 99));
    assert!(near(100, 100) && !near(84, 100));
}

/// With limits in tokens, so are the figures: a file of many bytes and few tokens is not near anything.
#[test]
fn figures_are_in_the_unit_of_the_limits() {
    let mut given = one(&CANONICAL, 1000, 400);
    given.limits.unit = LimitUnit::Tokens;
    given.limits.total = Some(900);
    let report = given.context().files.report;
    assert!(report.files[0].raw < 400, "{report:?}");
    assert!(!report.files[0].truncated && !report.files[0].near_limit && !report.near_total);
    assert!(lines(&given).is_empty());
}

#[test]
fn a_limit_that_no_setting_lifts_is_not_blamed_on_settings() {
    let given = Given::new(&OPENCLAW_2026_9, vec![file("USER.md", "x".repeat(5000))]);
    insta::assert_snapshot!(lines(&given).join("\n"), @"
    USER.md: 5000 raw -> 3999 injected (~20% removed; max/file).
    USER.md has a limit of its own that no setting lifts; keep it short.
    ");
}

/// Settings do not lift the cap of the user file, so they are advice only when something else was cut as well.
#[test]
fn advice_fits_what_was_cut() {
    let advice = |records, per_file, total| {
        let mut given = Given::new(&OPENCLAW_2026_9, records);
        given.limits.per_file = per_file;
        given.limits.total = Some(total);
        let lines = lines(&given);
        let told = lines.iter().filter(|line| !line.contains(" raw -> "));
        told.map(|line| line.split([' ', ',']).next().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let user = |length| file("USER.md", "u".repeat(length));
    let soul = || file("SOUL.md", "s".repeat(900));
    let cases = [
        ("over the cap", advice(vec![user(6000)], 20_000, 60_000)),
        (
            "the limit is the cap",
            advice(vec![user(6000)], 4000, 60_000),
        ),
        ("a lower limit", advice(vec![user(6000)], 3000, 60_000)),
        (
            "cap and total",
            advice(vec![soul(), user(6000)], 20_000, 2000),
        ),
        ("total only", advice(vec![soul(), user(3000)], 20_000, 2000)),
        (
            "the rules too",
            advice(
                vec![file("AGENTS.md", "x".repeat(25_000)), user(6000)],
                20_000,
                60_000,
            ),
        ),
    ];
    let told: String = cases
        .map(|(case, words)| format!("{case}: {words}\n"))
        .concat();
    insta::assert_snapshot!(told);
}

/// Releases look up what became of a file by its path; where two share one, the first speaks for both. One of them then
/// looks for the name, so that a file which was left out is reported with the length of its namesake.
#[test]
fn files_of_one_name_are_told_apart_as_each_release_does() {
    let figures = |contract| {
        let mut given = Given::new(contract, vec![file("AGENTS.md", "a".repeat(150))]);
        given.limits.per_file = 200;
        given.limits.total = Some(200);
        given.extras = vec![extra("docs", file("AGENTS.md", "b".repeat(180)))];
        let context = given.context();
        let files = context.files.report.files.iter();
        files
            .filter(|file| file.present)
            .map(|file| (file.raw, file.injected))
            .collect::<Vec<_>>()
    };
    assert_eq!(figures(&CANONICAL), [(150, 150), (180, 0)]);
    assert_eq!(figures(&OPENCLAW_2026_4), [(150, 150), (180, 150)]);
    assert_eq!(figures(&OPENCLAW_2026_9), [(150, 150), (180, 0)]);
}
