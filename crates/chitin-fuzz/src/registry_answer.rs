//! What registries answer: challenges, tokens, lists with pages, manifests, blobs, redirections and failures.

use crate::net::{Asked, runtime, serve};
use crate::recipe::Recipe;
use crate::records::any;
use crate::rpc::{object, text};
use crate::{novelty, scratch};
use chitin_pack::artifact::Descriptor;
use chitin_pack::reference::Reference;
use chitin_pack::store::Store;
use chitin_pack::{Digest, compat};
use chitin_registry::{
    Credentials, Keychain, PlainHttp, RegistryClient, RegistryOptions, RegistryTimeouts, Retries,
    Silent,
};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What answers are made of.
pub const DICTIONARY: &[&str] = &[
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 401 No\r\n",
    "HTTP/1.1 404 No\r\n",
    "HTTP/1.1 307 There\r\n",
    "HTTP/1.1 429 Later\r\n",
    "HTTP/1.1 500 Broken\r\n",
    "Content-Length: 2\r\n",
    "Content-Type: application/vnd.oci.image.manifest.v1+json\r\n",
    "Docker-Content-Digest: sha256:",
    "Location: /v2/",
    "Www-Authenticate: Bearer realm=\"",
    "\",service=\"s\",scope=\"repository:a/b:pull\"",
    "Link: </v2/a/b/tags/list?n=1&last=x>; rel=\"next\"\r\n",
    "Retry-After: 18446744073709551615\r\n",
    "Content-Range: bytes 0-1/2\r\n",
    "\r\n",
    "{\"tags\":[\"a\"]}",
    "{\"errors\":[{\"code\":\"DENIED\",\"message\":\"x\"}]}",
    "{\"token\":\"t\",\"expires_in\":1}",
];

const PASSWORD: &str = "the-password-of-the-owner";

/// Asks a registry for everything; what it answers is the input as it is, or made of choices where it begins with a one.
pub fn run(data: &[u8]) {
    let are_choices = data.first() == Some(&1);
    let rest = Arc::new(Mutex::new(
        data.get(usize::from(are_choices)..)
            .unwrap_or_default()
            .to_vec(),
    ));
    runtime().block_on(async {
        let address = serve(move |asked: &Asked| {
            let mut rest = rest.lock().expect("nobody panicked");
            if !are_choices {
                return std::mem::take(&mut *rest);
            }
            let mut recipe = Recipe::new(&rest);
            let answer = response(&mut recipe, asked);
            *rest = recipe.rest().to_vec();
            answer
        })
        .await;
        let options = RegistryOptions {
            plain_http: PlainHttp::Loopback,
            timeouts: RegistryTimeouts {
                connect: Duration::from_millis(50),
                answer: Duration::from_millis(50),
                idle: Duration::from_millis(50),
            },
            retries: Retries {
                attempts: 1,
                first_delay: Duration::ZERO,
                longest_delay: Duration::ZERO,
            },
            max_artifact_bytes: 1 << 20,
            ..RegistryOptions::default()
        };
        let keys = Keychain::default().with(
            address.to_string(),
            Credentials::Basic {
                user: "ada".to_owned(),
                password: PASSWORD.into(),
            },
        );
        let client = RegistryClient::new(options, keys).expect("a client can be made");
        let reference: Reference = format!("{address}/a/b:1").parse().expect("a reference");
        ask(&client, &reference).await;
    });
}

async fn ask(client: &RegistryClient, reference: &Reference) {
    let mut failures = Vec::new();
    match client.tags(reference).await {
        Ok(tags) => {
            assert!(tags.is_sorted(), "tags are not in order");
            novelty::note(tags.len().min(4));
        }
        Err(error) => failures.push(error),
    }
    match client.artifact(reference).await {
        Ok(artifact) => assert_eq!(
            Digest::of(&artifact.manifest_bytes),
            artifact.digest,
            "another manifest"
        ),
        Err(error) => failures.push(error),
    }
    let store =
        Arc::new(Store::create(&scratch::fresh("registry_answer")).expect("a store can be made"));
    match client
        .pull_with_referrers(reference, compat::SIGNATURE, &store, &Silent)
        .await
    {
        Ok((digest, signatures)) => {
            let artifact = store.artifact(&digest).expect("what was pulled is there");
            artifact
                .verify()
                .expect("what was pulled is what was named");
            novelty::note((artifact.layers().len().min(3), signatures.len().min(3)));
        }
        Err(error) => failures.push(error),
    }
    for error in failures {
        let said = error.to_string();
        assert!(
            !said.is_empty() && said.len() < 8192,
            "{} bytes of an error",
            said.len()
        );
        assert!(!said.contains(PASSWORD), "the password is in an error");
        novelty::note(error.class());
    }
}

/// What this registry has.
const MANIFEST_LAYER: &[u8] = b"[]";

