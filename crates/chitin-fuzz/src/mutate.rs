//! Small changes to inputs, decided by a generator that gives the same numbers every time.

/// A generator of numbers (xorshift): fast, small, and the same on every machine.
#[derive(Debug, Clone)]
pub struct Numbers(u64);

impl Numbers {
    /// Starts from a seed.
    pub const fn new(seed: u64) -> Self {
        // The state may never be zero, and seeds that differ little should not begin alike.
        Self((seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xd129_0d3f_4b1c_6a2b) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `bound`; zero when the bound is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        let number = (self.next() >> 11) % (bound as u64).max(1);
        usize::try_from(number).unwrap_or_default()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }
}

const ODD_BYTES: [u8; 12] = [0, 1, 9, 10, 13, 32, 0x7f, 0x80, 0xc3, 0xe2, 0xf0, 0xff];

/// Changes an input in place, a few times over.
pub fn mutate(
    input: &mut Vec<u8>,
    numbers: &mut Numbers,
    others: &[Vec<u8>],
    dictionary: &[&str],
    max_bytes: usize,
) {
    for _ in 0..=numbers.below(6) {
        change(input, numbers, others, dictionary);
    }
    input.truncate(max_bytes);
}

fn change(input: &mut Vec<u8>, numbers: &mut Numbers, others: &[Vec<u8>], dictionary: &[&str]) {
    let at = numbers.below(input.len() + 1);
    let word = |numbers: &mut Numbers| -> Vec<u8> {
        dictionary
            .get(numbers.below(dictionary.len()))
            .map_or_else(Vec::new, |word| word.as_bytes().to_vec())
    };
    match numbers.below(12) {
        0 => {
            let bit = 1 << numbers.below(8);
            if let Some(byte) = input.get_mut(at) {
                *byte ^= bit;
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = numbers.byte();
            }
        }
        2 => input.insert(at, ODD_BYTES[numbers.below(ODD_BYTES.len())]),
        3 | 4 => put(input, at, at, &word(numbers)),
        5 => {
            let end = span_end(input, at, 16, numbers);
            put(input, at, end, &word(numbers));
        }
        6 => {
            let end = span_end(input, at, 32, numbers);
            put(input, at, end, &[]);
        }
        7 => {
            let end = span_end(input, at, 64, numbers);
            let copy = input[at..end].to_vec();
            let to = numbers.below(input.len() + 1);
            put(input, to, to, &copy);
        }
        8 => {
            // Nesting and long runs are where recursion and quadratic time hide.
            let unit = word(numbers);
            let times = 1 + numbers.below(200);
            put(input, at, at, &unit.repeat(times));
        }
        9 => {
            if let Some(other) = others.get(numbers.below(others.len())) {
                let from = numbers.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
        }
        10 => {
            if let Some(other) = others.get(numbers.below(others.len())) {
                let from = numbers.below(other.len() + 1);
                let to = span_end(other, from, 64, numbers);
                put(input, at, at, &other[from..to]);
            }
        }
        _ => swap_lines(input, numbers),
    }
}

fn span_end(input: &[u8], start: usize, most: usize, numbers: &mut Numbers) -> usize {
    start + numbers.below(most.min(input.len() - start) + 1)
}

fn put(input: &mut Vec<u8>, start: usize, end: usize, bytes: &[u8]) {
    input.splice(start..end, bytes.iter().copied());
}

fn swap_lines(input: &mut Vec<u8>, numbers: &mut Numbers) {
    let mut lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    let (one, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
    lines.swap(one, other);
    *input = lines.join(&b'\n');
}
