//! Artifacts to and from OCI registries.
