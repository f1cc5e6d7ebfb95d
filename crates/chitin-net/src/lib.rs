//! How the program speaks to others: one TLS stack, the authorities it trusts, one kind of HTTP client.
//!
//! In: the authorities that a user adds ([`TlsRoots`]). Out: TLS configurations and HTTP clients that trust these and the usual ones, and
//! what to tell people when a certificate is not trusted ([`certificate_problem`]). This crate opens no connection, and asks neither the
//! environment nor the system for proxies or authorities.
//!
//! ```
//! use chitin_net::{TlsRoots, client_builder};
//!
//! let tls = TlsRoots::default().tls()?;
//! let client = client_builder(tls).build();
//! assert!(client.is_ok());
//! # Ok::<(), String>(())
//! ```

mod client;
mod problem;
mod roots;

pub use client::client_builder;
pub use problem::{certificate_problem, tls_error};
pub use reqwest::Response;
pub use roots::{MOST_CERTIFICATES, OWN_AUTHORITIES, PemError, TlsRoots, trusting};
