//! What a page must never do, and that a browser will accept it.

#![expect(
    clippy::disallowed_methods,
    reason = "one test writes the page that the browser test opens"
)]

use super::fixture::{self, HOSTILE};
use super::html::source_hash;
use super::render;
use proptest::prelude::*;
use serde_json::Value;
use std::path::PathBuf;

/// The text between two marks, each of which occurs once.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    assert_eq!(text.matches(before).count(), 1, "{before}");
    let (_, rest) = text.split_once(before).unwrap();
    rest.split_once(after).unwrap().0
}

fn data(html: &str) -> &str {
    between(
        html,
        "<script type=\"application/json\" id=\"data\">",
        "</script>",
    )
}

#[test]
fn no_text_of_a_file_leaves_the_data() {
    let html = render(&fixture::page());
    let data = data(&html);
    for character in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
        assert!(!data.contains(character), "{character:?}");
    }
    assert_eq!(html.matches("</script>").count(), 2);
    assert_eq!(html.matches("<script").count(), 2);
    assert!(!html.contains("<img"));

    let value: Value = serde_json::from_str(data).unwrap();
    let strings = value["strings"].as_array().unwrap();
    assert!(
        strings
            .iter()
            .any(|text| text.as_str().unwrap().contains(HOSTILE))
    );
}

proptest! {
    // Each case renders a whole page.
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever a file or a name holds, the page has the elements of the template and no others.
    #[test]
    fn no_text_adds_an_element(
        text in proptest::collection::vec(
            prop_oneof![
                Just("</script>"), Just("<script"), Just("<!--"), Just("-->"), Just("</noscript>"), Just("{{script}}"),
                Just("\\u003c"), Just("\""), Just("\r\n"), Just("\0"), Just("\u{2028}"), Just("😀"), Just("a"),
            ],
            0..12,
        ),
    ) {
        let text = text.concat();
        let mut page = fixture::page();
        let elements = render(&page).matches('<').count();
        page.title.clone_from(&text);
        page.views[0].summary.clone_from(&text);
        page.views[0].fragments[1].title.clone_from(&text);
        page.views[0].fragments[1].pieces[0].text.clone_from(&text);
        page.texts[0].text.clone_from(&text);
        let html = render(&page);
        prop_assert_eq!(html.matches('<').count(), elements);
        let value: Value = serde_json::from_str(data(&html)).unwrap();
        let place = value["page"]["texts"][0]["text"].as_u64().unwrap();
        prop_assert_eq!(value["strings"][usize::try_from(place).unwrap()].as_str(), Some(text.as_str()));
    }
}

#[test]
fn titles_and_reasons_are_escaped_where_no_script_runs() {
    let mut page = fixture::page();
    page.title = HOSTILE.to_owned();
    page.generator = HOSTILE.to_owned();
    page.views[0].label = HOSTILE.to_owned();
    page.views[0].fragments[0].title = HOSTILE.to_owned();
    page.views[0].fragments[0].reason = format!("</noscript>{HOSTILE}");
    let html = render(&page);
    assert_eq!(html.matches("</script>").count(), 2);
    assert_eq!(html.matches("</noscript>").count(), 1);
    assert!(!html.contains("<img"));
    assert!(!html.contains("<!--"));
}

#[test]
fn the_policy_names_exactly_the_script_and_the_style_of_the_page() {
    let html = render(&fixture::page());
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\"");
    let script = between(&html, "<script type=\"module\">", "</script>");
    let style = between(&html, "<style>", "</style>");
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'",
            source_hash(script),
            source_hash(style)
        )
    );
    // The well-known digest of nothing: padding and alphabet are those of the standard.
    assert_eq!(
        source_hash(""),
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    );
}

#[test]
fn the_page_asks_for_nothing_outside_itself() {
    let html = render(&fixture::page());
    for reference in [
        "http://",
        "https://",
        "src=",
        "url(",
        "@import",
        "fetch(",
        "innerHTML",
    ] {
        let outside_data = html.replace(data(&html), "");
        assert!(!outside_data.contains(reference), "{reference}");
    }
}

#[test]
fn the_same_value_gives_the_same_bytes() {
    assert_eq!(render(&fixture::page()), render(&fixture::page()));
}

#[test]
fn a_text_that_several_views_share_is_stored_once() {
    let html = render(&fixture::page());
    assert_eq!(html.matches("Water finds every shortcut.").count(), 1);
}

#[test]
fn without_script_the_tables_are_there() {
    let html = render(&fixture::page());
    let plain = between(&html, "<noscript>", "</noscript>");
    assert_eq!(plain.matches("<table>").count(), 3);
    assert!(plain.contains("<th scope=\"row\">TOOLS.md</th>"));
    assert!(plain.contains("missing: There is no such file."));
    assert!(plain.contains("refused: It is a link that leads outside the workspace."));
}

/// Writes the page that `tests/browser` opens, next to what cargo built.
#[test]
fn the_fixture_is_written_for_the_browser() {
    let program = std::env::current_exe().unwrap();
    let target: PathBuf = program.ancestors().nth(3).unwrap().join("tmp");
    std::fs::create_dir_all(&target).unwrap();
    std::fs::write(target.join("context-page.html"), render(&fixture::page())).unwrap();
}
