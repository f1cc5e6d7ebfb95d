//! The persona survives in every layout, skills stand where the runtime finds them, and what does not hold is said.

use super::{copied, json};
use crate::process::chitin;
use chitin_test::TestEnv;

/// A line of each of SOUL.md, IDENTITY.md, USER.md and TOOLS.md of the example.
fn lines(env: &TestEnv) -> Vec<String> {
    let line = |file: &str| {
        let text = env.read(&format!("harbor/{file}"));
        let mut lines = text.lines().map(str::trim);
        lines.rfind(|line| line.len() > 20).unwrap().to_owned()
    };
    ["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md"]
        .map(line)
        .to_vec()
}

#[test]
fn the_persona_is_in_the_files_that_each_runtime_reads() {
    let env = TestEnv::new();
    copied(&env, "harbor");
    json(&chitin(&env, &["pack", "harbor", "--json"]));
    let lines = lines(&env);
    for (adapter, files, skills) in [
        ("claude-code", vec!["CLAUDE.md"], ".claude/skills"),
        ("codex", vec!["AGENTS.md"], ".agents/skills"),
        (
            "github-copilot",
            vec![".github/copilot-instructions.md"],
            ".github/skills",
        ),
        ("windsurf", vec!["AGENTS.md"], ".windsurf/skills"),
        ("opencode", vec!["AGENTS.md"], ".opencode/skills"),
        ("generic", vec!["INSTRUCTIONS.md"], "skills"),
        (
            "cursor",
            vec![
                "AGENTS.md",
                ".cursor/rules/soul.mdc",
                ".cursor/rules/identity.mdc",
                ".cursor/rules/user.mdc",
                ".cursor/rules/tools.mdc",
            ],
            ".cursor/skills",
        ),
    ] {
        let done = json(&chitin(
            &env,
            &["unpack", "harbor", adapter, "--adapter", adapter, "--json"],
        ));
        let text: String = files
            .iter()
            .map(|file| env.read(&format!("{adapter}/{file}")))
            .collect();
        for line in &lines {
            assert!(text.contains(line.as_str()), "{adapter}: {line}\n{text}");
        }
        // From `skills/`, from a group in it, and from `.agents/skills/`.
        for skill in ["tide-window", "steam-bending", "day-log"] {
            let document = env.read(&format!("{adapter}/{skills}/{skill}/SKILL.md"));
            assert!(document.starts_with("---\n"), "{adapter}: {document}");
            assert!(
                document.contains(&format!("name: {skill}\n")),
                "{adapter}: {document}"
            );
            assert!(document.contains("\ndescription:"), "{adapter}: {document}");
        }
        let side = format!("{adapter}/{skills}/tide-window/reference/limits.md");
        assert!(env.path().join(side).exists(), "{adapter}");
        assert!(
            env.path().join(adapter).join("docs/boats.md").exists(),
            "{adapter}"
        );
        let warnings = done["warnings"].as_array().unwrap();
        let guardrail = warnings
            .iter()
            .find(|warning| warning["target"] == "PERMISSIONS.md");
        assert!(guardrail.is_some(), "{adapter}: {done}");
    }
    for file in ["soul", "identity", "user", "tools"] {
        let rule = env.read(&format!("cursor/.cursor/rules/{file}.mdc"));
        assert!(
            rule.starts_with("---\ndescription: ") && rule.contains("\nalwaysApply: true\n---\n"),
            "{rule}"
        );
    }
    json(&chitin(
        &env,
        &[
            "unpack",
            "harbor",
            "theirs",
            "--adapter",
            "claude-code",
            "--stax",
            "--json",
        ],
    ));
    assert!(
        !env.read("theirs/CLAUDE.md").contains(&lines[1]),
        "stax's own layout has no SOUL.md"
    );
}
