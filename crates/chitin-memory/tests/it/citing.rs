//! Where something stands.

use chitin_memory::cite::{Citations, citation, cited};

#[test]
fn a_citation_names_the_lines() {
    assert_eq!(citation("MEMORY.md", 7, 7), "MEMORY.md#L7");
    assert_eq!(citation("memory/a.md", 3, 5), "memory/a.md#L3-L5");
    assert_eq!(
        cited("  two words \n", "MEMORY.md#L7"),
        "two words\n\nSource: MEMORY.md#L7"
    );
}

#[test]
fn where_others_read_along_nothing_is_cited_unless_that_is_wanted() {
    for shared in [
        "agent:main:telegram:group:5",
        "agent:main:discord:channel:9:thread:2",
        "agent:main:GROUP:1",
    ] {
        assert!(!Citations::Auto.are_shown(shared), "{shared}");
        assert!(Citations::On.are_shown(shared), "{shared}");
    }
    for own in [
        "",
        "agent:main:main",
        "agent:main:pager:direct:17",
        "agent:group:main",
    ] {
        assert!(Citations::Auto.are_shown(own), "{own}");
        assert!(!Citations::Off.are_shown(own), "{own}");
    }
}
