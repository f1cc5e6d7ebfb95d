//! Character classes: brackets, the letters that stand for one, and properties.

use super::translate::{Flags, MAX_DEPTH, Result, TranslateError, Translator};
use std::fmt::Write;

/// Returns the class that a letter after a backslash stands for.
pub(super) fn predefined(letter: char, unicode: bool) -> Option<String> {
    let inside = match letter.to_ascii_lowercase() {
        'd' if unicode => r"\p{Nd}",
        'w' if unicode => r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}",
        's' if unicode => r"\p{White_Space}",
        'd' => "0-9",
        'w' => "a-zA-Z_0-9",
        's' => r" \t\n\x0B\f\r",
        'h' => r" \t\x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}",
        'v' => r"\n\x0B\f\r\x{85}\x{2028}\x{2029}",
        _ => return None,
    };
    let negation = if letter.is_ascii_uppercase() { "^" } else { "" };
    Some(format!("[{negation}{inside}]"))
}

/// Reads a bracketed class; the opening bracket is already taken.
pub(super) fn read(translator: &mut Translator<'_>) -> Result<()> {
    translator.depth += 1;
    if translator.depth > MAX_DEPTH {
        return Err(TranslateError::TooLarge);
    }
    translator.out.push('[');
    if translator.rest.next_if_eq(&'^').is_some() {
        translator.out.push('^');
    }
    let mut is_empty = true;
    loop {
        match translator.next()? {
            ']' if !is_empty => break,
            '[' => read(translator)?,
            '&' if translator.rest.peek() == Some(&'&') => {
                translator.rest.next();
                if is_empty {
                    return Err(TranslateError::Misplaced("&&".to_owned()));
                }
                translator.out.push_str("&&");
                if translator.rest.peek() == Some(&']') {
                    return Err(TranslateError::Misplaced("&&".to_owned()));
                }
                continue;
            }
            c if translator.flags.comments && matches!(c, '\t'..='\r' | ' ') => continue,
            c => item(translator, c)?,
        }
        is_empty = false;
    }
    translator.out.push(']');
    translator.depth -= 1;
    Ok(())
}

/// Reads one character, one range or one named class.
fn item(translator: &mut Translator<'_>, c: char) -> Result<()> {
    let Some(first) = character(translator, c)? else {
        return Ok(());
    };
    let mut ahead = translator.rest.clone();
    let is_range = ahead.next() == Some('-') && !matches!(ahead.peek(), None | Some(']' | '['));
    if !is_range {
        range(&mut translator.out, translator.flags, first, first);
        return Ok(());
    }
    translator.rest.next();
    let next = translator.next()?;
    match character(translator, next)? {
        Some(last) if first <= last => {
            range(&mut translator.out, translator.flags, first, last);
            Ok(())
        }
        _ => Err(TranslateError::Misplaced(format!("{first}-"))),
    }
}

/// Reads one character of a class. `None` when it was a class of its own and is written already.
fn character(translator: &mut Translator<'_>, c: char) -> Result<Option<char>> {
    if c != '\\' {
        return Ok(Some(c));
    }
    let letter = translator.next()?;
    if let Some(class) = predefined(letter, translator.flags.unicode_classes) {
        translator.out.push_str(&class);
        return Ok(None);
    }
    match letter {
        'p' | 'P' => {
            let class = property(translator, letter == 'P')?;
            translator.out.push_str(&class);
            Ok(None)
        }
        'Q' => {
            while let Some(c) = translator.rest.next() {
                if c == '\\' && translator.rest.next_if_eq(&'E').is_some() {
                    return Ok(None);
                }
                range(&mut translator.out, translator.flags, c, c);
            }
            Err(TranslateError::Unfinished)
        }
        _ => translator.escaped_character(letter).map(Some),
    }
}

