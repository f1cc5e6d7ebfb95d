//! Sessions that other sessions begin (R30–R36).
