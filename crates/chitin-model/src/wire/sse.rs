//! Server-sent events, as the HTML standard says: lines of fields, events parted by empty lines.

use super::lines::{LineLimits, LineReader, TooMuch};

/// How much is kept of lines that are no fields, to say what came instead.
const MOST_STRAY: usize = 512;

/// Reads the data of events. Their names are not needed: every format says what an event is in its data.
#[derive(Debug)]
pub(super) struct EventReader {
    lines: LineReader,
    fields: Fields,
}

#[derive(Debug)]
struct Fields {
    limit: usize,
    data: String,
    has_data: bool,
    stray: String,
}

impl EventReader {
    pub(super) const fn new(limits: LineLimits) -> Self {
        Self {
            lines: LineReader::new(limits),
            fields: Fields {
                limit: limits.event,
                data: String::new(),
                has_data: false,
                stray: String::new(),
            },
        }
    }

    /// Takes some bytes and adds the data of every event that they complete. Events before the fault were added.
    pub(super) fn feed(&mut self, bytes: &[u8], events: &mut Vec<String>) -> Result<(), TooMuch> {
        let fields = &mut self.fields;
        self.lines.feed(bytes, |line| fields.take(line, events))
    }

    /// Adds what is left. Servers forget the empty line after the last event; whoever reads it must expect it to be cut.
    pub(super) fn finish(&mut self, events: &mut Vec<String>) -> Result<(), TooMuch> {
        let fields = &mut self.fields;
        self.lines.finish(|line| fields.take(line, events))?;
        fields.dispatch(events);
        Ok(())
    }

    /// Returns the beginning of what came besides fields.
    pub(super) fn stray(&self) -> &str {
        self.fields.stray.trim()
    }
}

impl Fields {
    fn take(&mut self, line: &[u8], events: &mut Vec<String>) -> Result<(), TooMuch> {
        if line.is_empty() {
            self.dispatch(events);
            return Ok(());
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &line[line.len()..]),
        };
        match name {
            b"data" => {
                let value = value.strip_prefix(b" ").unwrap_or(value);
                if self.data.len() + value.len() > self.limit {
                    return Err(TooMuch {
                        what: "an event",
                        limit: self.limit,
                    });
                }
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(&String::from_utf8_lossy(value));
            }
            // A comment, or a field that does not concern us.
            b"" | b"event" | b"id" | b"retry" => {}
            _ => {
                let room = MOST_STRAY.saturating_sub(self.stray.len());
                let text = String::from_utf8_lossy(line);
                self.stray.extend(text.chars().take(room));
                self.stray.push('\n');
            }
        }
        Ok(())
    }

    fn dispatch(&mut self, events: &mut Vec<String>) {
        if std::mem::take(&mut self.has_data) {
            events.push(std::mem::take(&mut self.data));
        }
    }
}
