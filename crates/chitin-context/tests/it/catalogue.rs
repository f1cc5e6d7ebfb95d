//! The list of skills: what is in it, what gives way when there is no room, and that nothing goes missing in silence.
#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

use chitin_context::catalogue::{
    Catalogue, CatalogueLimits, CatalogueSkill, Form, LeftOutReason, RemoteNote, catalogue,
    counted_guidance, counted_notice, guidance, limits,
};
use chitin_context::fragment::FragmentSource;
use chitin_contract::{
    ALL, CANONICAL, CatalogueFitting, Contract, OPENCLAW_2026_4, OPENCLAW_2026_9,
};
use chitin_protocol::text::utf16_len;
use proptest::prelude::*;
use serde_json::json;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

fn skill<'a>(name: &'a str, description: &'a str) -> CatalogueSkill<'a> {
    CatalogueSkill {
        name,
        description,
        location: Cow::Owned(format!("/home/ada/ws/skills/{name}/SKILL.md")),
        location_note: None,
        visible: true,
    }
}

fn room(max_skills: usize, max_chars: usize) -> CatalogueLimits {
    CatalogueLimits {
        max_skills,
        max_chars,
    }
}

const ROOMY: CatalogueLimits = CatalogueLimits {
    max_skills: 150,
    max_chars: 18_000,
};

fn list(skills: &[CatalogueSkill<'_>], limits: CatalogueLimits, contract: &Contract) -> Catalogue {
    let homes = [Path::new("/home/ada"), Path::new("/data/home/ada/")];
    catalogue(skills, limits, &homes, None, &contract.skills, None).expect("there are skills")
}

fn text(catalogue: &Catalogue) -> String {
    catalogue
        .pieces
        .iter()
        .map(|piece| piece.text.as_str())
        .collect()
}

/// The names that the text lists, in their order.
fn names(catalogue: &Catalogue) -> Vec<String> {
    text(catalogue)
        .lines()
        .filter_map(|line| line.strip_prefix("    <name>")?.strip_suffix("</name>"))
        .map(str::to_owned)
        .collect()
}

/// Ten skills with long descriptions.
fn fleet() -> Vec<CatalogueSkill<'static>> {
    [
        "anchor", "buoy", "compass", "dock", "engine", "ferry", "galley", "helm", "island", "jetty",
    ]
    .into_iter()
    .map(|name| skill(name, "Explains one part of the harbour, what it is for, who looks after it, when it was last seen to, and what to do when it breaks on a Sunday."))
    .collect()
}

