//! Files in, tar out, and back. Only what a backup needs: regular files with long names and any size; every other kind of entry is refused.

use std::io::{self, Read, Write};

const BLOCK: usize = 512;
const ZEROS: [u8; BLOCK] = [0; BLOCK];
const NAME: std::ops::Range<usize> = 0..100;
const MODE: std::ops::Range<usize> = 100..108;
const SIZE: std::ops::Range<usize> = 124..136;
const MTIME: std::ops::Range<usize> = 136..148;
const CHECKSUM: std::ops::Range<usize> = 148..156;
const KIND: usize = 156;
const MAGIC: std::ops::Range<usize> = 257..265;
/// What GNU's tar and most others understand: long names in an entry of their own, sizes as binary numbers.
const GNU: &[u8; 8] = b"ustar  \0";
/// The name of an entry that has the name of the next one.
const LONG_NAME: &str = "././@LongLink";
/// Longer names are nobody's.
const MOST_OF_A_NAME: u64 = 8 << 10;
const FILE: u8 = b'0';
const NAME_OF_NEXT: u8 = b'L';

/// Writes an archive.
pub(super) struct TarWriter<W> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> TarWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            buffer: vec![0; 128 << 10],
        }
    }

    /// Adds a file with this content.
    pub(super) fn bytes(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        self.file(name, false, content.len() as u64, &mut &content[..])
    }

    /// Adds a file of exactly this size.
    pub(super) fn file(
        &mut self,
        name: &str,
        executable: bool,
        size: u64,
        content: &mut dyn Read,
    ) -> io::Result<()> {
        if name.len() > NAME.len() {
            let mut long = name.as_bytes().to_vec();
            long.push(0);
            self.header(LONG_NAME.as_bytes(), NAME_OF_NEXT, false, long.len() as u64)?;
            self.out.write_all(&long)?;
            self.pad(long.len() as u64)?;
        }
        let short = &name.as_bytes()[..name.len().min(NAME.len())];
        self.header(short, FILE, executable, size)?;
        let mut left = size;
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(usize::MAX);
            let room = self.buffer.len().min(most);
            let count = match content.read(&mut self.buffer[..room]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.out.write_all(&self.buffer[..count])?;
            left -= count as u64;
        }
        self.pad(size)
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&ZEROS)?;
        self.out.write_all(&ZEROS)?;
        Ok(self.out)
    }

    fn header(&mut self, name: &[u8], kind: u8, executable: bool, size: u64) -> io::Result<()> {
        let mut header = ZEROS;
        header[..name.len()].copy_from_slice(name);
        octal(&mut header[MODE], if executable { 0o700 } else { 0o600 });
        octal(&mut header[108..116], 0);
        octal(&mut header[116..124], 0);
        if size < 1 << 33 {
            octal(&mut header[SIZE], size);
        } else {
            header[SIZE.start] = 0x80;
            header[SIZE.end - 8..SIZE.end].copy_from_slice(&size.to_be_bytes());
        }
        octal(&mut header[MTIME], 0);
        header[KIND] = kind;
        header[MAGIC].copy_from_slice(GNU);
        let sum = checksum(&header);
        header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        self.out.write_all(&header)
    }

    fn pad(&mut self, size: u64) -> io::Result<()> {
        self.out.write_all(&ZEROS[..padding(size)])
    }
}

/// What comes next in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TarEntry {
    pub(super) path: String,
    pub(super) executable: bool,
    pub(super) size: u64,
}

/// Reads an archive.
pub(super) struct TarReader<R> {
    source: R,
}

impl<R: Read> TarReader<R> {
    pub(super) const fn new(source: R) -> Self {
        Self { source }
    }

    /// Returns the next file, whose content comes next; nothing at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<TarEntry>> {
        let mut long = None;
        loop {
            let mut header = ZEROS;
            self.source.read_exact(&mut header)?;
            if header == ZEROS {
                return if long.is_none() {
                    Ok(None)
                } else {
                    Err(odd("a name has no file"))
                };
            }
            if number(&header[CHECKSUM]) != Some(checksum(&header)) {
                return Err(odd("a header is not one"));
            }
            let size = number(&header[SIZE]).ok_or_else(|| odd("a size is none"))?;
            match header[KIND] {
                FILE => {
                    let name = long.unwrap_or_else(|| text(&header[NAME]).to_vec());
                    let path = String::from_utf8(name).map_err(|_| odd("a name is not text"))?;
                    let mode = number(&header[MODE]).ok_or_else(|| odd("a mode is none"))?;
                    return Ok(Some(TarEntry {
                        path,
                        executable: mode & 0o100 != 0,
                        size,
                    }));
                }
                NAME_OF_NEXT if long.is_none() && size <= MOST_OF_A_NAME => {
                    let mut name = Vec::new();
                    self.content(size, &mut |reader| {
                        reader.read_to_end(&mut name).map(|_| ())
                    })?;
                    if name.pop() != Some(0) {
                        return Err(odd("a name has no end"));
                    }
                    long = Some(name);
                }
                b'1' | b'2' => return Err(odd("it holds a link")),
                b'3' | b'4' | b'6' => return Err(odd("it holds a device or a pipe")),
                _ => return Err(odd("it holds something other than files")),
            }
        }
    }

    /// Shows the content of the file that `next` returned; what is left unread is passed over.
    pub(super) fn content(
        &mut self,
        size: u64,
        read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut content = (&mut self.source).take(size);
        read(&mut content)?;
        let left = content.limit();
        if left > 0 && io::copy(&mut content, &mut io::sink())? != left {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut rest = ZEROS;
        let rest = &mut rest[..padding(size)];
        self.source.read_exact(rest)?;
        if rest.iter().any(|byte| *byte != 0) {
            return Err(odd("something stands between two files"));
        }
        Ok(())
    }

    /// Reads what follows the first empty block: another one, and nothing else.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let mut block = ZEROS;
        self.source.read_exact(&mut block)?;
        let mut one = [0];
        if block != ZEROS || self.source.read(&mut one)? != 0 {
            return Err(odd("something stands after its end"));
        }
        Ok(())
    }
}

fn odd(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

fn padding(size: u64) -> usize {
    let over = usize::try_from(size % BLOCK as u64).unwrap_or_default();
    (BLOCK - over) % BLOCK
}

/// Fills a field with digits but for the NUL at its end.
fn octal(field: &mut [u8], value: u64) {
    let width = field.len() - 1;
    let digits = format!("{value:0width$o}");
    field[..width].copy_from_slice(&digits.as_bytes()[..width]);
}

fn number(field: &[u8]) -> Option<u64> {
    if field.first() == Some(&0x80) && field.len() == SIZE.len() {
        let (rest, number) = field.split_last_chunk::<8>()?;
        return (rest[1..] == [0; 3]).then(|| u64::from_be_bytes(*number));
    }
    let text = std::str::from_utf8(text(field)).ok()?.trim_matches(' ');
    let is_octal = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    u64::from_str_radix(text, 8).ok().filter(|_| is_octal)
}

fn text(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|byte| *byte == 0);
    &field[..end.unwrap_or(field.len())]
}

fn checksum(header: &[u8; BLOCK]) -> u64 {
    let bytes = header.iter().enumerate();
    bytes
        .map(|(at, byte)| u64::from(if CHECKSUM.contains(&at) { b' ' } else { *byte }))
        .sum()
}
