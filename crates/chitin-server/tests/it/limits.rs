//! Who may, how much, how long: a clear refusal, and the rest is not affected.

use crate::client::{Connection, Served, TOKEN};
use crate::stage::Setting;
use chitin_server::{BindError, Reach, Server, ServerSettings};
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn without_the_token_nobody_learns_anything() {
    let served = Served::with(Setting::default(), |limits| limits.failure_burst = 6);
    let mut client = served.connect().await;
    for (path, token) in [
        ("/api/status", ""),
        ("/api/status", "Bearer wrong"),
        ("/api/status", "Basic YTpi"),
        ("/no/such/path", "Bearer wrong"),
        ("/api/socket", ""),
    ] {
        let answer = client
            .ask("GET", path, &[("authorization", token)], "")
            .await;
        assert_eq!(answer.problem(), "401 unauthorized", "{path}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert_eq!(
            answer.json(),
            json!({"error": {"code": "unauthorized", "message": "The token is missing or wrong."}})
        );
    }
    // Never in an address.
    let path = format!("/api/status?token={TOKEN}&access_token={TOKEN}");
    let answer = client.ask("GET", &path, &[("authorization", "")], "").await;
    assert_eq!(answer.status, 401);
    // OpenAI's clients read another shape.
    let answer = client
        .ask(
            "GET",
            "/v1/models",
            &[("authorization", "Bearer wrong")],
            "",
        )
        .await;
    assert_eq!(answer.problem(), "429 too_many_failures");
    assert_eq!(answer.json()["error"]["type"], "rate_limit_error");
    assert_eq!(answer.header("retry-after"), Some("1"));
    // Whoever has the right one is not shut out by others.
    assert_eq!(served.get("/api/status").await.status, 200);
}

