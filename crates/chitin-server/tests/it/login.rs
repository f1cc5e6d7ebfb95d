//! Logging in on the page: a cookie for the browser, a proof for the page, and nothing for pages of others.

use crate::client::{Response, Served, TOKEN};
use crate::socket::Socket;
use crate::stage::Setting;
use chitin_server::{Attached, KeptLogin, LoginChange, Register};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn served() -> Served {
    Served::new(Setting::replies(&[
        json!({"text": "Aye."}),
        json!({"text": "Aye."}),
    ]))
}

/// Somebody who logged in.
struct Page {
    cookie: String,
    csrf: String,
    origin: String,
}

async fn log_in(served: &Served, token: &str, headers: &[(&str, &str)]) -> Response {
    let mut all = vec![("authorization", "")];
    all.extend(headers);
    let body = json!({"token": token}).to_string();
    let mut connection = served.connect().await;
    connection.ask("POST", "/api/login", &all, &body).await
}

impl Page {
    async fn open(served: &Served) -> Self {
        let answer = log_in(served, TOKEN, &[]).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let cookie = answer.header("set-cookie").unwrap();
        Self {
            cookie: cookie.split(';').next().unwrap().to_owned(),
            csrf: answer.json()["csrf"].as_str().unwrap().to_owned(),
            origin: format!("http://localhost:{}", served.address.port()),
        }
    }

    /// Asks as a browser does: with the cookie, without any token.
    async fn ask(
        &self,
        served: &Served,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
    ) -> Response {
        let host = format!("localhost:{}", served.address.port());
        let mut headers = vec![
            ("authorization", ""),
            ("cookie", &*self.cookie),
            ("host", &*host),
        ];
        headers.extend(more);
        let body = match (method, path) {
            ("POST", "/api/messages") => json!({"text": "hello"}).to_string(),
            _ => String::new(),
        };
        let mut connection = served.connect().await;
        connection.ask(method, path, &headers, &body).await
    }
}

