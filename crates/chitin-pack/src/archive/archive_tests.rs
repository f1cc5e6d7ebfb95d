use super::*;
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

type Files = BTreeMap<String, (bool, Vec<u8>)>;

fn pack(files: &Files) -> Result<Vec<u8>, PackError> {
    let mut writer = TarWriter::new(Vec::new());
    for (path, (executable, bytes)) in files {
        writer.file(path, *executable, bytes.len() as u64, &mut bytes.as_slice())?;
    }
    writer.finish()
}

fn unpack(bytes: &[u8]) -> Result<Files, PackError> {
    let mut files = Files::new();
    read(bytes, ArchiveLimits::bytes(1 << 20), |entry, content| {
        if let ArchiveEntryKind::File { executable, .. } = entry.kind {
            let mut bytes = Vec::new();
            content
                .read_to_end(&mut bytes)
                .map_err(super::read::broken)?;
            files.insert(entry.path.clone(), (executable, bytes));
        }
        Ok(())
    })?;
    Ok(files)
}

fn one(path: &str) -> Files {
    Files::from([(path.to_owned(), (false, b"x".to_vec()))])
}

#[test]
fn the_tar_of_others_reads_ours_and_we_read_theirs() {
    let files = Files::from([
        ("a/b/c.md".to_owned(), (false, b"one".to_vec())),
        ("run.sh".to_owned(), (true, b"#!/bin/sh\n".to_vec())),
        (
            format!("{}/{}.md", "d".repeat(120), "n".repeat(90)),
            (false, vec![7; 600]),
        ),
        (format!("{}.md", "long".repeat(100)), (false, Vec::new())),
    ]);
    let ours = pack(&files).unwrap();
    let mut seen = Files::new();
    for entry in tar::Archive::new(ours.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.header().entry_type().is_dir() {
            continue;
        }
        let path = entry.path().unwrap().to_str().unwrap().to_owned();
        let executable = entry.header().mode().unwrap() & 0o111 != 0;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        seen.insert(path, (executable, bytes));
    }
    assert_eq!(seen, files);
    let mut theirs = tar::Builder::new(Vec::new());
    for (path, (executable, bytes)) in files.iter().filter(|(path, _)| path.len() < 300) {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(if *executable { 0o755 } else { 0o644 });
        theirs
            .append_data(&mut header, path, bytes.as_slice())
            .unwrap();
    }
    let read = unpack(&theirs.into_inner().unwrap()).unwrap();
    assert_eq!(read.len(), 3);
    assert!(read.iter().all(|(path, file)| files[path] == *file));
}

#[test]
fn a_path_is_split_at_the_right_most_slash_that_fits() {
    let path = format!("{}/{}/{}", "a".repeat(60), "b".repeat(60), "c".repeat(60));
    let tar = pack(&one(&path)).unwrap();
    let file = &tar[2 * 512..3 * 512];
    assert!(file.starts_with("c".repeat(60).as_bytes()) && file[60] == 0);
    assert!(file[345..].starts_with(format!("{}/{}", "a".repeat(60), "b".repeat(60)).as_bytes()));
}

#[test]
fn what_is_cut_off_or_has_something_behind_it_is_refused() {
    let tar = pack(&one("a.md")).unwrap();
    let mut gzip = compress(Vec::new());
    gzip.write_all(&tar).unwrap();
    let mut bytes = gzip.finish().unwrap();
    assert_eq!(&bytes[..10], b"\x1f\x8b\x08\0\0\0\0\0\0\xff");
    let through = |bytes: &[u8]| {
        read(decompress(bytes), ArchiveLimits::bytes(1 << 20), |_, _| {
            Ok(())
        })
        .map_err(|e| e.class())
    };
    assert_eq!(through(&bytes), Ok(()));
    for cut in [5, 12, bytes.len() / 2, bytes.len() - 9, bytes.len() - 1] {
        assert_eq!(
            through(&bytes[..cut]),
            Err(ErrorClass::MalformedArchive),
            "{cut}"
        );
    }
    bytes.extend_from_slice(b"more");
    assert_eq!(through(&bytes), Err(ErrorClass::MalformedArchive));
    assert_eq!(
        unpack(&tar[..1024]).unwrap_err().class(),
        ErrorClass::MalformedArchive
    );
}

