//! What a file is, by its first bytes.

/// How much of a file is looked at.
pub(super) const SNIFFED: usize = 8192;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A picture that models can see, with its media type.
    Image(&'static str),
    /// Anything else, in words.
    Binary(&'static str),
}

/// Beginnings of files and what they say.
const SIGNATURES: [(&[u8], Kind); 24] = [
    (b"\x89PNG\r\n\x1a\n", Kind::Image("image/png")),
    (b"\xff\xd8\xff", Kind::Image("image/jpeg")),
    (b"GIF87a", Kind::Image("image/gif")),
    (b"GIF89a", Kind::Image("image/gif")),
    (b"%PDF-", Kind::Binary("a PDF document")),
    (
        b"PK\x03\x04",
        Kind::Binary("a ZIP archive or an office document"),
    ),
    (b"PK\x05\x06", Kind::Binary("an empty ZIP archive")),
    (b"\x1f\x8b", Kind::Binary("gzip data")),
    (b"\x28\xb5\x2f\xfd", Kind::Binary("Zstandard data")),
    (b"BZh", Kind::Binary("bzip2 data")),
    (b"\xfd7zXZ\x00", Kind::Binary("xz data")),
    (b"7z\xbc\xaf\x27\x1c", Kind::Binary("a 7z archive")),
    (b"\x7fELF", Kind::Binary("an ELF program or library")),
    (
        b"\xcf\xfa\xed\xfe",
        Kind::Binary("a Mach-O program or library"),
    ),
    (
        b"\xca\xfe\xba\xbe",
        Kind::Binary("a Java class or a Mach-O file"),
    ),
    (b"\0asm", Kind::Binary("a WebAssembly module")),
    (b"SQLite format 3\0", Kind::Binary("an SQLite database")),
    (b"OggS", Kind::Binary("Ogg audio or video")),
    (b"fLaC", Kind::Binary("FLAC audio")),
    (b"ID3", Kind::Binary("MP3 audio")),
    (b"\x00\x00\x01\x00", Kind::Binary("an icon")),
    (b"wOF2", Kind::Binary("a font")),
    (b"\xff\xfe", Kind::Binary("text in UTF-16")),
    (b"\xfe\xff", Kind::Binary("text in UTF-16")),
];

/// Says what a file is. `head` is its beginning, as much as there is up to [`SNIFFED`] bytes.
pub(super) fn kind(head: &[u8]) -> Kind {
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return Kind::Image("image/webp");
    }
    if head.get(4..8) == Some(b"ftyp") {
        return Kind::Binary("video, or an image in a video container");
    }
    let signature = SIGNATURES.iter().find(|(start, _)| head.starts_with(start));
    let has_zeros = head.contains(&0);
    match signature {
        // Such beginnings also begin words.
        Some((start, kind)) if has_zeros || !start.is_ascii() || start.len() > 4 => *kind,
        Some(_) | None if !has_zeros => Kind::Text,
        Some((_, kind)) => *kind,
        None => Kind::Binary("binary data"),
    }
}

/// Says what kind of picture a file is that models can see, by its first bytes; what somebody says of it does not count.
pub fn picture(bytes: &[u8]) -> Option<&'static str> {
    match kind(&bytes[..bytes.len().min(SNIFFED)]) {
        Kind::Image(media_type) => Some(media_type),
        Kind::Text | Kind::Binary(_) => None,
    }
}
