//! From the Java dialect of regular expressions to the engine's.
//!
//! The engine has other defaults: its classes are Unicode where Java's are ASCII, its case folding too, `$` and `.` know
//! other line ends, and letters after a backslash mean other things. So every construct is read by Java's rules and
//! written out in full; what the engine cannot do is an error, and so is what Java does not accept.

use super::class;
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;
use thiserror::Error;

/// The longest expression that is looked at.
const MAX_LENGTH: usize = 4096;
/// The deepest nesting of groups and classes.
pub(super) const MAX_DEPTH: usize = 50;
/// The most repetitions that a count may ask for.
const MAX_COUNT: u32 = 1000;

/// What ends a line, as the inside of a class.
const LINE_ENDS: &str = r"\n\r\x{85}\x{2028}\x{2029}";

/// Why an expression is not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TranslateError {
    /// It is longer or deeper than anybody writes.
    #[error("it is too long or too deeply nested")]
    TooLarge,
    /// It ends in the middle of something.
    #[error("it ends too early")]
    Unfinished,
    /// Something stands where it may not.
    #[error("`{0}` may not stand where it does")]
    Misplaced(String),
    /// Something is Java's and not ours.
    #[error("`{0}` is not known here")]
    Unknown(String),
}

pub(super) type Result<T> = std::result::Result<T, TranslateError>;

/// The flags that change how things are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) unicode_case: bool,
    pub(super) unicode_classes: bool,
    pub(super) comments: bool,
    dot_all: bool,
    multi_line: bool,
    unix_lines: bool,
}

/// Translates an expression, with case ignored as the bridge does.
pub(super) fn translate(expression: &str) -> Result<String> {
    if expression.len() > MAX_LENGTH {
        return Err(TranslateError::TooLarge);
    }
    let mut translator = Translator {
        rest: expression.chars().peekable(),
        out: String::with_capacity(expression.len() * 2),
        groups: 0,
        names: Vec::new(),
        depth: 0,
        flags: Flags {
            ignore_case: true,
            unicode_case: false,
            unicode_classes: false,
            comments: false,
            dot_all: false,
            multi_line: false,
            unix_lines: false,
        },
    };
    translator.alternatives()?;
    match translator.rest.next() {
        None => Ok(translator.out),
        Some(c) => Err(TranslateError::Misplaced(c.into())),
    }
}

pub(super) struct Translator<'a> {
    pub(super) rest: Peekable<Chars<'a>>,
    pub(super) out: String,
    pub(super) flags: Flags,
    pub(super) depth: usize,
    groups: u32,
    names: Vec<String>,
}

