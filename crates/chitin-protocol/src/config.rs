//! Configuration as plain data.