#[tokio::test]
async fn pages_and_names_of_others_are_refused() {
    let served = Served::new(Setting::default());
    let mut client = served.connect().await;
    for (header, value, expected) in [
        ("origin", "https://evil.example", "403 bad_origin"),
        ("origin", "null", "403 bad_origin"),
        ("host", "evil.example", "403 bad_host"),
        ("host", "", "400 bad_request"),
    ] {
        let answer = client.ask("GET", "/health", &[(header, value)], "").await;
        assert_eq!(answer.problem(), expected, "{header}: {value}");
    }
    let own = [("origin", "http://localhost:3000")];
    let answer = client.ask("GET", "/api/agents", &own, "").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let asked = client.ask("OPTIONS", "/api/messages", &own, "").await;
    assert_eq!(asked.problem(), "405 method_not_allowed");
    assert_eq!(asked.header("allow"), Some("POST"));
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_however_it_comes() {
    let served = Served::with(Setting::default(), |limits| limits.body = 10_000);
    let body = json!({"text": "x".repeat(20_000)}).to_string();
    let mut client = served.connect().await;
    let answer = client.ask("POST", "/api/messages", &[], &body).await;
    assert_eq!(answer.problem(), "413 too_large");
    assert_eq!(answer.header("connection"), Some("close"));
    // In chunks, nobody says beforehand how long it is.
    let mut client = served.connect().await;
    let chunked = [("content-length", ""), ("transfer-encoding", "chunked")];
    client.request("POST", "/api/messages", &chunked, "").await;
    for part in body.as_bytes().chunks(3_000) {
        let part = std::str::from_utf8(part).unwrap();
        client
            .write(&format!("{:x}\r\n{part}\r\n", part.len()))
            .await;
    }
    client.write("0\r\n\r\n").await;
    assert_eq!(client.response().await.problem(), "413 too_large");
    // One that only claims to be long is not waited for.
    let mut client = served.connect().await;
    let claims = [("content-length", "99999999999")];
    client.request("POST", "/api/messages", &claims, "").await;
    let waiting = tokio::time::timeout(Duration::from_secs(10), client.response());
    assert_eq!(waiting.await.unwrap().problem(), "413 too_large");
}

#[tokio::test]
async fn heads_that_are_too_long_are_refused() {
    let served = Served::new(Setting::default());
    let long = "x".repeat(100_000);
    let mut client = served.connect().await;
    let answer = client.ask("GET", "/health", &[("x-long", &long)], "").await;
    assert_eq!(answer.status, 431);
    let many: Vec<(String, String)> = (0..200)
        .map(|n| (format!("x-{n}"), "y".to_owned()))
        .collect();
    let many: Vec<(&str, &str)> = many
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let mut client = served.connect().await;
    let answer = client.ask("GET", "/health", &many, "").await;
    assert_eq!(answer.status, 431);
}

#[tokio::test]
async fn who_drips_is_cut_and_others_are_served() {
    let served = Served::with(Setting::default(), |limits| {
        limits.head_time = Duration::from_millis(300);
        limits.body_time = Duration::from_millis(300);
    });
    let mut drips = served.connect().await;
    drips.write("GET /health HTTP/1.1\r\nhost: loc").await;
    let mut silent = served.connect().await;
    let mut half = served.connect().await;
    half.request(
        "POST",
        "/api/messages",
        &[("content-length", "50")],
        "{\"text\":",
    )
    .await;
    assert_eq!(served.get("/api/agents").await.status, 200);
    // Those who say nothing whole are cut without a word, who sent half a body hears why.
    for connection in [&mut drips, &mut silent] {
        let mut rest = Vec::new();
        let reading = connection.stream.read_to_end(&mut rest);
        let read = tokio::time::timeout(Duration::from_secs(5), reading).await;
        assert_eq!(read.unwrap().unwrap_or_default(), 0);
    }
    assert_eq!(half.response().await.problem(), "408 timeout");
    assert_eq!(served.get("/api/status").await.json()["connections"], 1);
}

#[tokio::test]
async fn who_goes_away_in_the_middle_leaves_nothing_behind() {
    let served = Served::new(Setting::replies(&[
        json!({"text": "Here.", "delayMs": 500}),
    ]));
    for _ in 0..20 {
        let mut client = served.connect().await;
        client
            .request(
                "POST",
                "/api/messages",
                &[("content-length", "50")],
                "{\"text\":",
            )
            .await;
    }
    // Its sender is gone before the answer; the message is not.
    let mut client = served.connect().await;
    let body = json!({"text": "Hello", "wait": true}).to_string();
    client.request("POST", "/api/messages", &[], &body).await;
    for _ in 0..200 {
        if served.get("/api/sessions/main").await.status == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(client);
    served.stage.rest().await;
    let session = served.get("/api/sessions/main").await;
    assert!(session.body.contains("Here."), "{}", session.body);
    for _ in 0..100 {
        if served.get("/api/status").await.json()["connections"] == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    unreachable!("connections are still counted");
}

#[tokio::test]
async fn one_connection_takes_many_requests_also_at_once() {
    let served = Served::new(Setting::default());
    let mut client = served.connect().await;
    client.request("GET", "/health", &[], "").await;
    client.request("GET", "/api/agents", &[], "").await;
    client.request("GET", "/nothing", &[], "").await;
    let answers = [
        client.response().await.status,
        client.response().await.status,
        client.response().await.status,
    ];
    assert_eq!(answers, [200, 200, 404]);
}

#[tokio::test]
async fn too_many_connections_and_requests_are_told_so() {
    let served = Served::with(Setting::default(), |limits| {
        limits.connections = 2;
        limits.request_burst = 5;
        limits.requests_per_second = 1;
    });
    let mut first = served.connect().await;
    assert_eq!(first.ask("GET", "/health", &[], "").await.status, 200);
    let mut second = served.connect().await;
    assert_eq!(second.ask("GET", "/health", &[], "").await.status, 200);
    let mut third = Connection::open(served.address).await;
    assert_eq!(third.response().await.problem(), "503 too_many_connections");
    drop(second);
    for _ in 0..3 {
        first.ask("GET", "/health", &[], "").await;
    }
    let refused = first.ask("GET", "/health", &[], "").await;
    assert_eq!(refused.problem(), "429 too_many_requests");
    assert_eq!(refused.header("retry-after"), Some("1"));
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(first.ask("GET", "/health", &[], "").await.status, 200);
}

#[tokio::test]
async fn connections_that_show_no_token_keep_nobody_out() {
    let served = Served::with(Setting::default(), |limits| {
        limits.connections = 48;
        limits.strangers = 12;
    });
    let mut owner = served.connect().await;
    assert_eq!(owner.ask("GET", "/api/status", &[], "").await.status, 200);
    let mut half_open = Vec::new();
    for i in 0..200 {
        let mut stranger = tokio::net::TcpStream::connect(served.address)
            .await
            .unwrap();
        // Some say nothing, some begin and never end.
        if i % 2 == 0 {
            stranger
                .write_all(b"GET /api/status HTTP/1.1\r\nhost:")
                .await
                .unwrap();
        }
        half_open.push(stranger);
    }
    // A new connection of the owner, and the old one.
    let mut newcomer = served.connect().await;
    assert_eq!(
        newcomer.ask("GET", "/api/status", &[], "").await.status,
        200
    );
    assert_eq!(owner.ask("GET", "/api/status", &[], "").await.status, 200);
    // The first of the crowd are gone, the last wait on.
    let mut byte = [0; 1];
    let first = tokio::time::timeout(Duration::from_secs(5), half_open[0].read(&mut byte));
    assert!(!matches!(first.await.unwrap(), Ok(1)));
    let last = half_open.last_mut().unwrap();
    let last = tokio::time::timeout(Duration::from_millis(200), last.read(&mut byte));
    assert!(last.await.is_err());
}

#[tokio::test]
async fn what_is_not_http_harms_nobody() {
    let served = Served::new(Setting::default());
    for text in [
        "\0\0\0\0",
        "\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\u{16}\u{3}\u{1}",
        "POST /api/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        "POST /api/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
    ] {
        let mut client = served.connect().await;
        client.write(text).await;
    }
    assert_eq!(served.get("/health").await.status, 200);
}

#[tokio::test]
async fn an_open_address_or_a_weak_token_is_not_taken() {
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let settings = ServerSettings::new(everywhere, TOKEN.into());
    assert!(matches!(
        Server::bind(settings.clone()),
        Err(BindError::NotLoopback(_))
    ));
    let allowed = ServerSettings {
        reach: Reach::Everybody,
        ..settings
    };
    assert!(Server::bind(allowed).is_ok());
    let local = SocketAddr::from(([127, 0, 0, 1], 0));
    let weak = ServerSettings::new(local, "secret".into());
    assert!(matches!(Server::bind(weak), Err(BindError::WeakToken)));
    let taken = Server::bind(ServerSettings::new(local, TOKEN.into())).unwrap();
    let again = Server::bind(ServerSettings::new(taken.address(), TOKEN.into()));
    assert!(matches!(again, Err(BindError::Io { .. })));
}

#[tokio::test]
async fn bodies_have_room_for_so_many_bytes_together() {
    let served = Served::with(Setting::replies(&[json!({"text": "Here."})]), |limits| {
        limits.body = 100_000;
        limits.bodies = 100_000;
    });
    let mut large = served.connect().await;
    let length = [("content-length", "90000")];
    large.request("POST", "/api/messages", &length, "{").await;
    let body = json!({"text": "x".repeat(50_000), "wait": true});
    let mut refused = served.post("/api/messages", &body).await;
    while refused.status == 200 {
        refused = served.post("/api/messages", &body).await;
    }
    assert_eq!(refused.problem(), "503 too_many_bytes");
    // A small one has room, and a large one when the other is gone.
    let small = json!({"text": "Hello"});
    assert_eq!(served.post("/api/messages", &small).await.status, 202);
    drop(large);
    for _ in 0..100 {
        if served.post("/api/messages", &body).await.status != 503 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    unreachable!("the room is still taken");
}
