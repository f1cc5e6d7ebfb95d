//! socket