#[test]
fn a_bomb_stops_at_the_limit() {
    let mut gzip = compress(Vec::new());
    let mut tar = TarWriter::new(&mut gzip);
    let size = 64 << 20;
    tar.file("zeros", false, size, &mut std::io::repeat(0).take(size))
        .unwrap();
    tar.finish().unwrap();
    let bomb = gzip.finish().unwrap();
    assert!(bomb.len() < 100_000);
    let error = read(
        decompress(bomb.as_slice()),
        ArchiveLimits::bytes(1 << 20),
        |_, _| Ok(()),
    )
    .unwrap_err();
    assert_eq!(error.class(), ErrorClass::LayerTooLarge);
}

proptest! {
    #[test]
    fn any_files_come_back_the_same_and_in_the_same_bytes(
        files in prop::collection::btree_map(
            "[a-zA-Zé日 .-]{1,12}(/[a-z_]{1,130}){0,3}",
            (any::<bool>(), prop::collection::vec(any::<u8>(), 0..1200)),
            0..12,
        )
    ) {
        if let Ok(tar) = pack(&files) {
            prop_assert_eq!(Digest::of(&tar), Digest::of(&pack(&files).unwrap()));
            prop_assert_eq!(unpack(&tar).unwrap(), files);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic_or_hand_out_an_unsafe_path(
        mut tar in Just(pack(&one("a/b.md")).unwrap()),
        changes in prop::collection::vec((0usize..2048, any::<u8>()), 1..20),
    ) {
        for (at, byte) in changes {
            tar[at] = byte;
        }
        let _ = read(tar.as_slice(), ArchiveLimits::bytes(1 << 20), |entry, _| {
            assert!(check_path(&entry.path).is_ok());
            Ok(())
        });
    }
}

/// What the compressor gives when it gets everything at once and has room for its whole answer.
fn at_once(bytes: &[u8]) -> Vec<u8> {
    let mut deflate = flate2::Compress::new(flate2::Compression::new(6), false);
    let mut out = Vec::with_capacity(bytes.len() * 2 + 1024);
    let status = deflate.compress_vec(bytes, &mut out, flate2::FlushCompress::Finish);
    assert_eq!(status.unwrap(), flate2::Status::StreamEnd);
    out
}

/// Text of many sizes with matches near and far: words from a small list, chosen by a seed.
fn prose(seed: u64, length: usize) -> Vec<u8> {
    let words = [
        "berth ",
        "tide",
        "\n",
        "channel 12 ",
        "the lamp ",
        "0",
        "keeper, ",
    ];
    let mut state = seed | 1;
    let mut text = Vec::with_capacity(length + 16);
    while text.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match state % 23 {
            0 => text.extend_from_slice(&state.to_le_bytes()),
            1 => text.extend(std::iter::repeat_n(
                b'=',
                usize::from(state.to_le_bytes()[1]) * 3,
            )),
            _ => text.extend_from_slice(
                words[usize::from(state.to_le_bytes()[1]) % words.len()].as_bytes(),
            ),
        }
    }
    text.truncate(length);
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn compressed_bytes_do_not_depend_on_the_pieces_they_were_written_in(
        seed in any::<u64>(),
        length in 0_usize..400_000,
        pieces in proptest::collection::vec(1_usize..90_000, 1..12),
    ) {
        let text = prose(seed, length);
        let mut gzip = compress(Vec::new());
        let mut rest = text.as_slice();
        for piece in pieces.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at((*piece).min(rest.len()));
            gzip.write_all(now).unwrap();
            rest = later;
        }
        let written = gzip.finish().unwrap();
        prop_assert_eq!(&written[10..written.len() - 8], at_once(&text));
    }
}
