//! Bytes read as choices. A recipe never runs dry: past its end every choice is the first one.

/// A reader of choices.
#[derive(Debug, Clone, Copy)]
pub struct Recipe<'a> {
    rest: &'a [u8],
}

impl<'a> Recipe<'a> {
    /// Starts at the first byte.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Tells whether everything was read.
    pub const fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns what was not read yet.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes one byte.
    pub fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((first, rest)) => {
                self.rest = rest;
                *first
            }
            None => 0,
        }
    }

    /// Takes one of the items.
    pub fn pick<'b, T: ?Sized>(&mut self, items: &[&'b T]) -> &'b T {
        items[usize::from(self.byte()) % items.len()]
    }

    /// Takes a path of up to four of the items.
    pub fn path(&mut self, items: &[&str]) -> String {
        let length = self.byte() % 4;
        let mut path = self.pick(items).to_owned();
        for _ in 0..length {
            path.push('/');
            path.push_str(self.pick(items));
        }
        path
    }

    /// Takes a text that ends at a line feed or at the end.
    pub fn line(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| *byte == b'\n');
        let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.get(1..).unwrap_or_default();
        line
    }
}
