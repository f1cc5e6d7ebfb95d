//! Secrets: what is found, what is left alone, and that nothing found is shown.

use super::{HEX, MIXED, UPPER, codes, each_gives, made_up};
use chitin_check::{Severity, redact_secrets, text_findings};

#[test]
fn the_keys_of_the_common_providers_are_found_and_never_shown() {
    let mixed = |length| made_up(MIXED, length);
    let hex = |length| made_up(HEX, length);
    let keys = [
        format!("sk-ant-api03-{}", mixed(93)),
        format!("sk-{}", mixed(48)),
        format!("sk-{}", hex(32)),
        format!("sk-proj-{}", mixed(120)),
        format!("sk-or-v1-{}", hex(64)),
        format!("ghp_{}", mixed(36)),
        format!("gho_{}", mixed(36)),
        format!("ghu_{}", mixed(36)),
        format!("ghs_{}", mixed(36)),
        format!("ghr_{}", mixed(36)),
        format!("github_pat_{}_{}", mixed(22), mixed(59)),
        format!("glpat-{}", mixed(20)),
        format!("xoxb-2416049182371-2416049182372-{}", mixed(24)),
        format!("xoxp-{}", mixed(40)),
        format!("xapp-1-A{}-{}", made_up(UPPER, 10), hex(64)),
        format!("AKIA{}", made_up(UPPER, 16)),
        format!("ASIA{}", made_up(UPPER, 16)),
        format!("AIza{}", mixed(35)),
        format!("sk_live_{}", mixed(24)),
        format!("rk_live_{}", mixed(24)),
        format!("npm_{}", mixed(36)),
        format!("pypi-AgEIcHlwaS5vcmc{}", mixed(80)),
        format!("hf_{}", mixed(34)),
        format!("SG.{}.{}", mixed(22), mixed(43)),
        format!("SK{}", hex(32)),
        format!("dop_v1_{}", hex(64)),
        format!("gsk_{}", mixed(52)),
        format!("xai-{}", mixed(80)),
        format!("r8_{}", mixed(37)),
        format!("7204918365:AA{}", mixed(33)),
        // The number 1083049218365140992, encoded, then a time and a signature.
        format!("MTA4MzA0OTIxODM2NTE0MDk5Mg.{}.{}", mixed(6), mixed(38)),
    ];
    for key in &keys {
        for text in [
            format!("{key}\n"),
            format!("use `{key}` for it\n"),
            format!("X={key}\n"),
            format!("```\ncurl -H 'Authorization: Bearer {key}'\n```\n"),
            format!("_{key}_ and **{key}**\n"),
        ] {
            let found = text_findings("memory/note.md", &text);
            assert!(!found.is_empty(), "nothing found in {text}");
            for finding in found {
                assert_eq!(
                    (finding.code, finding.severity),
                    ("CH601", Severity::Error),
                    "{text}"
                );
                assert!(
                    !finding.message.contains(&key[key.len() - 12..]),
                    "{}",
                    finding.message
                );
            }
        }
    }
    let finding = &text_findings("TOOLS.md", &format!("a ghp_{}", mixed(36)))[0];
    let last = &mixed(36)[34..];
    assert_eq!(
        finding.message,
        format!("Found a GitHub personal access token: `ghp_…{last}`.")
    );
    assert_eq!(finding.place.map(|p| (p.line, p.column)), Some((1, 3)));
}

#[test]
fn what_only_looks_like_a_key_is_left_alone() {
    each_gives(
        "TOOLS.md",
        None,
        &[
            "Set `sk-...` or sk-ant-... in the environment.",
            "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "OPENAI_API_KEY=sk-your-key-goes-here-and-nowhere-else-ok",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "ghp_123456789012345678901234567890123456",
            "AKIAIOSFODNN7EXAMPLE",
            "class sk-folding-cube-animation-delay-of-the-second-row",
            "scikit: sk-learn, task-skeleton, risk-sk-management-overview-page",
            "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
            "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "id 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
            "agent:main:subagent:3f2504e0-4f89-41d3-9a0c-0305e82c3301",
            "channel 1083049218365140992 in guild 1083049218365140993",
            "the call takes 12:30 hours, 1700000000:abc",
            "api_key = ${OPENAI_API_KEY}",
            "api_key: <your key>",
            "token: OPENROUTER_API_KEY",
            "token: process.env.TOKEN_2_FOR_TEST",
            "password: ask Peter, he knows",
            "Password: correct-horse-battery-staple",
            "max_tokens: 1200000000000000",
            "secret: ~/.config/secrets/prod1234abcd.json",
            "token: claude-3-5-sonnet-20241022",
            "The monkey: a1b2c3d4e5f6a7b8c9",
            "https://user:password@example.com/ and https://example.com:8080/a@b",
            "postgres://app:${PASSWORD}@db/x",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
            "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        ],
    );
}

#[test]
fn secrets_are_also_known_by_their_frame_or_their_name() {
    let base64 = made_up(MIXED, 400);
    let pem = |label: &str| {
        format!(
            "-----BEGIN {label}-----\n{}\n{}\n-----END {label}-----\n",
            &base64[..64],
            &base64[64..128]
        )
    };
    for label in [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        assert_eq!(codes("memory/a.md", &pem(label)), ["CH602"], "{label}");
    }
    assert_eq!(codes("memory/a.md", &pem("CERTIFICATE")), [""; 0]);
    let json = format!(
        r#"{{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n"}}"#,
        &base64[..200]
    );
    assert_eq!(codes("account.json", &json), ["CH602"]);

    let token = format!(
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}",
        &base64[..43]
    );
    each_gives("memory/a.md", Some("CH603"), &[&token]);

    let slack = format!(
        "https://hooks.slack.com/services/T0{0}/B0{0}/{1}",
        &made_up(UPPER, 8),
        &base64[..24]
    );
    let discord = format!(
        "https://discord.com/api/webhooks/1083049218365140992/{}",
        &base64[..68]
    );
    each_gives("TOOLS.md", Some("CH605"), &[&slack, &discord]);

    let value = &base64[..32];
    each_gives(
        "TOOLS.md",
        Some("CH604"),
        &[
            &format!("password: {}", &base64[..14]),
            &format!("**API key:** `{value}`"),
            &format!("api_key = \"{value}\""),
            &format!("\"clientSecret\": \"{value}\","),
            &format!("export MY_SERVICE_TOKEN='{value}'"),
            &format!("Authorization token: Bearer {value}"),
            &format!("postgres://app:{}@db.internal/x", &base64[..12]),
        ],
    );
    let pair = format!(
        "AKIA{}\naws {}\n",
        made_up(UPPER, 16),
        &made_up("ABCdef012/+", 40)
    );
    assert_eq!(codes("TOOLS.md", &pair), ["CH601", "CH601"]);
}

#[test]
fn redaction_leaves_the_rest_of_a_text_as_it_is() {
    let key = format!("sk-ant-api03-{}", made_up(MIXED, 93));
    let text = format!("before {key} after, ü");
    let last = &key[key.len() - 2..];
    assert_eq!(
        redact_secrets(&text),
        format!("before sk-ant-…{last} after, ü")
    );
    assert_eq!(redact_secrets("nothing here"), "nothing here");
}
