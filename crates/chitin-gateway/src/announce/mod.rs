//! What a parent is told when a child of it ends (R40–R48).
