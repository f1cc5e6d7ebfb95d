//! Heartbeats: when an agent is woken without being spoken to (R90–R93).
