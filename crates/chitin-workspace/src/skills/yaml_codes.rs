//! From what our YAML parser says to the codes that the recorded releases say.
//!
//! Their library names the same troubles by other words and at other places; a repair (S18) depends on both.

use super::compat::code;
use super::yaml::YamlError;
use granit_parser::{ErrorKind, ScanError};

/// Where the parser stopped.
pub(super) struct Scene<'a> {
    pub(super) block: &'a str,
    /// Counted from one.
    pub(super) line: usize,
    /// Counted from zero.
    pub(super) column: usize,
    /// The line on which the last whole value began.
    pub(super) last_line: usize,
}

impl Scene<'_> {
    fn line_text(&self) -> &str {
        self.text_from(self.line).lines().next().unwrap_or_default()
    }

    /// Returns the block from the beginning of a line on.
    fn text_from(&self, line: usize) -> &str {
        let skipped: usize = self
            .block
            .split_inclusive('\n')
            .take(line.saturating_sub(1))
            .map(str::len)
            .sum();
        &self.block[skipped..]
    }
}

/// Names the trouble.
pub(super) fn classify(error: &ScanError, scene: &Scene<'_>) -> YamlError {
    let here = Some(scene.line);
    let (code, repair_line) = match error.kind() {
        ErrorKind::MappingValueNotAllowed | ErrorKind::MappingKeyNotAllowed => {
            (code::BLOCK_AS_IMPLICIT_KEY, Some(scene.last_line))
        }
        ErrorKind::UnknownAnchor => (lone_alias(scene), here),
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => (text_as_key(scene), here),
        ErrorKind::ExpectedBlockMappingKey => {
            let entry = scene.line_text().trim_start().starts_with('-');
            let code = if entry {
                code::BLOCK_AS_IMPLICIT_KEY
            } else {
                code::BAD_INDENT
            };
            (code, here)
        }
        ErrorKind::UnexpectedCharacter { .. } => (code::BAD_SCALAR_START, here),
        ErrorKind::UnexpectedEofBlockMapping | ErrorKind::ExpectedNodeContent => {
            let reserved = scene
                .line_text()
                .chars()
                .nth(scene.column)
                .is_some_and(|c| ",%@`".contains(c));
            let code = if reserved {
                code::BAD_SCALAR_START
            } else {
                code::UNEXPECTED_TOKEN
            };
            (code, here)
        }
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInIndentation
        | ErrorKind::InvalidBlockEntryWhitespace
        | ErrorKind::InvalidMappingValueWhitespace
        | ErrorKind::TabInPlainScalar => (code::TAB_AS_INDENT, None),
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar => {
            (code::MISSING_CHAR, end_of_unclosed_quote(scene))
        }
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => (code::BAD_ESCAPE, here),
        ErrorKind::InvalidIndentation
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidBlockScalarIndent
        | ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEof => (code::BAD_INDENT, Some(scene.last_line)),
        ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::CommentNotSeparated => (code::MISSING_CHAR, here),
        ErrorKind::BlockEntryInFlowCollection => (code::BLOCK_IN_FLOW, here),
        ErrorKind::UndeclaredTagHandle | ErrorKind::InvalidTagEscape => {
            (code::TAG_RESOLVE_FAILED, here)
        }
        ErrorKind::DuplicateVersionDirective
        | ErrorKind::DuplicateTagDirective
        | ErrorKind::InvalidDirectiveTerminator
        | ErrorKind::MissingDirectiveName
        | ErrorKind::InvalidDirectiveName => (code::BAD_DIRECTIVE, here),
        ErrorKind::RecursionLimitExceeded => (code::EXCEPTION, None),
        _ => (code::UNEXPECTED_TOKEN, here),
    };
    let (line, column) = match code {
        code::TAB_AS_INDENT => tabbed_line(scene),
        _ => (scene.line, scene.column + 1),
    };
    YamlError {
        code,
        line: line.max(1),
        column,
        message: error.kind().to_string(),
        repair_line,
    }
}

/// Returns the place of the first line, from where the parser stopped on, that a tab indents.
fn tabbed_line(scene: &Scene<'_>) -> (usize, usize) {
    let lines = scene.text_from(scene.line).lines();
    let tabbed = lines.enumerate().find_map(|(at, line)| {
        let blank = line.len() - line.trim_start().len();
        line[..blank].find('\t').map(|column| (at, column))
    });
    tabbed.map_or((scene.line, scene.column + 1), |(at, column)| {
        (scene.line + at, column + 1)
    })
}

/// An alias that names nothing is found late when it stands alone; with text behind it, that text is the trouble.
fn lone_alias(scene: &Scene<'_>) -> &'static str {
    let rest: String = scene
        .line_text()
        .chars()
        .skip(scene.column)
        .skip_while(|c| !c.is_whitespace())
        .collect();
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        code::EXCEPTION
    } else {
        code::UNEXPECTED_TOKEN
    }
}

/// Text where a key should stand runs on over the next lines until a colon; without one, the colon is what is missing.
fn text_as_key(scene: &Scene<'_>) -> &'static str {
    let indent = scene.column;
    for (at, line) in scene.text_from(scene.line).lines().enumerate() {
        let text = line.trim_start_matches(' ');
        let shallow = line.len() - text.len() < indent;
        if at > 0 && !text.is_empty() && (shallow || text.starts_with('#')) {
            break;
        }
        let end = text.find(" #").unwrap_or(text.len());
        let colon = text.match_indices(':').any(|(colon, _)| {
            colon < end
                && text[colon + 1..]
                    .chars()
                    .next()
                    .is_none_or(char::is_whitespace)
        });
        if colon {
            return if at > 0 {
                code::MULTILINE_IMPLICIT_KEY
            } else {
                code::UNEXPECTED_TOKEN
            };
        }
        if end < text.len() {
            break;
        }
    }
    code::MISSING_CHAR
}

/// A quote that no other quote follows runs to the end of the block, and the trouble shows on the last line. Otherwise
/// it shows on the line break, which is no line at all.
fn end_of_unclosed_quote(scene: &Scene<'_>) -> Option<usize> {
    let text = scene.text_from(scene.last_line);
    let colon = text.find(':').map_or(0, |at| at + 1);
    let quote = text[colon..].find(['"', '\''])? + colon;
    let mark = text[quote..].chars().next()?;
    let closed = text[quote + 1..].contains(mark);
    (!closed).then(|| scene.block.split('\n').count())
}
