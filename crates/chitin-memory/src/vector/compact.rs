//! A vector in one byte per number.

/// The largest magnitude of a number. The lowest value of a byte is not used, so that signs are symmetric.
const FULL: f32 = 127.0;

/// A direction in space, with one signed byte per number. Length does not matter: only angles are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compact(Vec<i8>);

impl Compact {
    /// The most numbers that a vector may have.
    pub const MAX_DIMENSIONS: usize = 8192;

    /// Makes a vector compact. Nothing comes of one that is empty, too long, all zeros, or holds what is no number.
    pub fn new(vector: &[f32]) -> Option<Self> {
        if vector.is_empty() || vector.len() > Self::MAX_DIMENSIONS {
            return None;
        }
        if vector.iter().any(|number| !number.is_finite()) {
            return None;
        }
        let largest = vector
            .iter()
            .fold(0.0_f32, |largest, number| largest.max(number.abs()));
        if largest <= f32::MIN_POSITIVE {
            return None;
        }
        // Divided first: a product with the inverse of a tiny number would be infinite.
        Some(Self(
            vector
                .iter()
                .map(|number| byte((number / largest) * FULL))
                .collect(),
        ))
    }

    /// Reads what [`bytes`](Self::bytes) gave. Nothing comes of what cannot be from there.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let is_sound = !bytes.is_empty()
            && bytes.len() <= Self::MAX_DIMENSIONS
            && bytes.iter().any(|byte| *byte != 0);
        is_sound.then(|| Self(bytes.iter().map(|byte| byte.cast_signed()).collect()))
    }

    /// Returns it as it is kept on disk.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().map(|number| number.cast_unsigned()).collect()
    }

    /// Returns its numbers.
    pub fn numbers(&self) -> &[i8] {
        &self.0
    }

    /// Returns the cosine of the angle between two vectors of one length; 0 if the lengths differ.
    pub fn cosine(&self, other: &Self) -> f32 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let wide = widened(&self.0);
        dot(&wide, &other.0) * inverse_length(&self.0) * inverse_length(&other.0)
    }

    /// Returns the sign of each number as a bit, 64 to a word.
    pub(super) fn signs(&self) -> impl Iterator<Item = u64> {
        signs_of(&self.0)
    }
}

/// Returns the sign of each number as a bit, 64 to a word.
pub(super) fn signs_of(numbers: &[i8]) -> impl Iterator<Item = u64> {
    numbers.chunks(64).map(|part| {
        part.iter().enumerate().fold(0, |word, (place, number)| {
            word | (u64::from(*number > 0) << place)
        })
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the caller's number is between -127 and 127"
)]
fn byte(number: f32) -> i8 {
    number.round() as i8
}

/// Returns the numbers in the width in which processors multiply them.
pub(super) fn widened(numbers: &[i8]) -> Vec<i16> {
    numbers.iter().map(|number| i16::from(*number)).collect()
}

/// Returns one over the length of a vector.
#[expect(
    clippy::cast_precision_loss,
    reason = "sums stay below 2^27, and a cosine needs no more than three digits"
)]
pub(super) fn inverse_length(numbers: &[i8]) -> f32 {
    let square: i32 = numbers
        .iter()
        .map(|number| i32::from(*number) * i32::from(*number))
        .sum();
    1.0 / (square.max(1) as f32).sqrt()
}

/// Multiplies two vectors number by number and adds up. Written so that the compiler makes vector instructions of it.
#[expect(
    clippy::cast_precision_loss,
    reason = "sums stay below 2^27, and a cosine needs no more than three digits"
)]
pub(super) fn dot(wide: &[i16], row: &[i8]) -> f32 {
    let mut sums = [0_i32; 16];
    let (ours, ours_rest) = wide.as_chunks::<16>();
    let (theirs, theirs_rest) = row.as_chunks::<16>();
    for (a, b) in ours.iter().zip(theirs) {
        for place in 0..16 {
            sums[place] += i32::from(a[place]) * i32::from(i16::from(b[place]));
        }
    }
    let rest: i32 = ours_rest
        .iter()
        .zip(theirs_rest)
        .map(|(a, b)| i32::from(*a) * i32::from(*b))
        .sum();
    (sums.iter().sum::<i32>() + rest) as f32
}
