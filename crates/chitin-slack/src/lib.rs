//! Slack as a surface: people talk to an agent in direct messages, channels and threads.
