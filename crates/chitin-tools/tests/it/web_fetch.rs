//! Fetching pages: nothing inside is reached, nothing is too large or too long, and HTML becomes text.

use crate::kit::{call, call_with, call_within, done, failed};
use chitin_net::TlsRoots;
use chitin_protocol::settings::WebFetchSettings;
use chitin_test::TestEnv;
use chitin_test::tls::Authority;
use chitin_tools::web_fetch::{AllowedAddresses, FetchOptions, WebFetchTool, page_text};
use proptest::prelude::*;
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// A server on loopback that answers by the path, and counts who asked.
struct Server {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl Server {
    fn start(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(mut stream), answer) = (stream, answer.clone()) else {
                    return;
                };
                count.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || {
                    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                    let request = lines.next().unwrap().unwrap();
                    while lines
                        .next()
                        .is_some_and(|line| !line.unwrap_or_default().is_empty())
                    {
                    }
                    let path = request.split(' ').nth(1).unwrap().to_owned();
                    answer(&path, &mut stream);
                });
            }
        });
        Self { address, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn send(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
}

fn html(body: &str) -> Server {
    let body = body.to_owned();
    Server::start(move |_, stream| {
        let kind = "Content-Type: text/html; charset=utf-8\r\n";
        send(stream, "200 OK", kind, body.as_bytes());
    })
}

/// Nothing is fetched over TLS here: authorities that cannot be read are not missed.
fn no_tls() -> TlsRoots {
    TlsRoots::with_file("/nowhere/authorities.pem")
}

fn opened() -> FetchOptions {
    FetchOptions {
        allowed: AllowedAddresses::new(["127.0.0.1"]),
        ..FetchOptions::default()
    }
}

#[test]
fn it_is_off_unless_turned_on() {
    assert!(WebFetchTool::from_settings(None, no_tls()).is_none());
    assert!(WebFetchTool::from_settings(Some(&WebFetchSettings::default()), no_tls()).is_none());
    let on = WebFetchSettings {
        enabled: Some(true),
        ..WebFetchSettings::default()
    };
    assert!(WebFetchTool::from_settings(Some(&on), no_tls()).is_some());
}

#[test]
fn nothing_inside_is_reached_unless_its_address_is_allowed() {
    let env = TestEnv::new();
    let server = html("secret");
    let port = server.address.port();
    let closed = WebFetchTool::new(FetchOptions::default(), no_tls());
    for url in [
        server.url("/"),
        format!("http://localhost:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[fd00:ec2::254]/".to_owned(),
        "http://10.0.0.1/".to_owned(),
    ] {
        let told = failed(&call(&env, &closed, json!({ "url": url })));
        assert!(
            told.contains("was not fetched") && told.contains("tools.webFetch.allowAddresses"),
            "{url}: {told}"
        );
    }
    assert_eq!(server.asked.load(Ordering::SeqCst), 0);
    let open = WebFetchTool::new(opened(), no_tls());
    assert!(done(&call(&env, &open, json!({"url": server.url("/")}))).ends_with("secret"));
    assert_eq!(server.asked.load(Ordering::SeqCst), 1);
}

#[test]
fn https_goes_over_the_tls_that_is_handed_in_and_over_no_other() {
    let env = TestEnv::new();
    let server = html("<p>the board</p>");
    let (authority, other) = (Authority::new(), Authority::new());
    let front = authority.front(server.address);
    let page = json!({"url": format!("https://{}/", front.address())});
    let fetch = |trust: TlsRoots| call(&env, &WebFetchTool::new(opened(), trust), page.clone());
    assert!(done(&fetch(TlsRoots::with_file(authority.file()))).ends_with("the board"));
    assert!(failed(&fetch(TlsRoots::with_file(other.file()))).contains("certificate"));
    assert!(failed(&fetch(no_tls())).contains("/nowhere/authorities.pem"));
    assert_eq!(server.asked.load(Ordering::SeqCst), 1);
}

#[test]
fn redirects_are_judged_like_the_first_address() {
    let env = TestEnv::new();
    let server = Server::start(|path, stream| {
        let target = match path {
            "/twice" => "/once",
            "/once" => "/page",
            "/inside" => "http://127.0.0.2:1/",
            "/file" => "file:///etc/passwd",
            "/loop" => "/loop",
            _ => {
                return send(
                    stream,
                    "200 OK",
                    "Content-Type: text/plain\r\n",
                    b"the page",
                );
            }
        };
        send(stream, "302 Found", &format!("Location: {target}\r\n"), b"");
    });
    let tool = WebFetchTool::new(opened(), no_tls());
    let fetch = |path: &str| call(&env, &tool, json!({"url": server.url(path)}));
    let page = fetch("/twice");
    assert!(done(&page).starts_with(&format!("200 from {}\n", server.url("/page"))));
    assert!(failed(&fetch("/inside")).contains("`127.0.0.2` is a loopback address"));
    assert!(failed(&fetch("/file")).contains("cannot fetch"));
    let before = server.asked.load(Ordering::SeqCst);
    assert!(failed(&fetch("/loop")).contains("more than 5 redirects"));
    assert_eq!(server.asked.load(Ordering::SeqCst) - before, 6);
}

#[test]
fn only_plain_web_addresses_are_fetched() {
    let env = TestEnv::new();
    let tool = WebFetchTool::new(opened(), no_tls());
    for url in [
        "",
        "example",
        "file:///etc/passwd",
        "ftp://example.org/",
        "http://user:pw@127.0.0.1/",
        "javascript:1",
        "http://",
        "data:text/plain,x",
    ] {
        assert!(
            failed(&call(&env, &tool, json!({ "url": url }))).contains("cannot fetch"),
            "{url}"
        );
    }
    // A label that is too long is refused by the resolver itself: no question leaves the machine.
    let host = "n".repeat(64);
    let unknown = failed(&call(
        &env,
        &tool,
        json!({"url": format!("http://{host}/")}),
    ));
    assert!(
        unknown.contains(&format!("could not resolve `{host}`")),
        "{unknown}"
    );
}

#[test]
fn size_time_and_stops_hold() {
    let env = TestEnv::new();
    let server = Server::start(|path, stream| match path {
        "/endless" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
        "/slow" => thread::sleep(Duration::from_mins(1)),
        _ => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut");
        }
    });
    let options = FetchOptions {
        max_bytes: 100_000,
        time: Duration::from_secs(1),
        ..opened()
    };
    let tool = WebFetchTool::new(options, no_tls());
    let endless = call_within(&env, &tool, json!({"url": server.url("/endless")}), 2000);
    assert!(
        done(&endless).len() <= 2000 && done(&endless).contains("Only the beginning was fetched.")
    );
    assert_eq!(endless.details.unwrap()["size"], 100_000);
    let began = Instant::now();
    assert!(
        failed(&call(&env, &tool, json!({"url": server.url("/slow")})))
            .contains("longer than 1 seconds")
    );
    assert!(
        failed(&call(&env, &tool, json!({"url": server.url("/cut")})))
            .contains("Could not fetch the page")
    );
    let cancel = CancellationToken::new();
    let later = cancel.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        later.cancel();
    });
    let stopped = call_with(
        &env,
        &tool,
        json!({"url": server.url("/slow")}),
        1000,
        &cancel,
    );
    assert_eq!(failed(&stopped), "Stopped before it finished.");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn failures_and_other_kinds_are_said() {
    let env = TestEnv::new();
    let server = Server::start(|path, stream| match path {
        "/missing" => send(
            stream,
            "404 Not Found",
            "Content-Type: text/html\r\n",
            b"<h1>No</h1>",
        ),
        "/json" => send(
            stream,
            "200 OK",
            "Content-Type: application/json\r\n",
            b"{\"a\": 1}",
        ),
        "/latin" => send(
            stream,
            "200 OK",
            "Content-Type: text/plain; charset=ISO-8859-1\r\n",
            b"caf\xe9",
        ),
        "/bare" => send(stream, "200 OK", "", b"<!DOCTYPE html><p>bare"),
        _ => send(
            stream,
            "200 OK",
            "Content-Type: application/zip\r\n",
            b"PK\x03\x04",
        ),
    });
    let tool = WebFetchTool::new(opened(), no_tls());
    let fetch = |path: &str| call(&env, &tool, json!({"url": server.url(path)}));
    assert!(failed(&fetch("/missing")).ends_with("\n\n# No"));
    assert!(done(&fetch("/json")).ends_with("{\"a\": 1}"));
    assert!(done(&fetch("/latin")).ends_with("café"));
    assert!(done(&fetch("/bare")).ends_with("\n\nbare"));
    assert!(done(&fetch("/zip")).ends_with(": not text, but `application/zip`, 4 bytes."));
}

