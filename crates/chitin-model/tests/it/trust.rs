//! Whom TLS trusts: the usual authorities, and those of a file that the user names.

use crate::asking::{self, Conversation, LONG, run};
use chitin_model::http::make_client;
use chitin_model::{Api, HttpModel, ModelEndpoint, ModelError};
use chitin_net::{OWN_AUTHORITIES, TlsRoots};
use chitin_test::model_server::{Format, ModelServer};
use chitin_test::tls::{Authority, Front};
use proptest::prelude::*;
use std::path::Path;

/// A model's server behind TLS.
fn server(authority: &Authority) -> (ModelServer, Front) {
    let server = ModelServer::start(Format::Anthropic, r#"{"text":"Larch."}"#);
    let address = server.origin().trim_start_matches("http://").parse();
    let front = authority.front(address.unwrap());
    (server, front)
}

fn ask(front: &Front, trust: TlsRoots) -> Result<(), ModelError> {
    let endpoint = ModelEndpoint::new(format!("https://{}", front.address()))
        .with_key("sk-test-key".into())
        .with_timeouts(LONG)
        .with_trust(trust);
    let model = HttpModel::new(Api::AnthropicMessages, "acme", "m", endpoint).unwrap();
    run(asking::ask(&model, &Conversation::saying("hi"))).map(|_| ())
}

#[test]
fn a_model_behind_a_companys_proxy_answers_when_its_authority_is_named() {
    let authority = Authority::new();
    let (server, front) = server(&authority);
    ask(&front, TlsRoots::with_file(authority.file())).unwrap();
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn without_it_no_key_is_sent_and_the_certificate_and_the_variable_are_named() {
    let authority = Authority::new();
    let (server, front) = server(&authority);
    let said = ask(&front, TlsRoots::default()).unwrap_err().to_string();
    assert!(
        said.contains("certificate") && said.contains(OWN_AUTHORITIES),
        "{said}"
    );
    assert!(server.requests().is_empty());
}

#[test]
fn a_certificate_for_another_host_is_refused_whoever_signed_it() {
    let authority = Authority::for_names("DNS:elsewhere.example");
    let (server, front) = server(&authority);
    let trust = TlsRoots::with_file(authority.file());
    let said = ask(&front, trust).unwrap_err().to_string();
    assert!(said.contains("another host"), "{said}");
    assert!(server.requests().is_empty());
}

/// Says why a file cannot be used.
fn problem(file: &Path) -> String {
    TlsRoots::with_file(file).tls().unwrap_err()
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_the_variable_and_never_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let file = directory.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        file
    };
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let cases = [
        (directory.path().join("missing.pem"), "cannot be read"),
        (directory.path().to_path_buf(), "not a plain file"),
        (write("empty.pem", b""), "no certificate in it"),
        (write("words.pem", b"larch \xff"), "no certificate in it"),
        (write("cut.pem", &broken.as_bytes()[..30]), "PEM"),
        (write("odd.pem", broken.as_bytes()), "can be used"),
        (
            write("large.pem", &vec![b'x'; 4 * 1024 * 1024 + 1]),
            "more than",
        ),
    ];
    for (file, wanted) in cases {
        let said = problem(&file);
        assert!(said.contains(wanted), "{said}");
        assert!(said.contains(OWN_AUTHORITIES), "{said}");
        assert!(said.contains(&*file.to_string_lossy()), "{said}");
    }
}

/// Plain HTTP needs no authorities, so a file that is not there is no harm to it.
#[test]
fn the_file_is_read_only_when_tls_is_spoken_and_then_once() {
    let missing = TlsRoots::with_file("/nowhere/at/all.pem");
    let plain = ModelEndpoint::new("http://127.0.0.1:9").with_trust(missing.clone());
    assert!(make_client(&plain).is_ok());
    let secure = ModelEndpoint::new("https://127.0.0.1:9").with_trust(missing);
    assert!(make_client(&secure).is_err());

    let authority = Authority::new();
    let trust = TlsRoots::with_file(authority.file());
    trust.tls().unwrap();
    std::fs::remove_file(authority.file()).unwrap();
    assert!(trust.clone().tls().is_ok(), "what was read is kept");
}

#[test]
fn a_bundle_counts_with_all_that_can_be_used_of_it() {
    let (authority, other) = (Authority::new(), Authority::new());
    let bundle = authority.directory().join("bundle.pem");
    let mut text = b"The yard's authorities\n".to_vec();
    text.extend(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    text.extend(std::fs::read(other.file()).unwrap());
    text.extend(std::fs::read(authority.file()).unwrap());
    std::fs::write(&bundle, text).unwrap();
    let (_server, front) = server(&authority);
    ask(&front, TlsRoots::with_file(bundle)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a file holds, there are authorities in it or it is said that there are none.
    #[test]
    fn no_file_makes_trust_panic_or_pass_in_silence(
        noise in prop::collection::vec(any::<u8>(), 0..200),
        framed in any::<bool>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("authorities.pem");
        let mut bytes = noise;
        if framed {
            bytes = [b"-----BEGIN CERTIFICATE-----\n", bytes.as_slice(), b"\n-----END CERTIFICATE-----\n"].concat();
        }
        std::fs::write(&file, bytes).unwrap();
        prop_assert!(problem(&file).contains(OWN_AUTHORITIES));
    }
}
