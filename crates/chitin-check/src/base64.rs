//! Just enough of base64 to look inside.

/// Decodes base64 of either alphabet, padding optional. `None` when a letter is not of it.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let letters = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(letters.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0);
    for letter in letters.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).unwrap_or(0));
        }
    }
    Some(bytes)
}