#[test]
fn pages_become_readable_text() {
    let page = r##"<!DOCTYPE html><html><head><title> A &amp; B
      page</title><style>p { color: red }</style><script>if (a < b) document.write("<p>no</p>")</script></head>
      <body><nav><a href="/">Home</a></nav><!-- <p>hidden</p> --><h1>Title</h1>
      <p>Some   <b>bold</b> text,<br>a &lt;tag&gt; &#8364;&#x20AC; &unknown; AT&T.</p>
      <ul><li>one</li><li><p>two <a href="b.html?x=1&amp;y=2">link</a></p></li></ul>
      <pre>  code
    stays</pre><p>Use <code>ls -l</code>.</p>
      <table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>
      <div style="display: none">unseen <div>nested</div></div><span hidden>unseen</span>
      <img src="x.png" alt="A picture"><a href="#top">up</a><a href="javascript:x()">js</a>
      <svg><text>drawn</text></svg>a < b and c > d</body></html>"##;
    let base = reqwest::Url::parse("https://example.org/dir/a.html").unwrap();
    let text = page_text(page, Some(&base), 10_000);
    assert_eq!(text.title.as_deref(), Some("A & B page"));
    insta::assert_snapshot!(text.text);
}

proptest! {
    #[test]
    fn no_page_breaks_the_converter(page in "(<|>|/|!--|-->|a|p|pre|li|script|style|hidden|\"|'|=| |&|#|x41;|ü|\n|title|head|code|div){0,60}") {
        let text = page_text(&page, None, 1000);
        prop_assert!(text.text.len() <= 1000 + page.len() * 4);
    }
}

#[test]
fn hostile_pages_take_little_time() {
    let began = Instant::now();
    for piece in [
        "<",
        "<a ",
        "<a href=\"",
        "<a href='x",
        "<div hidden><div ",
        "<!",
        "<!-",
        "&",
        "<a href=x>",
        "<pre>",
        "<script",
        "</",
        "<p style=\"none",
        "<p hidden/>",
    ] {
        let page = piece.repeat(1_000_000 / piece.len());
        let _ = page_text(&page, None, 100_000);
    }
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}
