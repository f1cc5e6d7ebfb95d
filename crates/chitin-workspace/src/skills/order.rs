//! The order of names.

use crate::contract::NameOrder;
use icu_collator::CollatorBorrowed;
use icu_collator::options::CollatorOptions;
use icu_locale_core::locale;
use std::cmp::Ordering;

/// Compares names in one of the orders that a contract may ask for.
#[derive(Debug)]
pub struct Names {
    order: NameOrder,
    collator: Option<CollatorBorrowed<'static>>,
}

impl Names {
    /// Prepares an order.
    pub fn new(order: NameOrder) -> Self {
        let collator = match order {
            NameOrder::Locale => {
                CollatorBorrowed::try_new(locale!("en").into(), CollatorOptions::default()).ok()
            }
            NameOrder::CodeUnit | NameOrder::CodePoint => None,
        };
        Self { order, collator }
    }

    /// Compares two names.
    pub fn compare(&self, left: &str, right: &str) -> Ordering {
        match (self.order, &self.collator) {
            (NameOrder::Locale, Some(collator)) => collator.compare(left, right),
            (NameOrder::CodeUnit, _) => left.encode_utf16().cmp(right.encode_utf16()),
            (NameOrder::Locale | NameOrder::CodePoint, _) => left.cmp(right),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(order: NameOrder) -> String {
        let names = Names::new(order);
        let mut list = [
            "zebra",
            "apple2",
            "B",
            "10-ten",
            "under-score",
            "éclair",
            "Apple",
            "2-two",
            "under_score",
        ];
        list.sort_by(|a, b| names.compare(a, b));
        list.join(", ")
    }

    #[test]
    fn the_locale_order_is_the_recorded_one() {
        assert_eq!(
            sorted(NameOrder::Locale),
            "10-ten, 2-two, Apple, apple2, B, éclair, under_score, under-score, zebra"
        );
    }

    #[test]
    fn the_canonical_order_needs_no_dictionary() {
        assert_eq!(
            sorted(NameOrder::CodePoint),
            "10-ten, 2-two, Apple, B, apple2, under-score, under_score, zebra, éclair"
        );
        let units = Names::new(NameOrder::CodeUnit);
        assert_eq!(units.compare("\u{ff5e}", "😀"), Ordering::Greater);
    }
}
