use super::*;
use proptest::prelude::*;

fn whole(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

proptest! {
    #[test]
    fn a_safe_cut_never_changes_the_count(text in "([a-zA-Z]{1,4}|[ \t\r\n]{1,3}|['\"./_(){}-]{1,3}|[0-9]{1,4}|[éß語😀]|\\PC){0,24}") {
        let expected = whole(&text);
        for at in 1..text.len() {
            if is_safe(text.as_bytes(), at) {
                let (before, after) = text.split_at(at);
                prop_assert_eq!(whole(before) + whole(after), expected, "cut at {}", at);
            }
        }
    }

    #[test]
    fn parts_are_never_empty_and_never_too_long(unit in "(\\PC|\n| ){1,4}", times in 0usize..40_000) {
        let text = unit.repeat(times);
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (at, _) = cut(rest);
            prop_assert!((1..=WINDOW).contains(&at));
            rest = &rest[at..];
        }
    }
}
