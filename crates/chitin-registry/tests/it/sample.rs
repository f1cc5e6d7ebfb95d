//! Stores with artifacts in them, and registries to send them to.

use chitin_pack::artifact::{Descriptor, Manifest};
use chitin_pack::compat;
use chitin_pack::store::Store;
use chitin_pack::{Digest, PackError};
use chitin_registry::{
    Credentials, Keychain, PlainHttp, ProgressListener, RegistryClient, RegistryOptions, Retries,
    TransferEvent,
};
use chitin_test::registry::{PASSWORD, USER};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// A store that goes with its directory.
pub(crate) struct Sandbox {
    pub(crate) directory: TempDir,
    pub(crate) store: Arc<Store>,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let store = Store::create(&directory.path().join("oci")).unwrap();
        Self {
            directory,
            store: Arc::new(store),
        }
    }

    /// Puts an artifact with these layers.
    pub(crate) fn put(&self, layers: &[&[u8]]) -> Digest {
        self.put_about(layers, None)
    }

    /// Puts an artifact that refers to another one.
    pub(crate) fn put_about(&self, layers: &[&[u8]], subject: Option<Descriptor>) -> Digest {
        let config = br#"{"kind":"agent","name":"harbour"}"#;
        let artifact_type = match subject {
            Some(_) => compat::SIGNATURE,
            None => compat::AGENT,
        };
        let types = ["knowledge.v1.tar+gzip", "prompt.v1+markdown", "other"];
        let manifest = Manifest {
            artifact_type: artifact_type.to_owned(),
            config: self.store.put(compat::CONFIG, config).unwrap(),
            layers: layers
                .iter()
                .zip(types.iter().cycle())
                .map(|(layer, kind)| {
                    let kind = format!("application/vnd.stax.{kind}");
                    self.store.put(&kind, layer).unwrap()
                })
                .collect(),
            annotations: BTreeMap::new(),
            subject,
        };
        self.store.put_manifest(&manifest).unwrap().digest
    }

    /// Puts an artifact whose layers are the blobs that are there.
    #[expect(clippy::disallowed_methods, reason = "a test looks behind the store")]
    pub(crate) fn put_of_all_blobs(&self) -> Digest {
        let blobs = self.directory.path().join("oci/blobs/sha256");
        let layers = std::fs::read_dir(blobs).unwrap().flatten().map(|entry| {
            let digest = Digest::from_hex(&entry.file_name().into_string().unwrap()).unwrap();
            Descriptor::new("application/x", digest, entry.metadata().unwrap().len())
        });
        let manifest = Manifest {
            artifact_type: compat::AGENT.to_owned(),
            layers: layers.collect(),
            config: self.store.put(compat::CONFIG, b"{}").unwrap(),
            annotations: BTreeMap::new(),
            subject: None,
        };
        self.store.put_manifest(&manifest).unwrap().digest
    }

    /// Checks that every blob is what its name says; returns their names.
    #[expect(clippy::disallowed_methods, reason = "a test looks behind the store")]
    pub(crate) fn check(&self) -> Vec<String> {
        let blobs = self.directory.path().join("oci/blobs/sha256");
        let mut names = Vec::new();
        for entry in std::fs::read_dir(blobs).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            // What a killed process was writing has no name yet.
            if !name.starts_with('.') {
                let bytes = std::fs::read(entry.path()).unwrap();
                assert_eq!(Digest::of(&bytes).hex(), name);
                names.push(name);
            }
        }
        names.sort();
        names
    }
}

/// Bytes that look random and do not compress, the same every time.
pub(crate) fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

pub(crate) fn options() -> RegistryOptions {
    RegistryOptions {
        plain_http: PlainHttp::Loopback,
        retries: Retries {
            attempts: 3,
            first_delay: Duration::from_millis(5),
            longest_delay: Duration::from_secs(2),
        },
        ..RegistryOptions::default()
    }
}

pub(crate) fn anonymous() -> RegistryClient {
    RegistryClient::new(options(), Keychain::default()).unwrap()
}

pub(crate) fn pilot(host: &str) -> Keychain {
    with_password(host, PASSWORD)
}

pub(crate) fn with_password(host: &str, password: &str) -> Keychain {
    let credentials = Credentials::Basic {
        user: USER.to_owned(),
        password: password.into(),
    };
    Keychain::default().with(host, credentials)
}

/// Keeps every event.
#[derive(Debug, Default)]
pub(crate) struct Recorded(Mutex<Vec<TransferEvent>>);

impl ProgressListener for Recorded {
    fn event(&self, event: TransferEvent) {
        self.0.lock().unwrap().push(event);
    }
}

impl Recorded {
    pub(crate) fn events(&self) -> Vec<TransferEvent> {
        self.0.lock().unwrap().clone()
    }

    /// Counts what was moved and what was there already.
    pub(crate) fn moved_and_there(&self) -> (usize, usize) {
        let events = self.events();
        let count =
            |of: fn(&TransferEvent) -> bool| events.iter().filter(|event| of(event)).count();
        (
            count(|event| matches!(event, TransferEvent::Finished { .. })),
            count(|event| matches!(event, TransferEvent::AlreadyThere { .. })),
        )
    }

    /// Returns where blobs were gone on with.
    pub(crate) fn resumed(&self) -> Vec<u64> {
        let resumed = |event: &TransferEvent| match event {
            TransferEvent::Started { resumed, .. } if *resumed > 0 => Some(*resumed),
            _ => None,
        };
        self.events().iter().filter_map(resumed).collect()
    }
}

/// Compares how something failed: class, exit code, and that there is a hint.
pub(crate) fn failed<T: std::fmt::Debug>(result: Result<T, PackError>) -> (&'static str, u8) {
    let error = result.expect_err("this must fail");
    assert!(error.has_advice(), "no hint: {error}");
    assert!(!error.to_string().ends_with('.'), "{error}");
    assert!(!format!("{error:?}").contains(PASSWORD), "{error:?}");
    (error.class().as_str(), error.exit().code())
}
