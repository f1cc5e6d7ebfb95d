//! What becomes of messages that come while a session is busy (R80–R83).