#[test]
fn a_skill_is_listed_with_name_description_and_location() {
    let listed = list(
        &[skill("tide", "Looks up <high> & \"low\" water")],
        ROOMY,
        &CANONICAL,
    );
    insta::assert_snapshot!(text(&listed), @r#"


    A skill is a file of instructions for one kind of work.
    When a task fits a description below, read the file at its location before you start.
    Paths inside that file are relative to the directory it is in; give tools the absolute path.

    <available_skills>
      <skill>
        <name>tide</name>
        <description>Looks up &lt;high&gt; &amp; &quot;low&quot; water</description>
        <location>~/ws/skills/tide/SKILL.md</location>
      </skill>
    </available_skills>
    "#);
    assert_eq!(listed.counted_units, utf16_len(&text(&listed)));
}

#[test]
fn no_skills_make_no_list_and_a_note_stands_alone() {
    let rules = &CANONICAL.skills;
    assert!(catalogue(&[], ROOMY, &[], None, rules, None).is_none());
    assert!(catalogue(&[], ROOMY, &[], Some(" \n"), rules, None).is_none());
    let noted = catalogue(&[], ROOMY, &[], Some(" A node is near. "), rules, None);
    assert_eq!(text(&noted.expect("there is a note")), "A node is near.");
}

#[test]
fn skills_hidden_from_the_model_are_not_listed_but_accounted_for() {
    let hidden = CatalogueSkill {
        visible: false,
        ..skill("diary", "Private")
    };
    let listed = list(&[hidden, skill("tide", "Tides")], ROOMY, &OPENCLAW_2026_4);
    assert_eq!(names(&listed), ["tide"]);
    assert_eq!((listed.included, listed.total), (1, 1));
    assert_eq!(&*listed.left_out[0].name, "diary");
    assert_eq!(listed.left_out[0].reason, LeftOutReason::HiddenFromModel);
}

#[test]
fn order_is_the_contracts() {
    let skills = [
        "zebra",
        "éclair",
        "Apple",
        "under-score",
        "apple2",
        "under_score",
    ]
    .map(|name| skill(name, "d"));
    assert_eq!(
        names(&list(&skills, ROOMY, &OPENCLAW_2026_4)),
        [
            "Apple",
            "apple2",
            "éclair",
            "under_score",
            "under-score",
            "zebra"
        ]
    );
    assert_eq!(
        names(&list(&skills, ROOMY, &CANONICAL)),
        [
            "Apple",
            "apple2",
            "under-score",
            "under_score",
            "zebra",
            "éclair"
        ]
    );
}

#[test]
fn home_is_a_tilde_only_where_it_is_a_whole_directory() {
    let at = |location: &'static str| {
        let skill = CatalogueSkill {
            location: Cow::Borrowed(location),
            ..skill("tide", "d")
        };
        let text = text(&list(&[skill], ROOMY, &CANONICAL));
        let start = text.find("<location>").expect("a location") + "<location>".len();
        text[start..text.find("</location>").expect("its end")].to_owned()
    };
    assert_eq!(at("/home/ada/s/SKILL.md"), "~/s/SKILL.md");
    assert_eq!(at("/data/home/ada/s/SKILL.md"), "~/s/SKILL.md");
    assert_eq!(at("/home/adalynn/s/SKILL.md"), "/home/adalynn/s/SKILL.md");
    assert_eq!(at("/srv/a&b/SKILL.md"), "/srv/a&amp;b/SKILL.md");
}

#[test]
fn the_longest_spelling_of_home_wins() {
    let homes = [Path::new("/home"), Path::new("/home/ada")];
    let rules = &CANONICAL.skills;
    let listed = catalogue(&[skill("tide", "d")], ROOMY, &homes, None, rules, None);
    assert!(text(&listed.expect("a list")).contains("<location>~/ws/"));
}

#[test]
fn only_so_many_are_listed_and_the_rest_is_named() {
    let listed = list(&fleet(), room(2, 18_000), &CANONICAL);
    assert_eq!(names(&listed), ["anchor", "buoy"]);
    assert!(
        text(&listed)
            .starts_with("Skills: 2 of 10 are listed. `chitin skills` shows the rest.\n\n\n")
    );
    assert_eq!(listed.left_out.len(), 8);
    assert!(
        listed
            .left_out
            .iter()
            .all(|left| left.reason == LeftOutReason::TooMany)
    );
    let none = list(&fleet(), room(0, 18_000), &CANONICAL);
    assert_eq!(
        text(&none),
        "Skills: 0 of 10 are listed. `chitin skills` shows the rest."
    );
}

#[test]
fn in_2026_4_descriptions_go_first_and_then_skills() {
    let full = list(&fleet(), ROOMY, &OPENCLAW_2026_4).counted_units;
    let at = |limit| list(&fleet(), room(150, limit), &OPENCLAW_2026_4);
    assert_eq!(at(full).form, Form::Full);
    let compact = at(full - 1);
    assert_eq!((compact.form, compact.included), (Form::Compact, 10));
    assert!(!text(&compact).contains("<description>"));
    let part = at(1_000);
    assert_eq!((part.form, part.included), (Form::Compact, 5));
    assert_eq!(part.left_out[0].reason, LeftOutReason::TooLong);
    let nothing = at(0);
    assert_eq!((nothing.included, nothing.left_out.len()), (0, 10));
    assert_eq!(
        text(&nothing),
        "Skills: 0 of 10 are listed, without descriptions. `chitin skills` shows the rest."
    );
}

