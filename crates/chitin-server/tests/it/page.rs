//! The page itself: a few files that anybody may have, and that let nothing else in.

use crate::client::{Response, Served};
use crate::stage::Setting;
use flate2::read::GzDecoder;
use std::io::Read;

async fn ask(served: &Served, method: &str, path: &str, more: &[(&str, &str)]) -> Response {
    let mut headers = vec![("authorization", "")];
    headers.extend(more);
    served.connect().await.ask(method, path, &headers, "").await
}

#[tokio::test]
async fn the_page_needs_no_token_and_allows_nothing_from_elsewhere() {
    let served = Served::new(Setting::replies(&[]));
    let page = ask(&served, "GET", "/", &[]).await;
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(page.body.to_lowercase().starts_with("<!doctype html>"));
    let policy = page.header("content-security-policy").unwrap();
    let allowed: Vec<&str> = policy.split("; ").collect();
    for rule in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(allowed.contains(&rule), "{rule}: {policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(
        page.header("cross-origin-resource-policy"),
        Some("same-origin")
    );
    // What the document asks for is there, and all of it is ours.
    for part in page
        .body
        .split(['"', '\''])
        .filter(|part| part.starts_with("/assets/"))
    {
        let file = ask(&served, "GET", part, &[]).await;
        assert_eq!(file.status, 200, "{part}");
    }
    for attribute in ["src=\"", "href=\""] {
        for value in page.body.split(attribute).skip(1) {
            assert!(
                value.starts_with("/assets/") || value.starts_with("data:"),
                "{value}"
            );
        }
    }
}

#[tokio::test]
async fn who_has_a_file_already_is_told_so_and_who_takes_it_zipped_gets_it_so() {
    let served = Served::new(Setting::replies(&[]));
    let plain = ask(&served, "GET", "/assets/app.js", &[]).await;
    assert_eq!(
        plain.header("content-type"),
        Some("text/javascript; charset=utf-8")
    );
    let zipped = ask(
        &served,
        "GET",
        "/assets/app.js",
        &[("accept-encoding", "br, gzip;q=0.8")],
    )
    .await;
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    let mut unzipped = String::new();
    GzDecoder::new(&*zipped.bytes)
        .read_to_string(&mut unzipped)
        .unwrap();
    assert_eq!(unzipped, plain.body);
    let refused = ask(
        &served,
        "GET",
        "/assets/app.js",
        &[("accept-encoding", "gzip;q=0")],
    )
    .await;
    assert_eq!(refused.header("content-encoding"), None);
    let tag = plain.header("etag").unwrap();
    assert_eq!(zipped.header("etag"), Some(tag));
    let again = ask(&served, "GET", "/assets/app.js", &[("if-none-match", tag)]).await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let old = ask(
        &served,
        "GET",
        "/assets/app.js",
        &[("if-none-match", "\"old\"")],
    )
    .await;
    assert_eq!(old.status, 200);
    assert_eq!(plain.header("cache-control"), Some("no-cache"));
}

#[tokio::test]
async fn nothing_else_is_served_and_a_name_that_is_not_ours_gets_nothing() {
    let served = Served::new(Setting::replies(&[]));
    for path in [
        "/index.html",
        "/assets/",
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/x",
        "/settings",
        "//",
    ] {
        let answer = ask(&served, "GET", path, &[]).await;
        // Whoever has no token learns nothing about what there is.
        assert_eq!(answer.problem(), "401 unauthorized", "{path}");
        let answer = served.get(path).await;
        assert_eq!(answer.problem(), "404 not_found", "{path}");
    }
    let posted = ask(&served, "POST", "/", &[]).await;
    assert_eq!(posted.status, 401);
    let foreign = ask(&served, "GET", "/", &[("host", "evil.example")]).await;
    assert_eq!(foreign.problem(), "403 bad_host");
}
