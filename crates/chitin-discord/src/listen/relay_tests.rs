use super::*;

fn shared() -> Shared {
    let shared = Shared {
        path: "/secret".to_owned(),
        tls: TlsConnector::from(Arc::new(chitin_net::TlsRoots::default().tls().unwrap())),
        known: Mutex::default(),
    };
    let url = |text: &str| Url::read(text, "wss", "ws").ok();
    shared.known().begin = url("wss://gateway.example");
    shared.known().resume = url("wss://resume.example:8443");
    shared
}

#[test]
fn a_request_is_written_anew_for_where_it_goes() {
    let asked =
        "GET /secret/resume/?v=10 HTTP/1.1\r\nhOst: 127.0.0.1:9\r\nUpgrade: websocket\r\n\r\n";
    let (place, written) = shared().readdressed(asked).unwrap();
    assert_eq!(place.to_string(), "wss://resume.example:8443");
    assert_eq!(
        written,
        "GET /?v=10 HTTP/1.1\r\nHost: resume.example:8443\r\nUpgrade: websocket\r\n\r\n"
    );
}

#[test]
fn whoever_does_not_know_the_path_is_not_served() {
    for asked in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET /other/begin/ HTTP/1.1\r\n\r\n",
        "GET /secret/elsewhere/ HTTP/1.1\r\n\r\n",
        "POST /secret/begin/ HTTP/1.1\r\n\r\n",
        "",
    ] {
        assert!(shared().readdressed(asked).is_none(), "{asked}");
    }
}
