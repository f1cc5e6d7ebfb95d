//! Sums over vectors, eight numbers at a time: one after the other, each addition would wait for the one before.

const LANES: usize = 8;

/// Returns the sum of the products of the numbers of two vectors.
pub(super) fn dot(one: &[f32], other: &[f32]) -> f32 {
    let (one, one_rest) = one.as_chunks::<LANES>();
    let (other, other_rest) = other.as_chunks::<LANES>();
    let mut sums: [f32; LANES] = [0.0; LANES];
    for (a, b) in one.iter().zip(other) {
        sums = std::array::from_fn(|lane| sums[lane] + a[lane] * b[lane]);
    }
    let rest: f32 = one_rest.iter().zip(other_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::dot;

    #[test]
    fn every_number_is_counted_once() {
        for length in 0_u8..40 {
            let numbers: Vec<f32> = (0..length).map(f32::from).collect();
            let expected: f32 = numbers.iter().map(|number| number * number).sum();
            assert!(
                (dot(&numbers, &numbers) - expected).abs() < 0.01,
                "{length}"
            );
        }
    }
}