#[tokio::test]
async fn who_knows_the_token_gets_a_cookie_that_no_script_reads_and_no_other_site_sends() {
    let served = served();
    let answer = log_in(&served, TOKEN, &[]).await;
    assert_eq!(answer.status, 200);
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    let (name, rest) = cookie.split_once(';').unwrap();
    assert!(name.starts_with("chitin_session=") && name.len() == "chitin_session=".len() + 64);
    assert_eq!(rest, " Path=/; HttpOnly; SameSite=Strict");
    assert!(!answer.body.contains(TOKEN) && !answer.body.contains(&name[15..]));
    let page = Page::open(&served).await;
    let me = page.ask(&served, "GET", "/api/me", &[]).await;
    assert_eq!(me.json()["csrf"], page.csrf);
    assert_eq!(me.json()["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        page.ask(&served, "GET", "/api/status", &[]).await.status,
        200
    );
}

#[tokio::test]
async fn the_cookie_keeps_to_tls_unless_the_browser_is_on_this_machine() {
    let served = Served::made(Setting::replies(&[]), Attached::default(), |settings| {
        settings.hosts = vec!["yard.example".to_owned()];
    });
    for headers in [
        &[("x-forwarded-proto", "https")][..],
        &[("host", "yard.example")],
    ] {
        let answer = log_in(&served, TOKEN, headers).await;
        assert!(
            answer.header("set-cookie").unwrap().contains("; Secure"),
            "{headers:?}"
        );
    }
}

#[tokio::test]
async fn a_wrong_token_lets_nobody_in_and_guessing_is_slow() {
    let served = served();
    for _ in 0..10 {
        let answer = log_in(&served, "not-the-token-at-all", &[]).await;
        assert_eq!(answer.problem(), "401 unauthorized");
        assert_eq!(answer.header("set-cookie"), None);
    }
    let answer = log_in(&served, "not-the-token-at-all", &[]).await;
    assert_eq!(answer.problem(), "429 too_many_failures");
    assert_eq!(
        log_in(&served, TOKEN, &[]).await.status,
        200,
        "the right one always passes"
    );
    let odd = json!({"token": TOKEN, "more": 1}).to_string();
    let mut connection = served.connect().await;
    let answer = connection
        .ask("POST", "/api/login", &[("authorization", "")], &odd)
        .await;
    assert_eq!(answer.problem(), "400 bad_request");
    assert!(!answer.body.contains(TOKEN));
}

#[tokio::test]
async fn nobody_is_nobody_and_a_page_may_ask_that_as_often_as_it_likes() {
    let served = served();
    for _ in 0..20 {
        let mut connection = served.connect().await;
        let nobody = [("authorization", "")];
        let answer = connection.ask("GET", "/api/me", &nobody, "").await;
        assert_eq!(answer.problem(), "401 unauthorized");
        let old = [("authorization", ""), ("cookie", "chitin_session=0123")];
        let answer = connection.ask("GET", "/api/status", &old, "").await;
        assert_eq!(answer.problem(), "401 unauthorized");
    }
    let mut connection = served.connect().await;
    let in_address = format!("/api/status?token={TOKEN}&access_token={TOKEN}");
    let answer = connection
        .ask("GET", &in_address, &[("authorization", "")], "")
        .await;
    assert_eq!(
        answer.problem(),
        "401 unauthorized",
        "a token in an address is none"
    );
}

#[tokio::test]
async fn what_changes_something_needs_the_servers_own_page_and_its_proof() {
    let served = served();
    let page = Page::open(&served).await;
    let (own, csrf) = (page.origin.as_str(), page.csrf.as_str());
    let other_port = "http://localhost:1";
    let refused: [(&[(&str, &str)], &str); 9] = [
        (&[], "403 bad_origin"),
        (&[("origin", own)], "403 bad_csrf"),
        (
            &[("origin", own), ("x-chitin-csrf", "0123")],
            "403 bad_csrf",
        ),
        (&[("x-chitin-csrf", csrf)], "403 bad_origin"),
        (
            &[("origin", other_port), ("x-chitin-csrf", csrf)],
            "403 bad_origin",
        ),
        (
            &[("origin", "http://127.0.0.1"), ("x-chitin-csrf", csrf)],
            "403 bad_origin",
        ),
        (
            &[("origin", "null"), ("x-chitin-csrf", csrf)],
            "403 bad_origin",
        ),
        (
            &[("origin", "https://evil.example"), ("x-chitin-csrf", csrf)],
            "403 bad_origin",
        ),
        (
            &[
                ("origin", own),
                ("x-chitin-csrf", csrf),
                ("sec-fetch-site", "same-site"),
            ],
            "403 bad_origin",
        ),
    ];
    for (headers, problem) in refused {
        let answer = page.ask(&served, "POST", "/api/messages", headers).await;
        assert_eq!(answer.problem(), problem, "{headers:?}");
    }
    let fine = [
        ("origin", own),
        ("x-chitin-csrf", csrf),
        ("sec-fetch-site", "same-origin"),
    ];
    assert_eq!(
        page.ask(&served, "POST", "/api/messages", &fine)
            .await
            .status,
        202
    );
    // Another page of this machine cannot even look, although the browser sends the cookie with it.
    for headers in [
        &[("origin", other_port)][..],
        &[("sec-fetch-site", "same-site")],
    ] {
        let answer = page.ask(&served, "GET", "/api/events", headers).await;
        assert_eq!(answer.problem(), "403 bad_origin", "{headers:?}");
    }
}

#[tokio::test]
async fn a_socket_opens_with_the_cookie_from_the_servers_own_page_alone() {
    let served = served();
    let page = Page::open(&served).await;
    let open = |origin: Option<&str>| {
        let mut headers = vec![
            ("cookie", page.cookie.clone()),
            ("sec-websocket-protocol", "chitin".to_owned()),
        ];
        headers.extend(origin.map(|origin| ("origin", origin.to_owned())));
        let served = &served;
        async move {
            let headers: Vec<(&'static str, &str)> = headers
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            Socket::with(served, &headers).await
        }
    };
    // The client of these tests says `Host: localhost`.
    let mut socket = open(Some("http://localhost")).await.unwrap();
    let reply = socket.ask(&json!({"type": "subscribe", "all": true})).await;
    assert_eq!(reply["type"], "subscribed");
    for origin in [
        None,
        Some("http://localhost:1"),
        Some("http://127.0.0.1"),
        Some("null"),
    ] {
        assert!(open(origin).await.is_err(), "{origin:?}");
    }
}

#[tokio::test]
async fn a_socket_ends_when_its_owner_logs_out() {
    let served = Served::with(Setting::replies(&[]), |limits| {
        limits.keep_alive = Duration::from_millis(500);
    });
    let page = Page::open(&served).await;
    let headers = [
        ("cookie", page.cookie.as_str()),
        ("origin", "http://localhost"),
    ];
    let mut socket = Socket::with(&served, &headers).await.unwrap();
    assert_eq!(socket.ask(&json!({"type": "ping"})).await["type"], "pong");
    let proof = [
        ("origin", page.origin.as_str()),
        ("x-chitin-csrf", &page.csrf),
    ];
    let answer = page.ask(&served, "POST", "/api/logout", &proof).await;
    assert_eq!(answer.status, 200);
    assert_eq!(socket.last_words().await, "you are logged out");
}

#[tokio::test]
async fn who_logged_out_is_out() {
    let served = served();
    let page = Page::open(&served).await;
    let other = Page::open(&served).await;
    let proof = [
        ("origin", page.origin.as_str()),
        ("x-chitin-csrf", &page.csrf),
    ];
    let answer = page.ask(&served, "POST", "/api/logout", &proof).await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("set-cookie").unwrap().contains("Max-Age=0"));
    let answer = page.ask(&served, "GET", "/api/me", &[]).await;
    assert_eq!(answer.problem(), "401 unauthorized");
    assert_eq!(other.ask(&served, "GET", "/api/me", &[]).await.status, 200);
}

/// A register in memory, shared by the servers of a test.
#[derive(Default)]
struct Notebook(Mutex<Vec<KeptLogin>>);

impl Register for Notebook {
    fn read(&self) -> Vec<KeptLogin> {
        self.0.lock().unwrap().clone()
    }

    fn change(&self, change: &LoginChange) -> Option<Vec<KeptLogin>> {
        let mut kept = self.0.lock().unwrap();
        *kept = change.apply(&kept);
        Some(kept.clone())
    }
}

#[tokio::test]
async fn a_login_is_kept_at_once_and_when_it_was_seen_at_the_end() {
    let notebook = Arc::new(Notebook::default());
    let serve = || {
        let attached = Attached {
            logins: Some(Arc::clone(&notebook) as _),
            ..Attached::default()
        };
        Served::attached(Setting::replies(&[]), attached)
    };
    let mut first = serve();
    let page = Page::open(&first).await;
    let [begun] = notebook.read()[..] else {
        panic!("{:?}", notebook.read());
    };
    first.stage.clock.push(60_000);
    assert_eq!(page.ask(&first, "GET", "/api/me", &[]).await.status, 200);
    assert_eq!(notebook.read(), [begun], "no request waits for the disk");
    first.stop();
    first.ended().await;
    let [seen] = notebook.read()[..] else {
        panic!("{:?}", notebook.read());
    };
    assert_eq!(seen.id, begun.id);
    assert!(
        seen.seen_ms >= begun.seen_ms + 60_000,
        "{begun:?}, {seen:?}"
    );
    let second = serve();
    second.stage.clock.push(60_000);
    let me = page.ask(&second, "GET", "/api/me", &[]).await;
    assert_eq!(me.json()["csrf"], page.csrf);
    let origin = format!("http://localhost:{}", second.address.port());
    let proof = [("origin", origin.as_str()), ("x-chitin-csrf", &page.csrf)];
    let answer = page.ask(&second, "POST", "/api/logout", &proof).await;
    assert_eq!((answer.status, notebook.read()), (200, Vec::new()));
}
