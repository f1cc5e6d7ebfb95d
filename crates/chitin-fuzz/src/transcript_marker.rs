//! The marker of a completed first turn, looked for in the end of a session file.

use crate::novelty;
use chitin_workspace::turn_marker::{compat, has_marker};

/// What session files are made of.
pub const DICTIONARY: &[&str] = &[
    "\n",
    "\r\n",
    "{",
    "}",
    "{\"type\":\"custom\",\"customType\":\"openclaw:bootstrap-context:full\"}\n",
    "{\"type\":\"compaction\"}\n",
    "{\"type\":\"message\"}\n",
    "\"type\":",
    "\"customType\":",
    "\"custom\"",
    "openclaw:bootstrap-context:full",
    "\u{2028}",
    "\u{feff}",
    "[[[[[[[[[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":{\"a\":",
    "1e999",
    "\\u0000",
    "\\ud800",
];

/// Looks for the marker by every contract, in the whole and in a torn end.
pub fn run(data: &[u8]) {
    let last_line = format!(
        "\n{{\"type\":\"{}\",\"customType\":\"{}\"}}\n",
        compat::CUSTOM,
        compat::FULL_CONTEXT
    );
    let marked = [data, last_line.as_bytes()].concat();
    let longer = [data, b"\n \r\n"].concat();
    for contract in chitin_contract::ALL {
        let whole = has_marker(data, true, contract);
        let torn = has_marker(data, false, contract);
        novelty::note((whole, torn));
        assert!(whole || !torn, "a torn end knows more than the whole");
        assert_eq!(
            has_marker(&longer, true, contract),
            whole,
            "blank lines at the end change the answer"
        );
        assert!(
            has_marker(&marked, true, contract) && has_marker(&marked, false, contract),
            "a marker on the last line is not seen"
        );
    }
    novelty::note(data.split(|byte| *byte == b'\n').count().min(8));
}
