//! An agent as an exact, deterministic, signed OCI artifact, and back to the same bytes.
//!
//! In: a workspace directory, or a definition that names its parts. Out: an OCI manifest with typed layers in a
//! content-addressed [`store::Store`], the same on any machine and clock; and from such an artifact the same directory
//! again, or the layout of another runtime. This crate speaks to no network, prints nothing, and reads neither the
//! environment nor the clock.
//!
//! The flow: [`definition`] → [`build`] → [`store`] → [`artifact`] → [`materialize`].

pub mod adapters;
pub mod archive;
pub mod artifact;
pub mod build;
pub mod canonical;
pub mod compat;
pub mod definition;
pub mod diff;
pub mod digest;
pub mod error;
pub mod found;
pub mod inspect;
pub mod layer;
pub mod locate;
pub mod materialize;
pub mod open;
pub mod packages;
pub mod reference;
pub mod secrets;
pub mod signatures;
pub mod skill_vars;
pub mod store;
pub mod template;
pub mod warning;

pub use digest::Digest;
pub use error::{ErrorClass, ExitKind, PackError};
pub use warning::PackWarning;
