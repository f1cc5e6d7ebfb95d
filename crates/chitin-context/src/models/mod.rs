//! Language models: how much they take, and what it costs.
