//! Text that is fit to be shown to a person.

/// Takes out what a terminal would obey: names and texts of files and skills come from strangers. Controls become
/// `control`, marks that turn the direction of text become U+FFFD.
pub fn plain(text: &str, control: char) -> String {
    text.chars().map(|c| plain_char(c, control)).collect()
}

/// Does for one character what [`plain`] does for a text.
pub fn plain_char(c: char, control: char) -> char {
    match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => control,
        c => c,
    }
}

/// Writes a number with a comma after every third digit.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Makes a sentence of what a library says: a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    let stop = if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{}{}{stop}", first.unwrap_or_default(), letters.as_str())
}
