//! Homes.
