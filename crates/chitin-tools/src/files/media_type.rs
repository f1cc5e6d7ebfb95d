//! What a file is, by its first bytes.

/// How much of a file is looked at.
pub(super) const SNIFFED: usize = 8192;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaType {
    Text,
    /// A picture that models can see, with its media type.
    Image(&'static str),
    /// Anything else, in words.
    Binary(&'static str),
}

/// Beginnings of files and what they say.
const SIGNATURES: [(&[u8], MediaType); 24] = [
    (b"\x89PNG\r\n\x1a\n", MediaType::Image("image/png")),
    (b"\xff\xd8\xff", MediaType::Image("image/jpeg")),
    (b"GIF87a", MediaType::Image("image/gif")),
    (b"GIF89a", MediaType::Image("image/gif")),
    (b"%PDF-", MediaType::Binary("a PDF document")),
    (
        b"PK\x03\x04",
        MediaType::Binary("a ZIP archive or an office document"),
    ),
    (b"PK\x05\x06", MediaType::Binary("an empty ZIP archive")),
    (b"\x1f\x8b", MediaType::Binary("gzip data")),
    (b"\x28\xb5\x2f\xfd", MediaType::Binary("Zstandard data")),
    (b"BZh", MediaType::Binary("bzip2 data")),
    (b"\xfd7zXZ\x00", MediaType::Binary("xz data")),
    (b"7z\xbc\xaf\x27\x1c", MediaType::Binary("a 7z archive")),
    (b"\x7fELF", MediaType::Binary("an ELF program or library")),
    (
        b"\xcf\xfa\xed\xfe",
        MediaType::Binary("a Mach-O program or library"),
    ),
    (
        b"\xca\xfe\xba\xbe",
        MediaType::Binary("a Java class or a Mach-O file"),
    ),
    (b"\0asm", MediaType::Binary("a WebAssembly module")),
    (
        b"SQLite format 3\0",
        MediaType::Binary("an SQLite database"),
    ),
    (b"OggS", MediaType::Binary("Ogg audio or video")),
    (b"fLaC", MediaType::Binary("FLAC audio")),
    (b"ID3", MediaType::Binary("MP3 audio")),
    (b"\x00\x00\x01\x00", MediaType::Binary("an icon")),
    (b"wOF2", MediaType::Binary("a font")),
    (b"\xff\xfe", MediaType::Binary("text in UTF-16")),
    (b"\xfe\xff", MediaType::Binary("text in UTF-16")),
];

/// Says what a file is. `head` is its beginning, as much as there is up to [`SNIFFED`] bytes.
pub(super) fn kind(head: &[u8]) -> MediaType {
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return MediaType::Image("image/webp");
    }
    if head.get(4..8) == Some(b"ftyp") {
        return MediaType::Binary("video, or an image in a video container");
    }
    let signature = SIGNATURES.iter().find(|(start, _)| head.starts_with(start));
    let has_zeros = head.contains(&0);
    match signature {
        // Such beginnings also begin words.
        Some((start, kind)) if has_zeros || !start.is_ascii() || start.len() > 4 => *kind,
        Some(_) | None if !has_zeros => MediaType::Text,
        Some((_, kind)) => *kind,
        None => MediaType::Binary("binary data"),
    }
}

/// Says what kind of picture a file is that models can see, by its first bytes; what somebody says of it does not count.
pub fn picture(bytes: &[u8]) -> Option<&'static str> {
    match kind(&bytes[..bytes.len().min(SNIFFED)]) {
        MediaType::Image(media_type) => Some(media_type),
        MediaType::Text | MediaType::Binary(_) => None,
    }
}
