//! How long a guess at the number of tokens takes, beside bare passes over the same bytes.

use chitin_context::tokens::{estimate, units_within};
use chitin_protocol::text::utf16_len;
use divan::Bencher;
use divan::counter::BytesCount;
use std::sync::LazyLock;

fn main() {
    divan::main();
}

const ENGLISH: &str = include_str!("../tests/it/samples/english.txt");
const CHINESE: &str = include_str!("../tests/it/samples/chinese.txt");
const CODE: &str = include_str!("../tests/it/samples/code.rs.txt");

/// A megabyte of each.
static TEXTS: LazyLock<[(&str, String); 3]> = LazyLock::new(|| {
    [("english", ENGLISH), ("chinese", CHINESE), ("code", CODE)]
        .map(|(name, text)| (name, text.repeat(1_000_000 / text.len())))
});

const NAMES: [&str; 3] = ["english", "chinese", "code"];

fn measure<T>(bencher: Bencher, name: &str, work: impl Fn(&str) -> T + Sync) {
    let text = TEXTS
        .iter()
        .find(|(known, _)| *known == name)
        .map_or("", |(_, text)| text);
    bencher
        .counter(BytesCount::of_str(text))
        .bench(|| work(divan::black_box(text)));
}

/// The floor: the bytes are copied.
#[divan::bench(args = NAMES)]
fn floor_copy(bencher: Bencher, name: &str) {
    measure(bencher, name, str::to_owned);
}

/// The floor of anything that looks at characters.
#[divan::bench(args = NAMES)]
fn floor_characters(bencher: Bencher, name: &str) {
    measure(bencher, name, |text| {
        text.chars().fold(0_u32, |sum, c| sum ^ u32::from(c))
    });
}

#[divan::bench(args = NAMES)]
fn utf16_length(bencher: Bencher, name: &str) {
    measure(bencher, name, utf16_len);
}

#[divan::bench(args = NAMES)]
fn guess(bencher: Bencher, name: &str) {
    measure(bencher, name, estimate);
}

#[divan::bench(args = NAMES)]
fn guess_where_it_ends(bencher: Bencher, name: &str) {
    measure(bencher, name, |text| units_within(text, usize::MAX));
}

#[cfg(feature = "exact-tokens")]
#[divan::bench(args = NAMES, sample_count = 5)]
fn exact(bencher: Bencher, name: &str) {
    use chitin_context::tokens::{TokenEncoding, exact};
    measure(bencher, name, |text| {
        exact::count(TokenEncoding::O200kBase, text)
    });
}
