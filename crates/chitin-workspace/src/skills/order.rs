//! The order of names.

use chitin_contract::NameOrder;
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

    /// Sorts by name; what has the same place keeps its order. What is in order already costs one look at each.
    pub fn sort<T>(&self, items: &mut [T], name: impl Fn(&T) -> &str) {
        if items.is_sorted_by(|a, b| self.compare(name(a), name(b)).is_le()) {
            return;
        }
        match (self.order, &self.collator) {
            // Looking a name up in the dictionary costs more than comparing what was found, so it is done once.
            (NameOrder::Locale, Some(collator)) => items.sort_by_cached_key(|item| {
                let mut key = Vec::new();
                let Ok(()) = collator.write_sort_key_to(name(item), &mut key);
                key
            }),
            (NameOrder::Locale | NameOrder::CodeUnit | NameOrder::CodePoint, _) => {
                items.sort_by(|a, b| self.compare(name(a), name(b)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        let mut compared = list;
        compared.sort_by(|a, b| names.compare(a, b));
        names.sort(&mut list, |name| name);
        assert_eq!(list, compared);
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
    proptest! {
        #[test]
        fn sorting_and_comparing_agree(list in prop::collection::vec("[a-cA-C0-9éÉ_ -]{0,4}", 0..12)) {
            for order in [NameOrder::Locale, NameOrder::CodeUnit, NameOrder::CodePoint] {
                let names = Names::new(order);
                let (mut sorted, mut compared) = (list.clone(), list.clone());
                names.sort(&mut sorted, |name| name);
                compared.sort_by(|a, b| names.compare(a, b));
                prop_assert_eq!(sorted, compared);
            }
        }
    }
}
