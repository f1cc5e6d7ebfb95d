//! Artifacts to and from OCI registries.
//!
//! In: a [`chitin_pack::store::Store`] and a reference. Out: the same bytes at the other end, under the same digest. Blobs
//! stream from and to the disk, and only those that are missing; a cut transfer goes on where it stopped, also in the next
//! run. Whatever comes in is checked against its digest before it gets a name.
//!
//! This crate prints nothing and reads neither the environment nor the home directory. HTTPS only, except on loopback
//! where the caller allows it. Credentials go to the registry that they are for, and only when it asks.
//!
//! ```no_run
//! use chitin_pack::store::Store;
//! use chitin_registry::{Keychain, RegistryClient, RegistryOptions, Silent};
//! use std::sync::Arc;
//!
//! # async fn example() -> Result<(), chitin_pack::PackError> {
//! let store = Arc::new(Store::create("state/oci".as_ref())?);
//! let registry = RegistryClient::new(RegistryOptions::default(), Keychain::default())?;
//! let reference = "registry.example/team/agent:1.0.0".parse()?;
//! let digest = registry.pull(&reference, &store, &Silent).await?;
//! # Ok(()) }
//! ```

pub mod auth;

mod content;
mod find;
mod http;
mod options;
mod packages;
mod progress;
mod pull;
mod push;
mod referrers;
mod registry;
mod remote;
mod tags;

pub use auth::{Credentials, Keychain};
pub use find::{ArtifactFinder, ArtifactOrigin, ArtifactSource, FoundArtifact, RegistryRefresh};
pub use options::{PlainHttp, RegistryOptions, RegistryTimeouts, Retries};
pub use packages::WholeAgent;
pub use progress::{ProgressListener, Silent, TransferEvent};
pub use registry::RegistryClient;
