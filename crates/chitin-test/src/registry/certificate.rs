//! Certificates for a server on this machine, made by the `openssl` program.

use super::{run, write};
use std::path::{Path, PathBuf};

/// An authority and a server's certificate that it signed.
#[derive(Debug)]
pub struct Certificates {
    /// The authority's certificate.
    pub authority: PathBuf,
    /// The server's certificate, for `127.0.0.1` and `localhost` unless something else is said.
    pub server: PathBuf,
    /// The server's key.
    pub server_key: PathBuf,
}

const KEY: [&str; 5] = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
];

impl Certificates {
    /// Makes both in a directory.
    pub fn make(directory: &Path) -> Self {
        Self::make_for(directory, "IP:127.0.0.1,DNS:localhost")
    }

    /// Makes both in a directory; the server's certificate is for these names, as `openssl` writes them.
    pub fn make_for(directory: &Path, names: &str) -> Self {
        let openssl = |arguments: &[&str]| run("openssl", arguments, &[], directory);
        let mut authority = vec!["req", "-x509"];
        authority.extend(KEY);
        authority.extend([
            "-keyout",
            "authority.key",
            "-out",
            "authority.pem",
            "-days",
            "3650",
            "-subj",
            "/CN=authority for tests",
        ]);
        openssl(&authority);
        let mut request = vec!["req"];
        request.extend(KEY);
        request.extend([
            "-keyout",
            "server.key",
            "-out",
            "server.csr",
            "-subj",
            "/CN=localhost",
        ]);
        openssl(&request);
        write(
            &directory.join("extensions"),
            format!("subjectAltName={names}\nbasicConstraints=CA:FALSE\n").as_bytes(),
        );
        openssl(&[
            "x509",
            "-req",
            "-in",
            "server.csr",
            "-CA",
            "authority.pem",
            "-CAkey",
            "authority.key",
            "-CAcreateserial",
            "-out",
            "server.pem",
            "-days",
            "3650",
            "-extfile",
            "extensions",
        ]);
        Self {
            authority: directory.join("authority.pem"),
            server: directory.join("server.pem"),
            server_key: directory.join("server.key"),
        }
    }
}
