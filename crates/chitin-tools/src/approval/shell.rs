//! A small reader of shell lines. It knows little and says so: whatever it does not know for certain is [`Unsure`].

use thiserror::Error;

/// A line that was understood: simple commands joined by `;`, `&`, `&&`, `||`, `|` and line breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The simple commands, in the order in which they stand. There is at least one.
    pub commands: Vec<SimpleCommand>,
}

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The words; the first is the program and always exact.
    pub words: Vec<Word>,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// The program gets exactly this.
    Exact(String),
    /// The shell makes something else of it: a variable, names of files. It runs nothing.
    Open,
}

/// Why a line was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unsure {
    /// There is nothing in it.
    #[error("it contains no command")]
    Empty,
    /// A quote is not closed, or it ends in the middle of something.
    #[error("it is incomplete")]
    Unfinished,
    /// A command inside a command.
    #[error("it runs a command inside another one")]
    Substitution,
    /// Brackets, loops, conditions, functions.
    #[error("it is more than simple commands")]
    Compound,
    /// Input or output that goes to a file.
    #[error("it redirects input or output")]
    Redirection,
    /// The program itself is not written out.
    #[error("the name of the program is not literal")]
    Program,
    /// A variable is set for a command.
    #[error("it sets a variable")]
    Assignment,
    /// A character that shells do not agree about.
    #[error("it has a character that shells treat differently")]
    Character,
}

/// Words that mean something else than a program at the beginning of a command.
const RESERVED: [&str; 23] = [
    "!", "{", "}", "[[", "]]", "if", "then", "else", "elif", "fi", "for", "while", "until", "do",
    "done", "case", "esac", "in", "function", "select", "time", "coproc", "repeat",
];

/// Where a redirection may go without being one that matters.
const NOWHERE: &str = "/dev/null";

/// Reads a command line.
pub fn split(line: &str) -> Result<Script, Unsure> {
    let mut reader = Reader {
        rest: line.chars().collect(),
        at: 0,
        commands: Vec::new(),
        words: Vec::new(),
    };
    reader.read()?;
    if reader.commands.is_empty() {
        return Err(Unsure::Empty);
    }
    Ok(Script {
        commands: reader.commands,
    })
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    commands: Vec<SimpleCommand>,
    words: Vec<Word>,
}

