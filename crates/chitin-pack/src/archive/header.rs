//! The 512 bytes before each entry.

/// The unit of everything in an archive.
pub(crate) const BLOCK: usize = 512;
/// What ends an archive: two empty blocks.
pub(super) const TRAILER: usize = 2 * BLOCK;

const NAME: std::ops::Range<usize> = 0..100;
const MODE: std::ops::Range<usize> = 100..108;
const UID: std::ops::Range<usize> = 108..116;
const GID: std::ops::Range<usize> = 116..124;
const SIZE: std::ops::Range<usize> = 124..136;
const MTIME: std::ops::Range<usize> = 136..148;
const CHECKSUM: std::ops::Range<usize> = 148..156;
const TYPE: usize = 156;
const MAGIC: std::ops::Range<usize> = 257..263;
const VERSION: std::ops::Range<usize> = 263..265;
const PREFIX: std::ops::Range<usize> = 345..500;

/// The kinds of entries that are written or understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderKind {
    File,
    Directory,
    /// Longer facts about the next entry.
    Extended,
}

impl HeaderKind {
    const fn flag(self) -> u8 {
        match self {
            Self::File => b'0',
            Self::Directory => b'5',
            Self::Extended => b'x',
        }
    }
}

/// Writes a header; `None` when the path does not fit and needs an extended header before it.
pub(super) fn build(
    path: &str,
    kind: HeaderKind,
    executable: bool,
    size: u64,
) -> Option<[u8; BLOCK]> {
    let (prefix, name) = split(path)?;
    let mut header = [0; BLOCK];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[PREFIX.start..PREFIX.start + prefix.len()].copy_from_slice(prefix.as_bytes());
    let mode = if kind == HeaderKind::Directory || executable {
        0o755
    } else {
        0o644
    };
    octal(&mut header[MODE], mode);
    octal(&mut header[UID], 0);
    octal(&mut header[GID], 0);
    octal(&mut header[SIZE], size);
    octal(&mut header[MTIME], 0);
    header[TYPE] = kind.flag();
    header[MAGIC].copy_from_slice(b"ustar\0");
    header[VERSION].copy_from_slice(b"00");
    let sum = checksum(&header);
    header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Some(header)
}

/// Splits a path into the prefix and name fields: at the right-most `/` that leaves both short enough.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= NAME.len() {
        return Some(("", path));
    }
    path.rmatch_indices('/')
        .map(|(at, _)| (&path[..at], &path[at + 1..]))
        // A directory's own slash at the end splits nothing off.
        .find(|(prefix, name)| {
            !name.is_empty() && prefix.len() <= PREFIX.len() && name.len() <= NAME.len()
        })
}

/// Zero-padded digits that fill the field but for the NUL at its end.
fn octal(field: &mut [u8], value: u64) {
    let width = field.len() - 1;
    let digits = format!("{value:0width$o}");
    // Sizes above what the field holds are refused long before: limits are far below eight gigabytes.
    let start = digits.len().saturating_sub(width);
    field[..width].copy_from_slice(&digits.as_bytes()[start..]);
}

fn checksum(header: &[u8; BLOCK]) -> u64 {
    header
        .iter()
        .enumerate()
        .map(|(at, byte)| u64::from(if CHECKSUM.contains(&at) { b' ' } else { *byte }))
        .sum()
}

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) path: Vec<u8>,
    pub(super) flag: u8,
    pub(super) executable: bool,
    pub(super) size: u64,
}

/// Reads a header; `None` when it is not one.
pub(super) fn parse(header: &[u8; BLOCK]) -> Option<Parsed> {
    if number(&header[CHECKSUM])? != checksum(header) {
        return None;
    }
    let name = text(&header[NAME]);
    let prefix = if header[MAGIC].starts_with(b"ustar\0") {
        text(&header[PREFIX])
    } else {
        &[]
    };
    let mut path = prefix.to_vec();
    if !prefix.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    Some(Parsed {
        path,
        flag: header[TYPE],
        executable: number(&header[MODE])? & 0o111 != 0,
        size: number(&header[SIZE])?,
    })
}

/// Tells whether a path was cut by a NUL byte that is not the end of its field.
pub(super) fn hides_bytes(header: &[u8; BLOCK]) -> bool {
    let hidden = |field: &[u8]| field[text(field).len()..].iter().any(|byte| *byte != 0);
    hidden(&header[NAME]) || hidden(&header[PREFIX])
}

fn text(field: &[u8]) -> &[u8] {
    let end = field
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(field.len());
    &field[..end]
}

fn number(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text(field)).ok()?.trim_matches(' ');
    if text.is_empty() {
        return Some(0);
    }
    if !text.bytes().all(|b| (b'0'..=b'7').contains(&b)) {
        return None;
    }
    u64::from_str_radix(text, 8).ok()
}
