//! Definitions: what an agent, a package or one of their parts says of itself (rules P10–P12, P16, P18, P54).
//!
//! A definition file is JSON. [`check`] judges a value and completes it; [`Definition`] is one that can be built; an
//! [`DefinitionFile`] is the file that holds it; [`validate`] finds everything that is wrong at once.

mod agent;
mod check;
mod entry;
mod field;
mod profile;
mod validate;

pub use agent::{Definition, DefinitionKind, PackIdentity};
pub use check::{DocumentKind, check};
pub use entry::{DefinitionFile, find_entry};
pub use field::{is_name, is_version};
pub use profile::{portable, secret_in};
pub use validate::{DefinitionFinding, Validation, validate};

#[cfg(test)]
mod definition_tests;