/// What ended a command.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Joint {
    /// Another command must follow.
    Needs,
    /// Another command may follow.
    May,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next_is(&self, ahead: usize, wanted: char) -> bool {
        self.rest.get(self.at + ahead) == Some(&wanted)
    }

    fn read(&mut self) -> Result<(), Unsure> {
        let mut joint = Joint::May;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' => self.at += 1,
                '\n' => {
                    self.at += 1;
                    // A line break after `&&` or `|` goes on with the same command line.
                    if !self.words.is_empty() {
                        self.finish()?;
                        joint = Joint::May;
                    }
                }
                ';' | '&' | '|' => {
                    joint = self.operator(c)?;
                    self.finish()?;
                }
                '#' if self.words.is_empty() || self.after_blank() => self.comment(),
                '(' | ')' => return Err(Unsure::Compound),
                '<' | '>' => self.redirection()?,
                _ => {
                    let word = self.word()?;
                    self.words.push(word);
                }
            }
        }
        match (self.words.is_empty(), joint) {
            (true, Joint::Needs) => Err(Unsure::Unfinished),
            (true, Joint::May) => Ok(()),
            (false, _) => self.finish(),
        }
    }

    fn after_blank(&self) -> bool {
        self.at == 0
            || self
                .rest
                .get(self.at - 1)
                .is_some_and(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|'))
    }

    fn comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn operator(&mut self, c: char) -> Result<Joint, Unsure> {
        if c == '&' && self.next_is(1, '>') {
            return Err(Unsure::Redirection);
        }
        let doubled = self.next_is(1, c);
        self.at += if doubled { 2 } else { 1 };
        match (c, doubled) {
            // `;;` and its kin belong to `case`.
            (';', true) => Err(Unsure::Compound),
            (';', false) if self.next_is(0, '&') || self.next_is(0, '|') => Err(Unsure::Compound),
            // `|&` is not known to every shell.
            ('|', false) if self.next_is(0, '&') => Err(Unsure::Redirection),
            (';' | '&', false) => Ok(Joint::May),
            _ => Ok(Joint::Needs),
        }
    }

    /// Ends a simple command.
    fn finish(&mut self) -> Result<(), Unsure> {
        let words = std::mem::take(&mut self.words);
        let Some(Word::Exact(program)) = words.first() else {
            return Err(if words.is_empty() {
                Unsure::Empty
            } else {
                Unsure::Program
            });
        };
        if program.is_empty() {
            return Err(Unsure::Program);
        }
        if program.contains('=') {
            return Err(Unsure::Assignment);
        }
        if RESERVED.contains(&program.as_str()) {
            return Err(Unsure::Compound);
        }
        self.commands.push(SimpleCommand { words });
        Ok(())
    }

    /// Takes `2>&1`, `>/dev/null` and the like; anything else matters.
    fn redirection(&mut self) -> Result<(), Unsure> {
        // A number right before it belongs to it and was read as a word.
        if self.at > 0 && self.rest[self.at - 1].is_ascii_digit() && self.last_word_is_number() {
            self.words.pop();
        }
        let input = self.peek() == Some('<');
        self.at += 1;
        if self.next_is(0, '>') && !input {
            self.at += 1;
        }
        if self.next_is(0, '&') {
            self.at += 1;
            return match self.peek() {
                Some(c) if c.is_ascii_digit() && self.ends_after(1) => {
                    self.at += 1;
                    Ok(())
                }
                _ => Err(Unsure::Redirection),
            };
        }
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        let length = NOWHERE.chars().count();
        let end = (self.at + length).min(self.rest.len());
        if self.rest[self.at..end].iter().copied().eq(NOWHERE.chars()) && self.ends_after(length) {
            self.at += length;
            Ok(())
        } else {
            Err(Unsure::Redirection)
        }
    }

    /// Says whether the last word is a bare number that touches this place.
    fn last_word_is_number(&self) -> bool {
        let digits = self.rest[..self.at]
            .iter()
            .rev()
            .take_while(|c| c.is_ascii_digit())
            .count();
        let before = self.at.checked_sub(digits + 1).map(|at| self.rest[at]);
        let stands_alone = matches!(before, None | Some(' ' | '\t' | '\n' | ';' | '&' | '|'));
        stands_alone
            && matches!(self.words.last(), Some(Word::Exact(word)) if word.chars().all(|c| c.is_ascii_digit()))
    }

    fn ends_after(&self, ahead: usize) -> bool {
        matches!(
            self.rest.get(self.at + ahead),
            None | Some(' ' | '\t' | '\n' | ';' | '&' | '|')
        )
    }

    fn word(&mut self) -> Result<Word, Unsure> {
        let mut exact = String::new();
        let mut open = false;
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' => break,
                '(' | ')' => return Err(Unsure::Compound),
                '`' => return Err(Unsure::Substitution),
                '\'' => self.single_quoted(&mut exact)?,
                '"' => open |= self.double_quoted(&mut exact)?,
                '\\' => self.escaped(&mut exact)?,
                '$' => {
                    self.variable()?;
                    open = true;
                }
                // Names of files, lists, the home.
                '*' | '?' | '[' | ']' | '{' | '}' => {
                    self.at += 1;
                    exact.push(c);
                    open = true;
                }
                '~' if self.at == start || exact.ends_with([':', '=']) => {
                    self.at += 1;
                    open = true;
                }
                // Some shells expand it.
                '!' | '^' if self.at != start || self.words.is_empty() => {
                    self.at += 1;
                    exact.push(c);
                    open |= exact != "!";
                }
                '=' if self.at == start => {
                    // `=name` is a path to some shells.
                    self.at += 1;
                    open = true;
                }
                _ => {
                    self.plain(c)?;
                    exact.push(c);
                }
            }
        }
        // `{`, `}` and brackets alone are words that mean something, but only where a program stands.
        if open && self.words.is_empty() && RESERVED.contains(&exact.as_str()) {
            return Err(Unsure::Compound);
        }
        Ok(if open { Word::Open } else { Word::Exact(exact) })
    }

    fn plain(&mut self, c: char) -> Result<(), Unsure> {
        // Control characters and blanks that only some shells take for blanks.
        if c.is_control() || (c.is_whitespace() && !matches!(c, ' ' | '\t' | '\n')) {
            return Err(Unsure::Character);
        }
        self.at += 1;
        Ok(())
    }

    fn single_quoted(&mut self, into: &mut String) -> Result<(), Unsure> {
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(Unsure::Unfinished),
                Some('\'') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\0') => return Err(Unsure::Character),
                Some(c) => {
                    self.at += 1;
                    into.push(c);
                }
            }
        }
    }

    /// Returns whether there was a variable in it.
    fn double_quoted(&mut self, into: &mut String) -> Result<bool, Unsure> {
        self.at += 1;
        let mut open = false;
        loop {
            match self.peek() {
                None => return Err(Unsure::Unfinished),
                Some('"') => {
                    self.at += 1;
                    return Ok(open);
                }
                Some('`') => return Err(Unsure::Substitution),
                Some('\0') => return Err(Unsure::Character),
                Some('$') => {
                    if self.next_is(1, '"') {
                        self.at += 1;
                        into.push('$');
                    } else {
                        self.variable()?;
                        open = true;
                    }
                }
                Some('\\') => match self.rest.get(self.at + 1) {
                    None => return Err(Unsure::Unfinished),
                    Some('\n') => return Err(Unsure::Character),
                    Some(c) => {
                        if !matches!(c, '$' | '`' | '"' | '\\') {
                            into.push('\\');
                        }
                        into.push(*c);
                        self.at += 2;
                    }
                },
                Some(c) => {
                    // Interactive shells look into quotes for it.
                    open |= c == '!';
                    self.at += 1;
                    into.push(c);
                }
            }
        }
    }

    fn escaped(&mut self, into: &mut String) -> Result<(), Unsure> {
        match self.rest.get(self.at + 1).copied() {
            None => Err(Unsure::Unfinished),
            Some(c) if c.is_control() => Err(Unsure::Character),
            Some(c) => {
                self.at += 2;
                into.push(c);
                Ok(())
            }
        }
    }

    /// Takes `$NAME`, `$1` and `$?`; everything else behind a `$` may run something.
    fn variable(&mut self) -> Result<(), Unsure> {
        self.at += 1;
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self
                    .peek()
                    .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                {
                    self.at += 1;
                }
                Ok(())
            }
            Some(c) if c.is_ascii_digit() || c == '?' => {
                self.at += 1;
                Ok(())
            }
            _ => Err(Unsure::Substitution),
        }
    }
}
