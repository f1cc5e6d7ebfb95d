//! Providers: the built-in table, what configuration says about them, and the model that is used when nobody names one.

mod address;
mod openclaw;
mod pick;
mod resolve;
mod table;

pub use openclaw::stated_window;
pub use pick::{Pick, local_models, pick_default};
pub use resolve::{ResolveError, ResolvedModel, Sources, api_of, resolve};
pub use table::{Keys, Provider, TABLE, find};
