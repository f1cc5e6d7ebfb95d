//! Text on its way out: cut into pieces that a surface takes (R50–R58).
