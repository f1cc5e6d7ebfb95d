//! How an answer looks, and what is true of every answer.

use super::{Look, Markdown};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

const FULL: Look = Look {
    width: Some(40),
    colour: true,
};
const UNSTYLED: Look = Look {
    width: Some(40),
    colour: false,
};
const PIPE: Look = Look {
    width: None,
    colour: false,
};

fn render<'a>(look: Look, pieces: impl IntoIterator<Item = &'a str>) -> String {
    let (mut markdown, mut out) = (Markdown::new(look), String::new());
    for piece in pieces {
        markdown.push(piece, &mut out);
    }
    markdown.finish(&mut out);
    out
}

/// Names the styles instead of switching them on.
fn visible_styles(text: &str) -> String {
    let mut text = text.replace("\u{1b}[0m", "⟨⟩");
    for (code, name) in [
        (1, "bold"),
        (2, "dim"),
        (3, "italic"),
        (4, "under"),
        (9, "struck"),
        (36, "code"),
    ] {
        text = text.replace(&format!("\u{1b}[{code}m"), &format!("⟨{name}⟩"));
    }
    text
}

/// Takes away the styles.
fn unstyled(text: &str) -> String {
    let mut left = String::new();
    let mut pieces = text.split("\u{1b}[");
    left.push_str(pieces.next().unwrap());
    for piece in pieces {
        left.push_str(piece.split_once('m').unwrap().1);
    }
    left
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn every_construct_has_its_look() {
    let text = "# Tides\n\
        The **ebb** is *low*, `code` is code, ~~gone~~ is gone, and [a link](https://x.example) leads on.\n\
        \n\
        - first point that is long enough to be broken once\n  - second\n\
        3. third\n\
        > quoted words that are long enough to be broken once\n\
        ---\n\
        ```rust\nfn main() {}\n\n```\n\
        | a | b |\n\
        after";
    insta::assert_snapshot!(visible_styles(&render(FULL, [text])), @r"
    ⟨bold⟩⟨under⟩Tides⟨⟩
    The ⟨bold⟩ebb⟨⟩ is ⟨italic⟩low⟨⟩, ⟨code⟩code⟨⟩ is code, ⟨struck⟩gone⟨⟩ is
    gone, and ⟨under⟩a link⟨⟩⟨dim⟩ (https://x.example)⟨⟩
    leads on.
    
    ⟨dim⟩• ⟨⟩first point that is long enough to be
    ⟨dim⟩  ⟨⟩broken once
    ⟨dim⟩  • ⟨⟩second
    ⟨dim⟩3. ⟨⟩third
    ⟨dim⟩▌ ⟨⟩⟨italic⟩quoted words that are long enough to⟨⟩
    ⟨dim⟩▌ ⟨⟩⟨italic⟩be broken once⟨⟩
    ⟨dim⟩────────────────────────────────────────⟨⟩
    ⟨dim⟩┌─ rust⟨⟩
    ⟨dim⟩│ ⟨⟩⟨code⟩fn main() {}⟨⟩
    ⟨dim⟩│ ⟨⟩
    ⟨dim⟩└─⟨⟩
    | a | b |
    after
    ");
}

#[test]
fn a_mark_without_its_other_half_is_text() {
    for text in [
        "2 * 3 * 4",
        "2*3*4",
        "a ** b",
        "**open",
        "`open",
        "snake_case_name",
        "[x] done",
        "[a][b]",
        "[a](b",
        "a~b~c",
        "\\*not stressed\\*",
        "--",
        "#hash",
        "1.5 litres",
        "``` a`b",
        "a ****",
        "*",
        "_",
    ] {
        assert_eq!(unstyled(&render(FULL, [text])).trim_end(), text.trim_end());
    }
}

#[test]
fn a_word_is_written_as_soon_as_it_is_whole() {
    let (mut markdown, mut out) = (Markdown::new(FULL), String::new());
    markdown.push("The tide is ri", &mut out);
    assert_eq!(out, "The tide is");
    markdown.push("sing ", &mut out);
    assert_eq!(out, "The tide is rising");
    assert!(!markdown.is_at_line_start());
    markdown.push("\n", &mut out);
    assert!(markdown.is_at_line_start());
}

#[test]
fn wide_characters_count_twice_and_break_anywhere_but_before_a_closing_mark() {
    let look = Look {
        width: Some(20),
        colour: false,
    };
    let text = "潮が満ちてくるまで待ちましょう。それから船を出します。";
    assert_eq!(
        render(look, [text]),
        "潮が満ちてくるまで待\nちましょう。それから\n船を出します。"
    );
    let text = "🌊🌊🌊 👨\u{200d}👩\u{200d}👧 🌊🌊🌊 ebb";
    assert_eq!(
        render(look, [text]),
        "🌊🌊🌊 👨\u{200d}👩\u{200d}👧 🌊🌊🌊\nebb"
    );
}

#[test]
fn text_is_fit_for_a_terminal() {
    let hostile = "\u{1b}[31mred\u{1b}]0;title\u{7} \u{9b}2J a\rb\r\nc\u{202e}d\te";
    assert_eq!(
        render(PIPE, [hostile]),
        "\u{fffd}[31mred\u{fffd}]0;title\u{fffd} \u{fffd}2J a\u{fffd}b\nc\u{fffd}d\te"
    );
}

/// Marks that never meet their other halves are looked at again and again; that must stay within bounds.
#[test]
fn hostile_text_costs_little() {
    for mark in [
        "[", "*a ", "**a ", "_a ", "`a``b", "~~a ", "[a](", "> ", "# ", "- ", "1", " ", "```a", "a",
    ] {
        let text = mark.repeat(12_000 / mark.len());
        let began = std::time::Instant::now();
        render(FULL, [text.as_str()]);
        let took = began.elapsed();
        assert!(took.as_secs() < 20, "{mark:?}: {took:?}");
    }
}

/// Text that is full of marks.
fn marked() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[a-z]{1,9}",
        4 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        6 => prop::sample::select(vec![
            "**", "*", "_", "__", "`", "```", "``", "~~", "[", "](", "]", ")", "(", "- ", "# ", "> ", "1. ", "|", "---",
            "\\", "\t", "\r", "\u{1b}", "\u{9b}31m", "潮", "。", "🌊", "e\u{301}", "\u{200d}", "\u{202e}", "~~~\n", "```rs\n",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Cuts a text at the characters that the numbers choose.
fn cut<'a>(text: &'a str, at: &[prop::sample::Index]) -> Vec<&'a str> {
    let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    if borders.is_empty() {
        return vec![text];
    }
    let mut chosen: Vec<usize> = at.iter().map(|index| *index.get(&borders)).collect();
    chosen.extend([0, text.len()]);
    chosen.sort_unstable();
    chosen
        .windows(2)
        .map(|pair| &text[pair[0]..pair[1]])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_do_not_matter(text in marked(), at in prop::collection::vec(any::<prop::sample::Index>(), 0..30)) {
        for look in [FULL, UNSTYLED, PIPE] {
            prop_assert_eq!(render(look, cut(&text, &at)), render(look, [text.as_str()]));
        }
    }

    #[test]
    fn nothing_that_a_terminal_obeys_survives(text in marked()) {
        for look in [UNSTYLED, PIPE] {
            let out = render(look, [text.as_str()]);
            prop_assert!(!out.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{:?}", out);
        }
        let out = unstyled(&render(FULL, [text.as_str()]));
        prop_assert!(!out.chars().any(|c| c.is_control() && c != '\n'), "{:?}", out);
    }

    #[test]
    fn without_styles_every_character_is_there_once_and_in_order(text in marked()) {
        let harmless = |c| match c {
            '\n' | '\t' => c,
            c => crate::printer::plain_char(c, '\u{fffd}'),
        };
        let tame: String = text.replace("\r\n", "\n").chars().map(harmless).collect();
        prop_assert_eq!(&render(PIPE, [text.as_str()]), &tame);
        prop_assert_eq!(without_spaces(&render(UNSTYLED, [text.as_str()])), without_spaces(&tame));
    }

    #[test]
    fn with_styles_only_marks_are_hidden(words in prop::collection::vec("[a-z]{1,9}", 1..40), marks in prop::collection::vec(prop::sample::select(vec![
        " ", "\n", " *", "* ", " **", "** ", " `", "` ", "\n- ", "\n# ", "\n> ", "\n```\n", " [", "](", ") ", "_",
    ]), 40)) {
        let text: String = words.iter().zip(&marks).flat_map(|(word, mark)| [word.as_str(), mark]).collect();
        let letters = |text: &str| -> String { text.chars().filter(char::is_ascii_lowercase).collect() };
        prop_assert_eq!(letters(&unstyled(&render(FULL, [text.as_str()]))), words.concat());
    }

    #[test]
    fn lines_fit_when_words_do(words in prop::collection::vec("[a-z]{1,12}|[潮満]{1,6}", 1..60)) {
        let out = render(UNSTYLED, [words.join(" ").as_str()]);
        for line in out.lines() {
            prop_assert!(line.width() <= 40, "{:?}", line);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| word.is_ascii()).collect();
        let kept: Vec<&str> = out.split_whitespace().filter(|word| word.is_ascii()).collect();
        prop_assert_eq!(kept, words);
    }
}
