//! What a provider can reuse from one turn to the next.

use crate::given::{Given, file};
use chitin_context::FragmentOrigin;
use chitin_context::cache::{BreakKind, common_prefix, volatile_above_boundary};
use chitin_context::sections::{HostFacts, PromptFacts};
use chitin_contract::{ALL, CANONICAL, OPENCLAW_2026_2};
use chitin_workspace::snapshot::Record;
use std::sync::Arc;

fn given(records: &[(&str, &str)]) -> Given {
    let records: Vec<Record> = records
        .iter()
        .map(|(name, text)| file(name, *text))
        .collect();
    Given::new(&CANONICAL, records)
}

/// The kind of the break, and the files at it, before and after.
#[expect(clippy::unwrap_used, reason = "callers compare what differs")]
fn broken(before: &Given, after: &Given) -> (BreakKind, String, String) {
    let (before, after) = (before.context(), after.context());
    let found = common_prefix(&before, &after).broken_by.unwrap();
    let name = |context: &chitin_context::Context, at: Option<usize>| match at
        .map(|at| context.fragments[at].origin.clone())
    {
        None => "the end".to_owned(),
        Some(FragmentOrigin::File { name, .. }) => name.to_string(),
        Some(FragmentOrigin::Section { key }) => key.to_owned(),
        Some(FragmentOrigin::Boundary) => "boundary".to_owned(),
    };
    (
        found.kind,
        name(&before, found.before),
        name(&after, found.after),
    )
}

fn changed(name: &str) -> (BreakKind, String, String) {
    (BreakKind::Changed, name.to_owned(), name.to_owned())
}

/// A line at the end of a file is blamed on that file, not on the next one, whose heading it pushed down.
#[test]
fn the_file_that_changed_is_the_file_that_is_named() {
    let before = given(&[
        ("SOUL.md", "Calm."),
        ("USER.md", "Ines."),
        ("MEMORY.md", "Tides."),
    ]);
    let longer = given(&[
        ("SOUL.md", "Calm.\nKind."),
        ("USER.md", "Ines."),
        ("MEMORY.md", "Tides."),
    ]);
    let shorter = given(&[
        ("SOUL.md", "Calm."),
        ("USER.md", "I"),
        ("MEMORY.md", "Tides."),
    ]);
    assert_eq!(broken(&before, &longer), changed("SOUL.md"));
    assert_eq!(broken(&longer, &before), changed("SOUL.md"));
    assert_eq!(broken(&before, &shorter), changed("USER.md"));
}

#[test]
fn a_file_that_came_or_went_stands_in_the_place_of_another() {
    let without = given(&[("SOUL.md", "Calm."), ("MEMORY.md", "Tides.")]);
    let with = given(&[
        ("SOUL.md", "Calm."),
        ("USER.md", "Ines."),
        ("MEMORY.md", "Tides."),
    ]);
    let (kind, before, after) = broken(&without, &with);
    assert_eq!(
        (kind, &*before, &*after),
        (BreakKind::Replaced, "MEMORY.md", "USER.md")
    );
    let (kind, before, after) = broken(&with, &without);
    assert_eq!(
        (kind, &*before, &*after),
        (BreakKind::Replaced, "USER.md", "MEMORY.md")
    );
}

/// Two characters that begin with the same byte have nothing in common.
#[test]
fn a_prefix_ends_between_characters() {
    let (before, after) = (given(&[("SOUL.md", "Olé")]), given(&[("SOUL.md", "Olè")]));
    let (before, after) = (before.context(), after.context());
    let prefix = common_prefix(&before, &after);
    assert!(before.system()[..prefix.bytes].ends_with("Ol"));
    let lines = before.system()[..prefix.bytes].matches('\n').count();
    assert_eq!(prefix.line, lines + 1);
}

/// A date or a model that stands above the boundary spoils what is cached; no contract that has a boundary hides it.
#[test]
fn what_any_turn_may_change_is_reported_above_the_boundary() {
    for contract in ALL {
        let mut given = Given::new(contract, vec![file("SOUL.md", "Calm.")]);
        given.prompt = Arc::new(PromptFacts {
            host: HostFacts {
                model: Some("ollama/qwen3".into()),
                ..HostFacts::default()
            },
            time_zone: Some("Europe/Lisbon".into()),
            date: Some("2026-03-02".into()),
            ..PromptFacts::default()
        });
        let context = given.context();
        let boundary = context
            .fragments
            .iter()
            .position(|one| one.origin == FragmentOrigin::Boundary);
        let volatile = volatile_above_boundary(&context);
        assert!(
            volatile.iter().all(|at| Some(*at) < boundary),
            "{}",
            contract.name
        );
        if contract.name == OPENCLAW_2026_2.name {
            assert_eq!((boundary, volatile.len()), (None, 0));
        }
    }
}