fn manifest(recipe: &mut Recipe<'_>) -> Vec<u8> {
    let layer = Descriptor::of("application/vnd.stax.mcp.v1+json", MANIFEST_LAYER);
    let members = [
        ("schemaVersion", json!(2)),
        ("mediaType", json!(compat::OCI_MANIFEST)),
        ("artifactType", json!(compat::AGENT)),
        ("config", json!(Descriptor::empty())),
        ("layers", json!([layer])),
    ];
    let value = match recipe.byte() % 4 {
        0 => object(recipe, &members),
        _ => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        ),
    };
    value.to_string().into_bytes()
}

fn response(recipe: &mut Recipe<'_>, asked: &Asked) -> Vec<u8> {
    let path = asked.head.split(' ').nth(1).unwrap_or_default();
    let mut headers = String::new();
    let mut kind = "application/json";
    let mut body = if path.contains("/tags/list") {
        if recipe.byte().is_multiple_of(3) {
            headers.push_str(recipe.pick(&[
                "Link: </v2/a/b/tags/list?last=x>; rel=\"next\"\r\n",
                "Link: <//evil.example/v2/>; rel=next\r\n",
                "Link: <>; rel=\"next\"\r\n",
                "Link: <\r\n",
            ]));
        }
        json!({"tags": [recipe.pick(&["1", "2", "\u{1b}[2J", ""]), "3"]})
            .to_string()
            .into_bytes()
    } else if path.contains("/referrers/") {
        kind = compat::OCI_INDEX;
        let manifests: Value = (0..recipe.byte() % 3)
            .map(|_| json!({"mediaType": compat::OCI_MANIFEST, "digest": Digest::of(&[recipe.byte()]), "size": 1, "artifactType": compat::SIGNATURE}))
            .collect();
        object(
            recipe,
            &[
                ("schemaVersion", json!(2)),
                ("mediaType", json!(compat::OCI_INDEX)),
                ("manifests", manifests),
            ],
        )
        .to_string()
        .into_bytes()
    } else if path.contains("/manifests/") {
        kind = compat::OCI_MANIFEST;
        manifest(recipe)
    } else if path.contains("/blobs/") {
        kind = "application/octet-stream";
        let empty = path.contains("44136fa355b3678a");
        (if empty {
            b"{}".as_slice()
        } else {
            MANIFEST_LAYER
        })
        .to_vec()
    } else {
        let members = [
            ("token", json!(text(recipe))),
            ("access_token", json!("t")),
            ("expires_in", json!(60)),
        ];
        object(recipe, &members).to_string().into_bytes()
    };
    let digest = Digest::of(&body);
    if recipe.byte().is_multiple_of(2) {
        let _ = write!(headers, "Docker-Content-Digest: {digest}\r\n");
    }
    let status = match recipe.byte() {
        0..=25 => {
            headers.push_str(challenge(recipe));
            "401 No"
        }
        26..=35 => {
            headers.push_str(recipe.pick(&[
                "Location: /v2/a/b/blobs/x\r\n",
                "Location: http://127.0.0.1:1/\r\n",
                "Location: https://evil.example/\r\n",
                "Location: \r\n",
                "Location: file:///etc/passwd\r\n",
            ]));
            recipe.pick(&["307 There", "302 There", "301 There"])
        }
        36..=50 => {
            body = match recipe.byte() % 3 {
                0 => any(recipe).to_string().into_bytes(),
                1 => text(recipe).into_bytes(),
                _ => json!({"errors": [{"code": text(recipe), "message": text(recipe), "detail": any(recipe)}]}).to_string().into_bytes(),
            };
            headers.push_str(recipe.pick(&[
                "",
                "Retry-After: 18446744073709551615\r\n",
                "Retry-After: x\r\n",
            ]));
            recipe.pick(&[
                "404 No",
                "403 No",
                "429 Later",
                "500 Broken",
                "400 What",
                "206 Part",
                "204 Nothing",
                "416 No",
            ])
        }
        51..=60 => {
            body = any(recipe).to_string().into_bytes();
            "200 OK"
        }
        _ => "200 OK",
    };
    let length = match recipe.byte() {
        0..=5 => body.len() + 3,
        6..=8 => usize::MAX,
        _ => body.len(),
    };
    let mut answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{headers}Content-Length: {length}\r\n\r\n"
    )
    .into_bytes();
    if !asked.head.starts_with("HEAD") {
        answer.extend(body);
    }
    answer
}

fn challenge(recipe: &mut Recipe<'_>) -> &'static str {
    recipe.pick(&[
        "Www-Authenticate: Basic realm=\"x\"\r\n",
        "Www-Authenticate: Bearer realm=\"/token\",service=\"s\"\r\n",
        "Www-Authenticate: Bearer realm=\"http://127.0.0.1:1/token\",scope=\"repository:a/b:pull,push,delete\"\r\n",
        "Www-Authenticate: Bearer realm=\"https://evil.example/token\"\r\n",
        "Www-Authenticate: Negotiate, Bearer service=\"x\\\r\n",
        "Www-Authenticate: ====,,,\r\n",
        "",
    ])
}
