//! Answers that mean "say nothing" (R70–R72).
