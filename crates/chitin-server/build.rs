//! Compresses the OpenAPI document, which is part of the program: it is ten times as long as what goes along.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads its sources and writes to Cargo's directory"
)]

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};

fn main() -> Result<(), Error> {
    let document = Path::new("../../docs/reference/openapi.json");
    let text = std::fs::read(document)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&text)?;
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from);
    let out = out.ok_or_else(|| Error::other("OUT_DIR is set by Cargo"))?;
    std::fs::write(out.join("openapi.json.gz"), encoder.finish()?)?;
    // A build script tells Cargo by what it prints.
    {
        println!("cargo::rerun-if-changed={}", document.display());
        println!("cargo::rerun-if-changed=build.rs");
    }
    Ok(())
}
