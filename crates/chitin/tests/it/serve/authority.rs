//! Behind a company's proxy, which signs everything anew: the real program, a Discord, a Slack and a model that all speak TLS, and an authority
//! that only `NODE_EXTRA_CA_CERTS` names.

use super::Serving;
use crate::process::command;
use crate::run::Talk;
use chitin_test::discord::{FakeDiscord, TOKEN};
use chitin_test::model_server::Format;
use chitin_test::slack::{APP_TOKEN, BOT_TOKEN, FakeSlack};
use chitin_test::tls::{Authority, Front};
use serde_json::{Value, json};
use std::path::Path;

/// A talk whose model, Discord and Slack speak TLS.
struct Company {
    authority: Authority,
    discord: FakeDiscord,
    slack: FakeSlack,
    talk: Talk,
    _model: Front,
}

impl Company {
    fn new(script: &[Value]) -> Self {
        let authority = Authority::new();
        let discord = FakeDiscord::start_tls(&authority);
        let slack = FakeSlack::start_tls(&authority);
        slack.add_room("D1", "", "im");
        let talk = Talk::new(Format::Anthropic, script);
        let behind = talk.server.origin();
        let behind = behind.trim_start_matches("http://").parse().unwrap();
        let model = authority.front(behind);
        let mut on_discord = discord.section();
        for (key, value) in [
            ("enabled", json!(true)),
            ("token", json!(TOKEN)),
            ("dmPolicy", json!("open")),
            ("allowFrom", json!(["*"])),
        ] {
            on_discord[key] = value;
        }
        let on_slack = json!({
            "enabled": true, "apiUrl": slack.api_url(), "botToken": BOT_TOKEN, "appToken": APP_TOKEN,
            "dmPolicy": "open", "allowFrom": ["*"],
        });
        talk.configure_at(
            talk.server.format().api(),
            &format!("https://{}", model.address()),
            json!({"channels": {"discord": on_discord, "slack": on_slack}}),
        );
        Self {
            authority,
            discord,
            slack,
            talk,
            _model: model,
        }
    }

    /// Runs a command, and returns whether it ended well and all that it said.
    fn run(&self, arguments: &[&str], authorities: Option<&Path>) -> (bool, String) {
        let mut command = command(&self.talk.env, arguments);
        command.envs(authorities.map(|file| ("NODE_EXTRA_CA_CERTS", file)));
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    }
}

#[test]
fn people_on_discord_and_slack_are_answered_when_the_authority_is_named() {
    let replies = [json!({"text": "Larch."}), json!({"text": "Oak."})];
    let company = Company::new(&replies);
    let serving = Serving::start_trusting(&company.talk, company.authority.file());
    serving.wait_until("discord is connected", |_| company.discord.is_connected());
    let ada = company.discord.person("Ada");
    let direct = company.discord.direct(&ada);
    company.discord.say(&direct, &ada, "Which wood?");
    serving.wait_until("she is answered on Discord", |_| {
        company.discord.texts() == [format!("{direct}: Larch.")]
    });
    company.slack.say("D1", "U1", "And the mast?");
    serving.wait_until("she is answered on Slack", |_| {
        let said = company.slack.said();
        said.len() == 1 && said[0].ends_with(": Oak.")
    });
    assert_eq!(company.talk.server.requests().len(), 2);
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn whoever_asks_what_is_wrong_is_told_of_the_certificate_and_the_variable() {
    let company = Company::new(&[]);
    for arguments in [["channels", "test"].as_slice(), &["doctor"]] {
        let (well, said) = company.run(arguments, None);
        assert!(!well, "{said}");
        for wanted in ["discord", "slack", "certificate", "NODE_EXTRA_CA_CERTS"] {
            assert!(
                said.to_lowercase().contains(&wanted.to_lowercase()),
                "{said}"
            );
        }
        let missing = Path::new("missing.pem");
        let (well, said) = company.run(arguments, Some(missing));
        assert!(!well, "{said}");
        assert!(
            said.contains("NODE_EXTRA_CA_CERTS") && said.contains("missing.pem"),
            "{said}"
        );
        let (_, said) = company.run(arguments, Some(company.authority.file()));
        assert!(!said.contains("certificate"), "{said}");
        for works in ["The token is good.", "Socket Mode lets us in."] {
            assert!(said.contains(works), "{said}");
        }
    }
}

/// What needs no TLS is not touched by a file that is not there.
#[test]
fn a_file_that_is_not_there_keeps_nobody_from_what_needs_no_tls() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Five."})]);
    let mut command = talk.command(&["-m", "How much larch?"]);
    let output = command
        .env("NODE_EXTRA_CA_CERTS", "missing.pem")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("Five."),
        "{output:?}"
    );
}
