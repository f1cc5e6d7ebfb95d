//! The name that was probably meant by a misspelt one.

/// Distances cost the product of both lengths, and no name that is worth a hint is long.
const LONGEST_NAME: usize = 128;

/// Returns the known name that is nearest to a misspelt one, if any is near at all.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let folded = name.to_lowercase();
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST_NAME)
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&folded, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|(distance, candidate)| *distance <= (candidate.len().max(name.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_a_stranger_is_not() {
        let known = ["discord", "slack", "main"];
        assert_eq!(nearest("discrod", known), Some("discord"));
        assert_eq!(nearest("MAIN", known), Some("main"));
        assert_eq!(nearest("telegram", known), None);
        assert_eq!(nearest(&"discord".repeat(1000), known), None);
    }
}
