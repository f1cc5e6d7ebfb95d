//! Which agent and which session a message belongs to (R11–R14).
