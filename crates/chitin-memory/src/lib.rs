//! Years of notes in, the right lines out.
//!
//! The flow is one way: [`files`] says which files are memory, [`chunk`] cuts them, [`index`] keeps the pieces in SQLite (a cache:
//! deleting it loses nothing), [`search`] asks it in words and in [`vector`]s and puts the answers in order by [`rank`].
//! [`read`] shows a window of a file, [`cite`] says where something stands, [`archive`] makes text of past conversations.
//!
//! What differs between releases is data: [`chitin_contract::MemoryRules`].

pub mod answer;
pub mod archive;
pub mod chunk;
pub mod cite;
pub mod compat;
pub mod embed;
pub mod files;
pub mod index;
pub mod keeper;
pub mod rank;
pub mod read;
pub mod search;
pub mod vector;
pub mod words;
