//! Days that a question names: `2025-03-02`, `March 2025`, `early March 2025`, `2 March 2025`, `yesterday`, `last week`.

use jiff::civil::Date;
use jiff::{ToSpan as _, tz::TimeZone};

/// The months as English, German, French and Spanish call them, by their first letters; longer forms begin with these.
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "janvier", "enero"],
    &["february", "feb", "februar", "février", "febrero"],
    &["march", "mar", "märz", "mars", "marzo"],
    &["april", "apr", "avril", "abril"],
    &["may", "mai", "mayo"],
    &["june", "jun", "juni", "juin", "junio"],
    &["july", "jul", "juli", "juillet", "julio"],
    &["august", "aug", "août", "agosto"],
    &["september", "sep", "sept", "septembre", "septiembre"],
    &["october", "oct", "oktober", "octobre", "octubre"],
    &["november", "nov", "novembre", "noviembre"],
    &["december", "dec", "dezember", "décembre", "diciembre"],
];

/// A stretch of days, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    /// The first.
    pub first: Date,
    /// The last.
    pub last: Date,
}

impl Days {
    /// Tells whether a day is among them.
    pub fn contains(&self, day: Date) -> bool {
        (self.first..=self.last).contains(&day)
    }

    /// Returns the months that they touch, as file names begin, such as `2025-03`; at most thirteen.
    pub fn months(&self) -> Vec<String> {
        let mut months = Vec::new();
        let mut month = self.first.first_of_month();
        while month <= self.last && months.len() < 13 {
            months.push(month.strftime("%Y-%m").to_string());
            let Ok(next) = month.checked_add(1.month()) else {
                break;
            };
            month = next;
        }
        months
    }

    const fn one(day: Date) -> Self {
        Self {
            first: day,
            last: day,
        }
    }

    fn month(year: i16, month: i8) -> Option<Self> {
        let first = Date::new(year, month, 1).ok()?;
        Some(Self {
            first,
            last: first.last_of_month(),
        })
    }

    /// Returns the third of a month that a word means.
    fn third(self, word: &str) -> Self {
        let day = |day: i8| Date::new(self.first.year(), self.first.month(), day);
        let bounds = match word {
            "early" => (Ok(self.first), day(10)),
            "mid" | "middle" => (day(11), day(20)),
            "late" => (day(21), Ok(self.last)),
            _ => return self,
        };
        match bounds {
            (Ok(first), Ok(last)) => Self { first, last },
            _ => self,
        }
    }
}

/// Returns the days that a question names, if it names any. A month without a year is too little to go by.
pub fn days(query: &str, now_ms: i64) -> Option<Days> {
    let lower = query.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .take(64)
        .collect();
    words
        .iter()
        .find_map(|word| iso(word))
        .or_else(|| named(&words))
        .or_else(|| counted_back(&words, now_ms))
}

/// Understands `2025-03-02` and `2025-03`.
fn iso(word: &str) -> Option<Days> {
    let mut parts = word.split('-');
    let (year, month) = (parts.next()?, parts.next()?);
    if year.len() != 4 || month.len() != 2 {
        return None;
    }
    let (year, month) = (year.parse().ok()?, month.parse().ok()?);
    match (parts.next(), parts.next()) {
        (None, _) => Days::month(year, month),
        (Some(day), None) if day.len() == 2 => {
            Some(Days::one(Date::new(year, month, day.parse().ok()?).ok()?))
        }
        _ => None,
    }
}

/// Understands a month by name and a year, with a day on either side or a third before.
fn named(words: &[&str]) -> Option<Days> {
    words.iter().enumerate().find_map(|(at, word)| {
        let month = MONTHS.iter().position(|names| names.contains(word))?;
        let month = i8::try_from(month + 1).ok()?;
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let number = |word: Option<&&str>| {
            let digits = word?.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            digits.parse::<i16>().ok()
        };
        let is_year = |number: &i16| (1000..3000).contains(number);
        let is_day = |number: &i16| (1..=31).contains(number);
        let next = number(words.get(at + 1));
        let year = next
            .filter(is_year)
            .or_else(|| number(words.get(at + 2)).filter(is_year))?;
        let day = next
            .filter(is_day)
            .or_else(|| number(before).filter(is_day));
        match day.and_then(|day| Date::new(year, month, i8::try_from(day).ok()?).ok()) {
            Some(day) => Some(Days::one(day)),
            None => Some(Days::month(year, month)?.third(before.unwrap_or(&""))),
        }
    })
}

/// Understands `today`, `yesterday`, `last week` and `last month`.
fn counted_back(words: &[&str], now_ms: i64) -> Option<Days> {
    let now = jiff::Timestamp::from_millisecond(now_ms).ok()?;
    let today = now.to_zoned(TimeZone::UTC).date();
    let last = |noun: &str| words.windows(2).any(|pair| pair == ["last", noun]);
    if words.contains(&"yesterday") {
        return Some(Days::one(today.yesterday().ok()?));
    }
    if words.contains(&"today") {
        return Some(Days::one(today));
    }
    if last("week") {
        let first = today.checked_sub(7.days()).ok()?;
        return Some(Days { first, last: today });
    }
    if last("month") {
        let before = today.first_of_month().yesterday().ok()?;
        return Days::month(before.year(), before.month());
    }
    None
}
