//! Logins on the page, and what ends them.

use super::Serving;
use crate::run::Talk;
use chitin_test::model_server::Format;
use serde_json::json;

/// A browser that is logged in.
struct Browser {
    cookie: String,
    csrf: String,
}

impl Browser {
    fn log_in(serving: &Serving) -> Self {
        let wish = json!({"token": serving.token}).to_string();
        let (status, head, said) = serving.exchange("POST", "/api/login", &[], Some(&wish));
        assert_eq!(status, 200, "{said}");
        let cookie = head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.unwrap().split(';').next().unwrap();
        Self {
            cookie: cookie.to_owned(),
            csrf: said["csrf"].as_str().unwrap().to_owned(),
        }
    }

    /// Asks as its page does, and returns the status.
    fn ask(&self, serving: &Serving, method: &str, path: &str) -> u16 {
        let headers = [
            ("cookie", self.cookie.clone()),
            ("origin", format!("http://{}", serving.address)),
            ("x-chitin-csrf", self.csrf.clone()),
        ];
        serving.ask_raw(method, path, &headers, None).0
    }

    fn is_in(&self, serving: &Serving) -> bool {
        let status = self.ask(serving, "GET", "/api/me");
        assert!(matches!(status, 200 | 401), "{status}");
        status == 200
    }
}

#[test]
fn a_login_outlives_a_restart_and_a_crash_and_a_logout_does_too() {
    let talk = Talk::new(Format::Anthropic, &[]);
    let serving = Serving::start(&talk, &[]);
    let (stays, leaves) = (Browser::log_in(&serving), Browser::log_in(&serving));
    assert_eq!(leaves.ask(&serving, "POST", "/api/logout"), 200);
    serving.kill();
    let serving = Serving::start(&talk, &[]);
    assert!(stays.is_in(&serving) && !leaves.is_in(&serving));
    // What the page proves itself with is the same as before: it can go on where it was.
    let stopped = stays.ask(&serving, "POST", "/api/sessions/agent:main:main/stop");
    assert_ne!(stopped, 403, "the proof is still good");
    assert_eq!(serving.end(), Some(0));
    let kept = talk.env.read("home/.chitin/logins.json");
    let name = stays.cookie.split_once('=').unwrap().1;
    assert!(!kept.contains(name) && !kept.contains(&stays.csrf) && kept.contains("\"logins\""));
    let serving = Serving::start(&talk, &[]);
    assert!(stays.is_in(&serving) && !leaves.is_in(&serving));
}

#[test]
fn a_new_token_shows_everybody_out() {
    let talk = Talk::new(Format::Anthropic, &[]);
    let serving = Serving::start(&talk, &[]);
    let browser = Browser::log_in(&serving);
    let old = serving.token.clone();
    assert_eq!(serving.end(), Some(0));
    talk.env.file(
        "home/.chitin/server-token",
        "another-token-0123456789-0123456789\n",
    );
    let serving = Serving::start(&talk, &[]);
    assert_ne!(serving.token, old);
    assert!(!browser.is_in(&serving));
    assert!(Browser::log_in(&serving).is_in(&serving));
}

#[test]
fn a_file_that_cannot_be_used_is_no_reason_to_keep_anybody_out() {
    let talk = Talk::new(Format::Anthropic, &[]);
    talk.env.directory_at("home/.chitin/logins.json");
    let serving = Serving::start(&talk, &[]);
    let browser = Browser::log_in(&serving);
    assert!(browser.is_in(&serving));
    assert_eq!(browser.ask(&serving, "POST", "/api/logout"), 200);
    assert!(!browser.is_in(&serving));
    assert_eq!(serving.end(), Some(0));
}
