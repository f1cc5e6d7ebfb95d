//! Slack as a surface, against a server that speaks its protocol.
