//! Files that go with messages and come with them.

use chitin_test::TestEnv;
use chitin_tools::files::{Surroundings, Taken, carry_in, carry_out};

#[test]
fn nothing_is_carried_out_of_a_state_root_or_into_one() {
    let env = TestEnv::new();
    env.file("workspace/state/token", "tok-lantern\n");
    env.link("workspace/shortcut", "state");
    let state = Surroundings {
        state_roots: vec![env.workspace().join("state")],
        ..Surroundings::default()
    };
    for path in ["state/token", "shortcut/token"] {
        let refused = carry_out(&env.workspace(), &state, path, 1000).unwrap_err();
        assert!(refused.contains("is refused: it is in"), "{refused}");
        let put = carry_in(&env.workspace(), &state, path, b"x", Taken::Replace, |_| {
            true
        });
        let refused = put.unwrap_err();
        assert!(refused.contains("is refused: it is in"), "{refused}");
    }
    assert_eq!(env.read("workspace/state/token"), "tok-lantern\n");
    assert!(
        carry_out(
            &env.workspace(),
            &Surroundings::default(),
            "state/token",
            1000
        )
        .is_ok()
    );
}
