//! Definitions, judged.
