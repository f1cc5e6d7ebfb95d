//! Taking questions apart.

use chitin_contract::WordRules;
use chitin_memory::words::{
    Term, Tokenizer, canonical_terms, fts_query, keywords, keywords_for, segmented,
};
use proptest::prelude::*;
use rusqlite::Connection;
use std::borrow::Cow;

const RECORDED: WordRules = WordRules::OPENCLAW_2026_4;

fn texts(terms: &[Term]) -> Vec<&str> {
    terms.iter().map(|term| term.text.as_str()).collect()
}

/// A table like that of our own index, with these texts.
fn table(texts: &[&str]) -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch("CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'unicode61')")
        .unwrap();
    for text in texts {
        db.execute("INSERT INTO t VALUES (?)", [segmented(text)])
            .unwrap();
    }
    db
}

fn matches(db: &Connection, expression: &str) -> rusqlite::Result<i64> {
    db.query_row(
        "SELECT count(*) FROM t WHERE t MATCH ?",
        [expression],
        |row| row.get(0),
    )
}

#[test]
fn every_word_of_a_question_is_quoted() {
    assert_eq!(
        fts_query("sonar-log (5 C)?").as_deref(),
        Some(r#""sonar" AND "log" AND "5" AND "C""#)
    );
    assert_eq!(
        fts_query(r#"say "NEAR" OR"#).as_deref(),
        Some(r#""say" AND "NEAR" AND "OR""#)
    );
    assert_eq!(fts_query("?! …"), None);
}

#[test]
fn what_says_nothing_is_no_keyword() {
    assert_eq!(
        keywords("what was the thing about the Battery, 42 of it", &RECORDED),
        ["battery"]
    );
    assert_eq!(
        keywords("wo ist der Schlüssel", &RECORDED),
        ["ist", "der", "schlüssel"]
    );
    assert_eq!(
        keywords("wo ist der Schlüssel", &WordRules::CANONICAL),
        ["schlüssel"]
    );
}

#[test]
fn korean_words_lose_their_particle() {
    assert_eq!(
        keywords("서버에서 API는", &RECORDED),
        ["서버에서", "서버", "api는", "api"]
    );
    // What is left of this one is a stop word.
    assert!(keywords("그것을", &RECORDED).is_empty());
}

#[test]
fn chinese_is_characters_and_pairs_or_a_block_for_trigrams() {
    assert_eq!(
        keywords("浮力x引擎", &RECORDED),
        ["浮", "力", "引", "擎", "浮力", "力引", "引擎"]
    );
    assert_eq!(
        keywords_for("浮力x引擎", Tokenizer::Trigrams, &RECORDED),
        ["浮力引擎"]
    );
}

#[test]
fn japanese_is_runs_of_one_script() {
    assert_eq!(
        keywords("APIの潮位計をテスト", &RECORDED),
        ["api", "潮位計", "潮位", "位計", "テスト"]
    );
}

#[test]
fn text_with_spaces_is_kept_as_it_is() {
    for text in ["", "plain ASCII", "Ünï, ЖЖ – “quoted” 😀"] {
        assert!(matches!(segmented(text), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn runs_without_spaces_are_kept_in_pairs() {
    assert_eq!(segmented("换浮力引擎!"), "换浮 浮力 力引 引擎 !");
    assert_eq!(segmented("v2版 ok"), "v2 版 ok");
    assert_eq!(segmented("서버 점검"), "서버 점검");
    // Marks stay with the letter that bears them.
    assert_eq!(segmented("น้ำดี"), "น้ำ ำดี");
}

#[test]
fn our_own_index_finds_words_in_any_script() {
    let db = table(&[
        "水下滑翔机的浮力引擎",
        "the buoyancy engine",
        "น้ำขึ้นตอนเช้า",
        "서버 점검은 금요일",
    ]);
    for question in ["浮力引擎在哪", "where is the engine", "น้ำขึ้น", "금요일에"]
    {
        let any: Vec<String> = canonical_terms(question)
            .iter()
            .map(Term::expression)
            .collect();
        assert_eq!(matches(&db, &any.join(" OR ")), Ok(1), "{question}");
    }
    // One character finds the pairs that it begins.
    assert_eq!(matches(&db, &canonical_terms("浮")[0].expression()), Ok(1));
}

#[test]
fn a_question_of_nothing_but_stop_words_asks_for_these() {
    assert_eq!(
        texts(&canonical_terms("Where is it?")),
        ["where", "is", "it"]
    );
    assert_eq!(
        texts(&canonical_terms("Where is the key, the KEY?")),
        ["key"]
    );
}

#[test]
fn a_stop_word_of_one_language_may_be_telling_in_another() {
    // Dutch, German and Spanish would drop these.
    assert_eq!(
        texts(&canonical_terms("the door, the war and my son")),
        ["door", "war", "son"]
    );
}

#[test]
fn a_question_asks_for_a_bounded_number_of_things() {
    let words: Vec<String> = (0..500).map(|n| format!("w{n}")).collect();
    let question = words.join(" ");
    assert_eq!(canonical_terms(&question).len(), 32);
    assert_eq!(canonical_terms(&"the of and ".repeat(99)).len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_question_makes_an_expression_that_fts5_refuses(question in "\\PC{0,30}|[\"'*^(){}:+ANDORNEAR\0 潮가ก-]{0,30}") {
        let db = table(&["a"]);
        let mut expressions: Vec<String> = fts_query(&question).into_iter().collect();
        expressions.extend(canonical_terms(&question).iter().map(Term::expression));
        for expression in expressions {
            prop_assert!(matches(&db, &expression).is_ok(), "{expression}");
        }
        let _ = keywords(&question, &RECORDED);
    }

    #[test]
    fn keeping_in_pairs_loses_no_character(text in "[a-z 潮位計각서ก้ำ.]{0,30}") {
        let kept = segmented(&text);
        for c in text.chars() {
            prop_assert!(kept.contains(c));
        }
    }
}