#[test]
fn in_2026_9_descriptions_are_cut_no_more_than_needed() {
    let full = list(&fleet(), ROOMY, &OPENCLAW_2026_9).counted_units;
    let mut forms = String::new();
    for limit in (1_200..=full).rev().step_by(400) {
        let listed = list(&fleet(), room(150, limit), &OPENCLAW_2026_9);
        assert!(listed.counted_units <= limit);
        let _ = writeln!(forms, "{limit}: {} as {:?}", listed.included, listed.form);
    }
    insta::assert_snapshot!(forms, @r"
    3036: 10 as Full
    2636: 10 as Shortened(86)
    2236: 10 as Shortened(46)
    1836: 10 as Shortened(6)
    1436: 10 as Compact
    ");
}

#[test]
fn in_2026_9_the_notice_goes_before_the_last_skill_and_a_note_before_anything() {
    let rules = &OPENCLAW_2026_9.skills;
    let one = [skill("tide", "Tides")];
    let whole = list(&one, ROOMY, &OPENCLAW_2026_9).counted_units;
    let at = |limit, note| {
        catalogue(&one, room(150, limit), &[], note, rules, None).expect("there is a skill")
    };
    // One unit short of the full form, and no room for a notice beside the short one.
    let compact = at(whole - 1, None);
    assert_eq!((compact.form, compact.notice), (Form::Compact, None));
    assert_eq!(compact.included, 1);
    // Not even that: only the value says what is missing.
    let empty = at(10, None);
    assert!(empty.pieces.is_empty());
    assert_eq!(empty.left_out[0].reason, LeftOutReason::TooLong);

    let roomy = at(18_000, Some("A node is near."));
    assert_eq!(roomy.remote_note, RemoteNote::Printed);
    assert!(text(&roomy).starts_with("A node is near.\n\n\nA skill"));
    let tight = at(roomy.counted_units - 1, Some("A node is near."));
    assert_eq!(
        (tight.form, tight.remote_note),
        (Form::Full, RemoteNote::LeftOut)
    );
}

#[test]
fn a_small_window_cuts_descriptions_once_more_in_2026_9_alone() {
    let fleet = fleet();
    let at = |contract: &Contract, tokens| {
        catalogue(&fleet, ROOMY, &[], None, &contract.skills, Some(tokens)).expect("a list")
    };
    let whole = at(&OPENCLAW_2026_9, 200_000);
    assert_eq!(whole.window_cut, None);
    let (tokens, target) = (13_500, 2_700);
    let cut = at(&OPENCLAW_2026_9, tokens);
    assert_eq!((cut.form, cut.included, cut.notice), (Form::Full, 10, None));
    assert!(cut.window_cut.is_some_and(|length| length > 64));
    // It fits, and one unit more for each of ten descriptions, or a space and a letter, would not.
    assert!((target - 20..=target).contains(&cut.counted_units));
    // Below the smallest length nothing gives way: every skill keeps its name, its place and a few words.
    let least = at(&OPENCLAW_2026_9, 1);
    assert_eq!((least.window_cut, least.included), (Some(64), 10));
    assert_eq!(at(&OPENCLAW_2026_9, 0).window_cut, None);
    assert_eq!(at(&OPENCLAW_2026_4, 1).window_cut, None);
}

#[test]
fn an_agents_own_limit_wins() {
    let config = json!({
        "skills": { "limits": { "maxSkillsInPrompt": 3, "maxSkillsPromptChars": 900 } },
        "agents": { "list": [
            { "id": "Scout", "skillsLimits": { "maxSkillsPromptChars": 0 } },
            { "id": "other" },
        ] },
    });
    let of = |agent| limits(&config, agent, &OPENCLAW_2026_4);
    assert_eq!(of(Some("scout")), room(3, 0));
    assert_eq!(of(Some("other")), room(3, 900));
    assert_eq!(of(None), room(3, 900));
    let odd = json!({ "skills": { "limits": { "maxSkillsInPrompt": "many", "maxSkillsPromptChars": -1 } } });
    assert_eq!(limits(&odd, None, &OPENCLAW_2026_4), room(150, 0));
}

#[test]
fn fixed_words_are_ours_and_the_rest_is_given() {
    let listed = list(&fleet(), ROOMY, &CANONICAL);
    for piece in &listed.pieces {
        let is_skill = piece.text.as_str().contains("<name>");
        assert_eq!(piece.source == FragmentSource::Given, is_skill);
    }
}

/// Ten times the skills may take ten times the memory traffic, and no more: no text is built twice.
#[test]
fn work_grows_with_the_number_of_skills() {
    let texts: Vec<(String, String)> = (0..5_000)
        .map(|number| {
            (
                format!("skill-{number:05}"),
                "Harbour work & more. ".repeat(12),
            )
        })
        .collect();
    for contract in ALL {
        let traffic = |count: usize| {
            let skills: Vec<_> = texts[..count]
                .iter()
                .map(|(name, description)| skill(name, description))
                .collect();
            // Room for every name and for parts of the descriptions.
            let limits = room(count, count * 200);
            allocation_counter::measure(|| {
                let listed = list(&skills, limits, contract);
                assert_eq!(listed.included, count);
            })
        };
        let (few, many) = (traffic(500), traffic(5_000));
        assert!(many.count_total < few.count_total * 11, "{}", contract.name);
        assert!(many.bytes_total < few.bytes_total * 11, "{}", contract.name);
        assert!(many.count_total < 5_000 * 2, "{}", contract.name);
    }
}

fn any_skills() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec(
        (
            "[a-zA-Z0-9<&'\"é😀_-]{1,12}",
            "[a-z &<>'\"\n\té😀\u{3000}]{0,300}",
        ),
        0..12,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Whatever the limits are: what is listed is the beginning of the order, everything else is accounted for, and what
    /// is counted is what is there.
    #[test]
    fn never_silent_never_torn_never_too_long(
        texts in any_skills(),
        max_skills in 0_usize..14,
        max_chars in 0_usize..4_000,
        note in prop::option::of("[a-z😀]{1,40}"),
        tokens in prop::option::of(0_usize..20_000),
    ) {
        let skills: Vec<_> = texts.iter().map(|(name, text)| skill(name, text)).collect();
        for contract in ALL {
            let rules = &contract.skills;
            let limits = room(max_skills, max_chars);
            let Some(listed) = catalogue(&skills, limits, &[], note.as_deref(), rules, tokens) else {
                prop_assert!(skills.is_empty() && note.is_none());
                continue;
            };
            let whole = text(&listed);

            // A beginning of the whole list, in its order, and the rest by name.
            let all = list_all(&skills, contract);
            let shown = names(&listed);
            prop_assert_eq!(&shown[..], &all[..shown.len()]);
            prop_assert_eq!(shown.len(), listed.included);
            prop_assert!(listed.included <= max_skills);
            prop_assert_eq!(listed.included + listed.left_out.len(), skills.len());

            // What was counted is the text, our words weighed as the contract weighs them.
            let mut counted = utf16_len(&whole);
            if listed.included > 0 {
                counted = counted - utf16_len(guidance(listed.form))
                    + counted_guidance(listed.form, &rules.catalogue);
            }
            if let Some(notice) = &listed.notice {
                counted = counted - utf16_len(&notice.to_string())
                    + counted_notice(notice, &rules.catalogue);
            }
            prop_assert_eq!(counted, listed.counted_units);
            prop_assert!(utf16_len(&whole) <= listed.counted_units, "our words are never the longer ones");

            // The limit holds: for everything, or for the list without what stands before it.
            match rules.catalogue.fitting {
                CatalogueFitting::Shortened { .. } => prop_assert!(listed.counted_units <= max_chars),
                CatalogueFitting::NamesOnly { .. } => {
                    let before = whole.find("\n\n\nA skill").map_or(0, |at| at + 1);
                    let list = if listed.included == 0 { 0 } else { utf16_len(&whole[before..]) };
                    prop_assert!(list <= max_chars);
                }
            }

            // Nothing that a skill says can end its own tag.
            for piece in listed.pieces.iter().filter(|piece| piece.text.as_str().contains("<name>")) {
                let tags = piece.text.as_str().matches(['<', '>']).count();
                let described = piece.text.as_str().contains("<description>");
                prop_assert_eq!(tags, if described { 16 } else { 12 });
            }
        }
    }
}

/// The names of all skills as a list without limits shows them.
fn list_all(skills: &[CatalogueSkill<'_>], contract: &Contract) -> Vec<String> {
    let endless = room(usize::MAX, usize::MAX);
    catalogue(skills, endless, &[], None, &contract.skills, None)
        .map(|listed| names(&listed))
        .unwrap_or_default()
}