impl Translator<'_> {
    pub(super) fn next(&mut self) -> Result<char> {
        self.rest.next().ok_or(TranslateError::Unfinished)
    }

    fn take(&mut self, wanted: char) -> bool {
        self.rest.next_if_eq(&wanted).is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        match self.next()? {
            c if c == wanted => Ok(()),
            c => Err(TranslateError::Misplaced(c.into())),
        }
    }

    /// Reads up to a closing parenthesis or the end.
    fn alternatives(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TranslateError::TooLarge);
        }
        let mut repeatable = false;
        loop {
            if self.flags.comments {
                self.skip_comments();
            }
            match self.rest.peek().copied() {
                None | Some(')') => break,
                Some('|') => {
                    self.rest.next();
                    self.out.push('|');
                    repeatable = false;
                }
                Some(c @ ('*' | '+' | '?' | '{')) => {
                    if !repeatable {
                        return Err(TranslateError::Misplaced(c.into()));
                    }
                    self.quantifier()?;
                    repeatable = false;
                }
                Some(_) => repeatable = self.atom()?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn skip_comments(&mut self) {
        while let Some(c) = self
            .rest
            .next_if(|c| *c == '#' || matches!(c, '\t'..='\r' | ' '))
        {
            if c == '#' {
                while self.rest.next_if(|c| !matches!(c, '\n' | '\r')).is_some() {}
            }
        }
    }

    /// Reads one thing; tells whether it may be repeated.
    fn atom(&mut self) -> Result<bool> {
        match self.next()? {
            '(' => self.group(),
            '[' => class::read(self).map(|()| true),
            '\\' => self.escape(),
            '.' => {
                let dot = match (self.flags.dot_all, self.flags.unix_lines) {
                    (true, _) => "(?s:.)".to_owned(),
                    (false, true) => r"[^\n]".to_owned(),
                    (false, false) => format!("[^{LINE_ENDS}]"),
                };
                self.out.push_str(&dot);
                Ok(true)
            }
            '^' => {
                self.out.push_str(if self.flags.multi_line {
                    "(?m:^)"
                } else {
                    r"\A"
                });
                Ok(false)
            }
            '$' => {
                if self.flags.multi_line {
                    self.out.push_str("(?m:$)");
                } else {
                    self.end_but_for_line_end();
                }
                Ok(false)
            }
            c => {
                self.literal(c);
                Ok(true)
            }
        }
    }

    fn end_but_for_line_end(&mut self) {
        if self.flags.unix_lines {
            self.out.push_str(r"(?=\n?\z)");
        } else {
            let _ = write!(self.out, r"(?=(?:\r\n|[{LINE_ENDS}])?\z)");
        }
    }

    /// Writes one character that stands for itself, and for its other case when case is ignored.
    fn literal(&mut self, c: char) {
        let code = u32::from(c);
        let _ = match (self.flags.ignore_case, self.flags.unicode_case) {
            (true, true) => write!(self.out, r"(?i:\x{{{code:X}}})"),
            (true, false) if c.is_ascii_alphabetic() => write!(
                self.out,
                "[{}{}]",
                c.to_ascii_lowercase(),
                c.to_ascii_uppercase()
            ),
            (true | false, _) => write!(self.out, r"\x{{{code:X}}}"),
        };
    }

    fn quantifier(&mut self) -> Result<()> {
        match self.next()? {
            '{' => {
                let least = self.number()?;
                let most = if self.take(',') {
                    match self.rest.peek() {
                        Some('}') => None,
                        _ => Some(self.number()?),
                    }
                } else {
                    Some(least)
                };
                self.expect('}')?;
                if most.is_some_and(|most| most < least) {
                    return Err(TranslateError::Misplaced(format!("{{{least},")));
                }
                let _ = match most {
                    None => write!(self.out, "{{{least},}}"),
                    Some(most) => write!(self.out, "{{{least},{most}}}"),
                };
            }
            c => self.out.push(c),
        }
        if let Some(c) = self.rest.next_if(|c| matches!(c, '?' | '+')) {
            self.out.push(c);
        }
        Ok(())
    }

    fn number(&mut self) -> Result<u32> {
        let mut digits = String::new();
        while let Some(c) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(c);
        }
        match digits.parse() {
            Ok(number) if number <= MAX_COUNT => Ok(number),
            Ok(_) => Err(TranslateError::TooLarge),
            Err(_) => Err(TranslateError::Misplaced("{".to_owned())),
        }
    }

    /// Reads what follows an opening parenthesis; tells whether it may be repeated.
    fn group(&mut self) -> Result<bool> {
        let outer = self.flags;
        if !self.take('?') {
            self.groups += 1;
            return self.group_body("(", outer, true);
        }
        match self.next()? {
            ':' => self.group_body("(?:", outer, true),
            '>' => self.group_body("(?>", outer, true),
            '=' => self.group_body("(?=", outer, false),
            '!' => self.group_body("(?!", outer, false),
            '<' => match self.next()? {
                '=' => self.group_body("(?<=", outer, false),
                '!' => self.group_body("(?<!", outer, false),
                first if first.is_ascii_alphabetic() => {
                    let name = self.group_name(first)?;
                    if self.names.contains(&name) {
                        return Err(TranslateError::Misplaced(name));
                    }
                    self.names.push(name.clone());
                    self.groups += 1;
                    self.group_body(&format!("(?<{name}>"), outer, true)
                }
                c => Err(TranslateError::Misplaced(c.into())),
            },
            first => {
                if self.flag_letters(first)? {
                    self.group_body("(?:", outer, true)
                } else {
                    // The flags hold to the end of the enclosing group, which puts its own back.
                    Ok(false)
                }
            }
        }
    }

    fn group_body(&mut self, opening: &str, outer: Flags, repeatable: bool) -> Result<bool> {
        self.out.push_str(opening);
        self.alternatives()?;
        self.expect(')')?;
        self.out.push(')');
        self.flags = outer;
        Ok(repeatable)
    }

    fn group_name(&mut self, first: char) -> Result<String> {
        let mut name = String::from(first);
        loop {
            match self.next()? {
                '>' => return Ok(name),
                c if c.is_ascii_alphanumeric() => name.push(c),
                c => return Err(TranslateError::Misplaced(c.into())),
            }
        }
    }

    /// Reads flags; tells whether a body follows.
    fn flag_letters(&mut self, first: char) -> Result<bool> {
        let mut on = true;
        let mut letter = first;
        loop {
            match letter {
                ')' => return Ok(false),
                ':' => return Ok(true),
                '-' if on => on = false,
                'i' => self.flags.ignore_case = on,
                'm' => self.flags.multi_line = on,
                's' => self.flags.dot_all = on,
                'd' => self.flags.unix_lines = on,
                'x' => self.flags.comments = on,
                'u' => self.flags.unicode_case = on,
                'U' => {
                    self.flags.unicode_classes = on;
                    self.flags.unicode_case = on;
                }
                c => return Err(TranslateError::Unknown(format!("(?{c}"))),
            }
            letter = self.next()?;
        }
    }

    /// Reads what follows a backslash; tells whether it may be repeated.
    fn escape(&mut self) -> Result<bool> {
        let c = self.next()?;
        if let Some(class) = class::predefined(c, self.flags.unicode_classes) {
            self.out.push_str(&class);
            return Ok(true);
        }
        match c {
            'A' => self.out.push_str(r"\A"),
            'z' => self.out.push_str(r"\z"),
            'G' => self.out.push_str(r"\G"),
            'Z' => self.end_but_for_line_end(),
            'b' if self.rest.peek() == Some(&'{') => {
                return Err(TranslateError::Unknown(r"\b{".to_owned()));
            }
            'b' | 'B' => {
                self.out.push('\\');
                self.out.push(c);
            }
            'R' => {
                let _ = write!(self.out, r"(?:\r\n|[\x0B\f{LINE_ENDS}])");
                return Ok(true);
            }
            'Q' => return Ok(self.quoted()),
            'k' => {
                self.expect('<')?;
                let first = self.next()?;
                let name = self.group_name(first)?;
                self.back_reference(&format!(r"\k<{name}>"));
                return Ok(true);
            }
            'p' | 'P' => {
                let class = class::property(self, c == 'P')?;
                self.out.push_str(&class);
                return Ok(true);
            }
            '1'..='9' => {
                self.numbered_reference(c);
                return Ok(true);
            }
            _ => {
                let literal = self.escaped_character(c)?;
                self.literal(literal);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn back_reference(&mut self, reference: &str) {
        if self.flags.ignore_case {
            let _ = write!(self.out, "(?i:{reference})");
        } else {
            self.out.push_str(reference);
        }
    }

    /// Takes as many digits as there are groups so far. A group that is not there yet never matches.
    fn numbered_reference(&mut self, first: char) {
        let mut number = first.to_digit(10).unwrap_or(0);
        while let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(10)) {
            let longer = number * 10 + digit;
            if longer > self.groups {
                break;
            }
            number = longer;
            self.rest.next();
        }
        if number > self.groups {
            self.out.push_str("(?!)");
        } else {
            self.back_reference(&format!(r"\{number}"));
        }
    }

    fn quoted(&mut self) -> bool {
        let mut any = false;
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.take('E') {
                break;
            }
            self.literal(c);
            any = true;
        }
        any
    }

    /// Reads an escape that stands for one character, inside a class or outside.
    pub(super) fn escaped_character(&mut self, c: char) -> Result<char> {
        match c {
            't' => Ok('\t'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            'f' => Ok('\u{c}'),
            'a' => Ok('\u{7}'),
            'e' => Ok('\u{1b}'),
            'c' => {
                let control = u32::from(self.next()?) ^ 64;
                char::from_u32(control).ok_or_else(|| TranslateError::Unknown(r"\c".to_owned()))
            }
            '0' => self.octal(),
            'x' if self.take('{') => {
                let mut digits = String::new();
                loop {
                    match self.next()? {
                        '}' => break,
                        c => digits.push(c),
                    }
                }
                hexadecimal(&digits)
            }
            'x' => self.hexadecimal(2),
            'u' => self.hexadecimal(4),
            c if c.is_ascii_alphabetic() => Err(TranslateError::Unknown(format!("\\{c}"))),
            c => Ok(c),
        }
    }

    fn hexadecimal(&mut self, count: usize) -> Result<char> {
        let mut digits = String::new();
        for _ in 0..count {
            digits.push(self.next()?);
        }
        hexadecimal(&digits)
    }

    fn octal(&mut self) -> Result<char> {
        let mut code = self
            .next()?
            .to_digit(8)
            .ok_or_else(|| TranslateError::Misplaced(r"\0".to_owned()))?;
        for _ in 0..2 {
            let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(8)) else {
                break;
            };
            if code * 8 + digit > 0o377 {
                break;
            }
            code = code * 8 + digit;
            self.rest.next();
        }
        char::from_u32(code).ok_or_else(|| TranslateError::Misplaced(r"\0".to_owned()))
    }
}

/// Half of a surrogate pair has no meaning of its own in UTF-8 and is not taken.
fn hexadecimal(digits: &str) -> Result<char> {
    let fail = || TranslateError::Misplaced(digits.to_owned());
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(fail());
    }
    u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32)
        .ok_or_else(fail)
}
