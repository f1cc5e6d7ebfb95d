//! Discord as a surface: people talk to an agent in direct messages, channels, threads and forum posts.
