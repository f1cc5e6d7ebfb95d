//! Which message an answer replies to, and in which thread it stands (R74–R77).
