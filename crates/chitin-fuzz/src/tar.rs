//! Archives made of choices: headers that hold together, with names, types and sizes that may not.

use crate::recipe::Recipe;

/// Names of files and directories, honest and not.
const NAMES: &[&str] = &[
    "a",
    "b",
    "A",
    "\u{e9}",
    "e\u{301}",
    "a.md",
    "SKILL.md",
    "..",
    ".",
    "",
    " ",
    "a\\b",
    "C:",
    "con",
    "\u{1}",
    "\u{202e}x",
    "very-long-name-that-fills-a-good-part-of-the-field-of-a-hundred-bytes-that-a-header-has-for-it-and-more",
];

/// What a header says that it is.
const KINDS: &[u8] = b"0\x00512347xgLKSVD9Z";

/// What a header says of a size that is not its own.
const SIZES: &[&str] = &[
    "0",
    "1",
    "777",
    "77777777777",
    "00000000010",
    " 10 ",
    "-1",
    "8",
    "x",
];

/// Builds an archive.
pub fn built(recipe: &mut Recipe<'_>) -> Vec<u8> {
    let mut tar = Vec::new();
    for _ in 0..24 {
        if recipe.is_done() {
            break;
        }
        entry(recipe, &mut tar);
    }
    match recipe.byte() % 4 {
        0 | 1 => tar.extend([0; 1024]),
        2 => tar.extend([0; 512]),
        _ => {}
    }
    tar
}

fn entry(recipe: &mut Recipe<'_>, tar: &mut Vec<u8>) {
    let kind = KINDS[usize::from(recipe.byte()) % KINDS.len()];
    let mut name = recipe.path(NAMES);
    let flags = recipe.byte();
    if flags & 1 != 0 {
        name.push('/');
    }
    if flags & 2 != 0 {
        name.insert(0, '/');
    }
    let content = match kind {
        b'x' | b'g' => extended(recipe),
        b'L' | b'K' => [recipe.path(NAMES).as_bytes(), b"\0"].concat(),
        b'0' | 0 | b'7' => vec![recipe.byte(); usize::from(recipe.byte()) * 8],
        _ => Vec::new(),
    };
    let mut header = [0; 512];
    put(&mut header, 0, 100, name.as_bytes());
    put(&mut header, 100, 8, mode(recipe).as_bytes());
    put(&mut header, 108, 8, b"0000000\0");
    put(&mut header, 116, 8, b"0000000\0");
    let size = match flags & 0x0c {
        0x0c => recipe.pick(SIZES).to_owned(),
        _ => format!("{:011o}", content.len()),
    };
    put(&mut header, 124, 12, size.as_bytes());
    put(&mut header, 136, 12, b"00000000001\0");
    header[156] = kind;
    if matches!(kind, b'1' | b'2') {
        put(&mut header, 157, 100, recipe.path(NAMES).as_bytes());
    }
    let magic: &[u8] = if flags & 16 == 0 {
        b"ustar\x0000"
    } else {
        b"ustar  \0"
    };
    put(&mut header, 257, 8, magic);
    if flags & 32 != 0 {
        put(&mut header, 345, 155, recipe.path(NAMES).as_bytes());
    }
    seal(&mut header);
    if flags & 0xc0 == 0xc0 {
        // Somewhere in it something else.
        let at = usize::from(recipe.byte()) * 2;
        header[at] = recipe.byte();
        if recipe.byte().is_multiple_of(2) {
            seal(&mut header);
        }
    }
    tar.extend(header);
    tar.extend(&content);
    tar.resize(tar.len().next_multiple_of(512), 0);
}

fn mode(recipe: &mut Recipe<'_>) -> &'static str {
    [
        "0000644\0",
        "0000755\0",
        "0004777\0",
        "0000000\0",
        "7777777\0",
    ][usize::from(recipe.byte()) % 5]
}

/// The records of an extended header: lengths that are right, and some that are not.
fn extended(recipe: &mut Recipe<'_>) -> Vec<u8> {
    let mut all = Vec::new();
    for _ in 0..=recipe.byte() % 3 {
        let key = recipe.pick(&[
            "path",
            "size",
            "linkpath",
            "mtime",
            "uid",
            "SCHILY.xattr.user.a",
            "GNU.sparse.size",
            "",
            "hdrcharset",
        ]);
        let value = match recipe.byte() % 4 {
            0 => recipe.pick(SIZES).to_owned(),
            1 => "a\nb".to_owned(),
            _ => recipe.path(NAMES),
        };
        let rest = format!(" {key}={value}\n");
        let mut length = rest.len() + 1;
        while length != rest.len() + length.to_string().len() {
            length += 1;
        }
        let wrong = recipe.byte();
        if wrong > 240 {
            length = length.wrapping_add(usize::from(wrong)) * usize::from(wrong);
        }
        all.extend(format!("{length}{rest}").into_bytes());
    }
    all
}

fn put(header: &mut [u8; 512], at: usize, most: usize, bytes: &[u8]) {
    let count = bytes.len().min(most);
    header[at..at + count].copy_from_slice(&bytes[..count]);
}

/// Puts the sum of a header right.
fn seal(header: &mut [u8; 512]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    put(header, 148, 8, format!("{sum:06o}\0 ").as_bytes());
}
