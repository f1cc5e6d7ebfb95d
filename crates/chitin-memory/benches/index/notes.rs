//! Notes as they might be: words of a made-up language, some in every line and most of them rare.

/// Numbers that look random and are the same every time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number from 0 to below 1.
    #[expect(clippy::cast_precision_loss, reason = "48 bits fit")]
    pub(crate) fn part(&mut self) -> f64 {
        self.next() as f64 / (1_u64 << 48) as f64
    }
}

/// A language: the rank of a word says how often it is used.
pub(crate) struct Language {
    words: Vec<String>,
    /// Up to which part of all text the words up to here reach.
    reach: Vec<f64>,
}

const WORDS: u32 = 60_000;

impl Language {
    pub(crate) fn new() -> Self {
        let mut random = Random::new(7);
        let syllables = [
            "ka", "ro", "min", "te", "sul", "va", "dor", "pe", "li", "nux", "ga", "tor", "shi",
            "bel", "an", "ur", "o", "fen", "cra", "vi",
        ];
        let mut words = Vec::new();
        let mut reach = Vec::new();
        let mut sum = 0.0;
        for rank in 1..=WORDS {
            let length =
                1 + (f64::from(rank).log10() * 0.7) as usize + (random.next() % 2) as usize;
            let mut word: String = (0..length)
                .map(|_| syllables[(random.next() % syllables.len() as u64) as usize])
                .collect();
            if rank > 200 {
                // Made unlike all others.
                word.push_str(syllables[(rank % 20) as usize]);
                word.push_str(syllables[(rank / 20 % 20) as usize]);
                word.push_str(syllables[(rank / 400 % 20) as usize]);
            }
            words.push(word);
            sum += 1.0 / f64::from(rank).powf(0.95);
            reach.push(sum);
        }
        for part in &mut reach {
            *part /= sum;
        }
        Self { words, reach }
    }

    /// All words, the most frequent first.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// A word, the frequent ones more often.
    pub(crate) fn word(&self, random: &mut Random) -> &str {
        let part = random.part();
        let rank = self.reach.partition_point(|reach| *reach < part);
        &self.words[rank.min(self.words.len() - 1)]
    }

    /// A note of so many paragraphs of about 1,200 characters; each is one line and will be one piece.
    pub(crate) fn paragraphs(&self, number: u64, count: usize) -> String {
        let mut random = Random::new(number + 1);
        let mut text = String::new();
        for _ in 0..count {
            let end = text.len() + 1_150 + (random.next() % 100) as usize;
            while text.len() < end {
                text.push_str(self.word(&mut random));
                text.push(if random.next().is_multiple_of(12) {
                    '.'
                } else {
                    ' '
                });
            }
            text.push('\n');
        }
        text
    }
}