/// Writes a range, with the other case of its ASCII letters when case is ignored.
fn range(out: &mut String, flags: Flags, first: char, last: char) {
    span(out, first, last);
    if !flags.ignore_case {
        return;
    }
    if flags.unicode_case {
        let only = if first == last { Some(first) } else { None };
        for other in only
            .into_iter()
            .flat_map(|c| c.to_lowercase().chain(c.to_uppercase()))
        {
            span(out, other, other);
        }
    }
    for (low, high, shift) in [('a', 'z', -32), ('A', 'Z', 32)] {
        let (from, to) = (first.max(low), last.min(high));
        if from <= to {
            let other = |c: char| {
                u32::from(c)
                    .checked_add_signed(shift)
                    .and_then(char::from_u32)
            };
            if let (Some(from), Some(to)) = (other(from), other(to)) {
                span(out, from, to);
            }
        }
    }
}

/// The engine unquotes characters inside a class before it looks for operators, so these stand in brackets of their own.
const OPERATORS: [char; 3] = ['-', '&', '~'];

fn span(out: &mut String, first: char, last: char) {
    let (mut first, mut last) = (u32::from(first), u32::from(last));
    for operator in OPERATORS.map(u32::from) {
        if (first == operator || last == operator)
            && let Some(c) = char::from_u32(operator)
        {
            out.push('[');
            out.push(c);
            out.push(']');
            if first == operator {
                first += 1;
            }
            if last == operator {
                last -= 1;
            }
        }
    }
    if first == last {
        let _ = write!(out, r"\x{{{first:X}}}");
    } else if first < last {
        let _ = write!(out, r"\x{{{first:X}}}-\x{{{last:X}}}");
    }
}

/// Reads the name of a property and returns its class.
pub(super) fn property(translator: &mut Translator<'_>, negated: bool) -> Result<String> {
    let mut name = String::new();
    match translator.next()? {
        '{' => loop {
            match translator.next()? {
                '}' => break,
                c => name.push(c),
            }
        },
        letter => name.push(letter),
    }
    let inside = match ascii(&name, translator.flags) {
        Some(inside) => inside.to_owned(),
        None => unicode(&name, translator.flags)?,
    };
    let negation = if negated { "^" } else { "" };
    Ok(format!("[{negation}{inside}]"))
}

/// The classes of POSIX, which are ASCII in Java unless a flag says otherwise. Ignoring case makes a case no case.
fn ascii(name: &str, flags: Flags) -> Option<&'static str> {
    if flags.unicode_classes {
        return None;
    }
    Some(match name {
        "Lower" | "Upper" if flags.ignore_case => "a-zA-Z",
        "Lower" => "a-z",
        "Upper" => "A-Z",
        "ASCII" => r"\x00-\x7F",
        "Alpha" => "a-zA-Z",
        "Digit" => "0-9",
        "Alnum" => "a-zA-Z0-9",
        "Punct" => r"!-/:-@\[-`{-\x7E",
        "Graph" => "!-\\x7E",
        "Print" => " -\\x7E",
        "Blank" => r" \t",
        "Cntrl" => r"\x00-\x1F\x7F",
        "XDigit" => "0-9a-fA-F",
        "Space" => r" \t\n\x0B\f\r",
        _ => return None,
    })
}

/// Categories, scripts, binary properties. Blocks and the methods of Java's own class are not known.
fn unicode(name: &str, flags: Flags) -> Result<String> {
    let unknown = || TranslateError::Unknown(format!("\\p{{{name}}}"));
    let plain = match name {
        "javaLowerCase" => "Ll",
        "javaUpperCase" => "Lu",
        "javaAlphabetic" => "Alphabetic",
        "javaLetter" => "L",
        "javaDigit" => "Nd",
        _ => name,
    };
    let plain = ["Is", "script=", "sc=", "general_category=", "gc="]
        .iter()
        .find_map(|prefix| plain.strip_prefix(prefix))
        .unwrap_or(plain);
    if flags.ignore_case && matches!(plain, "Lu" | "Ll" | "Lt") {
        return Ok(r"\p{Lu}\p{Ll}\p{Lt}".to_owned());
    }
    let fits = !plain.is_empty()
        && !plain.starts_with("java")
        && plain
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if fits {
        Ok(format!("\\p{{{plain}}}"))
    } else {
        Err(unknown())
    }
}
