use super::*;
use crate::artifact::{Artifact, Descriptor, Manifest};
use crate::canonical;
use crate::compat::{AGENT, CONFIG, OCI_MANIFEST, SIGNATURE, SIGNATURE_CONFIG, SIGNATURE_PAYLOAD};
use crate::error::{ErrorClass, ExitKind};
use crate::store::Store;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

const TIME: &str = "2026-01-31T12:00:00Z";

struct Bench {
    _directory: TempDir,
    store: Arc<Store>,
    subject: Descriptor,
    key: PrivateKey,
    used: Option<UsedName>,
    unbound: UnboundSignatures,
}

impl Bench {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let store = Arc::new(Store::create(&directory.path().join("oci")).unwrap());
        let subject = artifact(&store, "harbor");
        Self {
            _directory: directory,
            store,
            subject,
            key: PrivateKey::generate().unwrap(),
            used: None,
            unbound: UnboundSignatures::Refuse,
        }
    }

    fn signature(&self) -> Signature {
        Signature::make(
            &self.subject,
            &named("harbor:1.0.0"),
            &self.key,
            "Ada",
            TIME,
        )
        .unwrap()
    }

    fn verdict(
        &self,
        mode: SignatureMode,
        keys: &[&PrivateKey],
    ) -> Result<SignatureVerdict, crate::PackError> {
        let signatures = self.store.signatures_of(&self.subject.digest).unwrap();
        let keys = keys.iter().map(|key| TrustedKey {
            name: "release".to_owned(),
            key: key.public(),
        });
        let requirement = Requirement {
            mode,
            keys: keys.collect(),
            unbound: self.unbound,
        };
        verify(&self.subject, self.used.as_ref(), &signatures, &requirement)
    }

    fn refused(&self) -> ErrorClass {
        let error = self
            .verdict(SignatureMode::Require, &[&self.key])
            .unwrap_err();
        assert_eq!(error.exit(), ExitKind::Verification);
        error.class()
    }
}

fn named(text: &str) -> SignedName {
    SignedName::parse(text).unwrap()
}

fn artifact(store: &Store, name: &str) -> Descriptor {
    let config = canonical::of(&json!({"name": name}));
    let manifest = Manifest {
        artifact_type: AGENT.to_owned(),
        config: store.put(CONFIG, config.as_bytes()).unwrap(),
        layers: Vec::new(),
        annotations: std::collections::BTreeMap::new(),
        subject: None,
    };
    let descriptor = store.put_manifest(&manifest).unwrap();
    store.tag(name, &descriptor).unwrap();
    Descriptor::new(OCI_MANIFEST, descriptor.digest, descriptor.size)
}

/// Puts a signature whose documents were changed, with digests that fit the change.
fn put_changed(
    bench: &Bench,
    change_config: impl FnOnce(&mut Value),
    change_payload: impl FnOnce(&mut Vec<u8>),
) {
    let mut signature = bench.signature();
    let mut config: Value = serde_json::from_slice(&signature.config).unwrap();
    change_config(&mut config);
    signature.config = canonical::to_string(&config).into_bytes();
    change_payload(&mut signature.payload);
    signature.manifest.config = Descriptor::of(SIGNATURE_CONFIG, &signature.config);
    signature.manifest.layers = vec![Descriptor::of(SIGNATURE_PAYLOAD, &signature.payload)];
    signature.put(&bench.store).unwrap();
}

#[test]
fn a_signature_of_a_trusted_key_counts_and_says_whose_it_is() {
    let bench = Bench::new();
    let (artifact, name) = (bench.subject.digest, named("harbor:1.0.0"));
    let digest = sign(&bench.store, &artifact, &name, &bench.key, "Ada", TIME).unwrap();
    let verdict = bench
        .verdict(SignatureMode::Require, &[&bench.key])
        .unwrap();
    assert_eq!(
        serde_json::to_value(&verdict).unwrap(),
        json!({
            "mode": "require",
            "verified": true,
            "signatures": [{
                "digest": digest.digest,
                "signer": "Ada",
                "signedAt": TIME,
                "signedName": {"name": "harbor", "version": "1.0.0"},
                "keyId": bench.key.public().id(),
                "status": "valid",
                "key": "release",
            }],
            "warnings": [],
        })
    );
}

#[test]
fn a_good_signature_of_a_stranger_does_not_count() {
    let bench = Bench::new();
    bench.signature().put(&bench.store).unwrap();
    let friend = PrivateKey::generate().unwrap();
    let error = bench
        .verdict(SignatureMode::Require, &[&friend])
        .unwrap_err();
    assert_eq!(error.class(), ErrorClass::SignatureUntrusted);
    let verdict = bench.verdict(SignatureMode::Warn, &[]).unwrap();
    assert_eq!(verdict.warnings[0].code, "SIGNATURE_UNTRUSTED");
    assert!(!verdict.verified);
}

#[test]
fn no_signature_is_missing_and_where_nothing_is_demanded_nothing_is_looked_at() {
    let bench = Bench::new();
    assert_eq!(bench.refused(), ErrorClass::SignatureMissing);
    put_changed(&bench, |config| config["signature"] = json!(""), |_| {});
    let verdict = bench.verdict(SignatureMode::None, &[]).unwrap();
    assert!(verdict.signatures.is_empty() && verdict.warnings.is_empty());
}

#[test]
fn a_signature_that_was_touched_does_not_hold() {
    type Change = (fn(&mut Value), fn(&mut Vec<u8>));
    let changes: [Change; 8] = [
        (|config| config["signature"] = json!("AAAA"), |_| {}),
        (|_| {}, |payload| payload.push(b' ')),
        (|_| {}, |payload| payload[20] ^= 1),
        (|config| config["signer"] = json!("Eve"), |_| {}),
        (
            |config| config["signedAt"] = json!("2030-01-01T00:00:00Z"),
            |_| {},
        ),
        (|config| config["algorithm"] = json!("none"), |_| {}),
        (
            |config| {
                config["publicKey"] = json!(PrivateKey::generate().unwrap().public().to_base64());
            },
            |_| {},
        ),
        (
            |config| config["publicKey"] = json!("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
            |_| {},
        ),
    ];
    for (at, (config, payload)) in changes.into_iter().enumerate() {
        let bench = Bench::new();
        put_changed(&bench, config, payload);
        assert_eq!(bench.refused(), ErrorClass::SignatureInvalid, "change {at}");
    }
}

#[test]
fn a_signature_cannot_be_moved_to_another_artifact() {
    let bench = Bench::new();
    let other = artifact(&bench.store, "other");
    let mut stolen = Signature::make(&other, &named("other"), &bench.key, "Ada", TIME).unwrap();
    stolen.manifest.subject = Some(bench.subject.clone());
    stolen.put(&bench.store).unwrap();
    assert_eq!(bench.refused(), ErrorClass::SignatureInvalid);
}

#[test]
fn a_signature_holds_under_the_name_that_was_signed_and_no_other() {
    let mut bench = Bench::new();
    bench.signature().put(&bench.store).unwrap();
    bench.used = UsedName::of("reg.example/team/harbor:1.0.0");
    let verdict = bench.verdict(SignatureMode::Require, &[&bench.key]);
    assert!(verdict.unwrap().verified);
    bench.used = UsedName::of("reg.example/team/prod:9.9.9");
    assert_eq!(bench.refused(), ErrorClass::SignatureMisnamed);
    let verdict = bench.verdict(SignatureMode::Warn, &[&bench.key]).unwrap();
    assert!(!verdict.verified && verdict.accepted.is_empty());
    assert_eq!(verdict.warnings[0].code, "SIGNATURE_MISNAMED");
    // One more signature, for that name, makes it good there.
    let name = named("reg.example/team/prod:9.9.9");
    let another = Signature::make(&bench.subject, &name, &bench.key, "Ada", TIME).unwrap();
    another.put(&bench.store).unwrap();
    let verdict = bench.verdict(SignatureMode::Require, &[&bench.key]);
    assert!(verdict.unwrap().verified);
}

/// Puts a signature as versions before made it: without a name.
fn put_unbound(bench: &Bench) {
    let mut signature = bench.signature();
    let mut payload: Value = serde_json::from_slice(&signature.payload).unwrap();
    payload.as_object_mut().unwrap().remove("artifact").unwrap();
    signature.payload = canonical::to_string(&payload).into_bytes();
    let mut config: Value = serde_json::from_slice(&signature.config).unwrap();
    let signed = bench.key.sign(&signature.payload);
    config["signature"] = json!(base64::Engine::encode(
        &base64::engine::general_purpose::STANDARD,
        signed
    ));
    signature.config = canonical::to_string(&config).into_bytes();
    signature.manifest.config = Descriptor::of(SIGNATURE_CONFIG, &signature.config);
    signature.manifest.layers = vec![Descriptor::of(SIGNATURE_PAYLOAD, &signature.payload)];
    signature.put(&bench.store).unwrap();
}

#[test]
fn a_signature_without_a_name_counts_only_where_the_policy_says_so() {
    let mut bench = Bench::new();
    put_unbound(&bench);
    assert_eq!(bench.refused(), ErrorClass::SignatureUnbound);
    let verdict = bench.verdict(SignatureMode::Warn, &[&bench.key]).unwrap();
    assert!(!verdict.verified);
    assert_eq!(verdict.warnings[0].code, "SIGNATURE_UNBOUND");
    bench.unbound = UnboundSignatures::Accept;
    let verdict = bench
        .verdict(SignatureMode::Require, &[&bench.key])
        .unwrap();
    assert!(verdict.verified);
    assert_eq!(verdict.warnings[0].code, "SIGNATURE_UNBOUND");
    let policy = TrustPolicy::parse("{unbound: 'accept'}").unwrap();
    assert_eq!(policy.requirement(None).unbound, UnboundSignatures::Accept);
    assert!(TrustPolicy::parse("{unbound: 'maybe'}").is_err());
}

#[test]
fn what_is_older_than_before_is_refused_under_the_same_name() {
    let directory = TempDir::new().unwrap();
    let home = chitin_guard::Root::open(directory.path()).unwrap();
    let used = UsedName::of("reg.example/harbor").unwrap();
    let digest = |number: u8| crate::Digest::of(&[number]);
    let accept = |used: &UsedName, number, version: &str, at: &str, older| {
        let mut verdict = SignatureVerdict {
            mode: SignatureMode::Require,
            verified: true,
            signatures: Vec::new(),
            warnings: Vec::new(),
            accepted: vec![AcceptedSignature {
                artifact: digest(number),
                version: Some(version.to_owned()),
                signed_at: at.to_owned(),
            }],
        };
        pin(&home, used, &mut verdict, older).map(|()| verdict.warnings.len())
    };
    let (early, late) = ("2026-01-31T12:00:00Z", "2026-02-01T12:00:00Z");
    let refuse = OlderArtifacts::Refuse;
    assert_eq!(accept(&used, 1, "1.0.0", early, refuse).unwrap(), 0);
    assert_eq!(accept(&used, 2, "1.1.0", early, refuse).unwrap(), 0);
    // An older version, even if it was signed again; an older build of the same version.
    for at in [early, late] {
        let error = accept(&used, 1, "1.0.0", at, refuse).unwrap_err();
        assert_eq!(error.class(), ErrorClass::SignatureOlder);
        assert_eq!(error.exit(), ExitKind::Verification);
    }
    assert_eq!(accept(&used, 3, "1.1.0", late, refuse).unwrap(), 0);
    assert!(accept(&used, 2, "1.1.0", early, refuse).is_err());
    // The same content is no rollback, whichever of its signatures is at hand, and does not lower what is remembered.
    assert_eq!(accept(&used, 3, "1.1.0", early, refuse).unwrap(), 0);
    assert!(accept(&used, 2, "1.1.0", early, refuse).is_err());
    let other = UsedName::of("reg.example/harbor:1.0.0").unwrap();
    assert_eq!(accept(&other, 1, "1.0.0", early, refuse).unwrap(), 0);
    assert_eq!(
        accept(&used, 1, "1.0.0", early, OlderArtifacts::Accept).unwrap(),
        1
    );
    assert_eq!(accept(&used, 1, "1.0.0", early, refuse).unwrap(), 0);
    home.replace_private(std::path::Path::new(PINS_FILE), b"{")
        .unwrap();
    assert!(accept(&used, 2, "1.1.0", early, refuse).is_err(), "damaged");
}

#[test]
fn a_bad_signature_beside_a_good_one_stops_nobody() {
    let bench = Bench::new();
    put_changed(&bench, |config| config["signature"] = json!("AAAA"), |_| {});
    bench.signature().put(&bench.store).unwrap();
    assert!(
        bench
            .verdict(SignatureMode::Require, &[&bench.key])
            .unwrap()
            .verified
    );
}

#[test]
fn another_document_of_the_same_key_is_no_signature() {
    let bench = Bench::new();
    let signature = bench.signature();
    // The same key signed some other JSON, for some other purpose.
    let document = br#"{"pay":"100"}"#.to_vec();
    let mut config: Value = serde_json::from_slice(&signature.config).unwrap();
    let signed = bench.key.sign(&document);
    config["signature"] = json!(base64::Engine::encode(
        &base64::engine::general_purpose::STANDARD,
        signed
    ));
    put_changed(
        &bench,
        |found| *found = config,
        |payload| *payload = document,
    );
    assert_eq!(bench.refused(), ErrorClass::SignatureInvalid);
}

#[test]
fn a_missing_payload_is_an_invalid_signature_and_not_a_missing_one() {
    let bench = Bench::new();
    let signature = bench.signature();
    let digest = signature.put(&bench.store).unwrap().digest;
    let found: Artifact = bench.store.artifact(&digest).unwrap();
    assert_eq!(found.manifest.artifact_type, SIGNATURE);
    let payload = bench
        .store
        .path()
        .join("blobs/sha256")
        .join(found.manifest.layers[0].digest.hex());
    remove(&payload);
    assert_eq!(bench.refused(), ErrorClass::SignatureInvalid);
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test damages a store on purpose"
)]
fn remove(path: &std::path::Path) {
    std::fs::remove_file(path).unwrap();
}

#[test]
fn keys_survive_the_disk_and_private_ones_stay_private() {
    let directory = TempDir::new().unwrap();
    let root = chitin_guard::Root::open(directory.path()).unwrap();
    let key = PrivateKey::generate().unwrap();
    let (private, public) = save_keys(&root, "release", &key).unwrap();
    assert_eq!(root.permissions(&private).unwrap() & 0o077, 0);
    assert_eq!(
        load_private_key(&root, &private).unwrap().public(),
        key.public()
    );
    assert_eq!(load_public_key(&root, &public).unwrap(), key.public());
    assert_eq!(
        PublicKey::parse(&key.public().to_base64()).unwrap(),
        key.public()
    );
    let again = save_keys(&root, "release", &key).unwrap_err();
    assert_eq!(again.class(), ErrorClass::Conflict);
    assert!(!format!("{key:?}").contains(&key.public().to_base64()));
}

#[test]
fn the_first_rule_that_fits_decides() {
    let key = PrivateKey::generate().unwrap().public();
    let other = PrivateKey::generate().unwrap().public();
    let text = format!(
        "{{
          // comments are fine
          default: 'warn',
          keys: {{ release: `{}`, other: '{}' }},
          rules: [
            {{ match: 'reg.example/team/free', mode: 'none' }},
            {{ match: 'reg.example/team/**', mode: 'require', keys: ['release'] }},
            {{ match: 'reg.example/*', mode: 'warn', keys: [] }},
          ],
        }}",
        key.to_base64(),
        other.to_base64()
    )
    .replace('`', "'");
    let policy = TrustPolicy::parse(&text).unwrap();
    let asked = |target: Option<&str>| {
        let requirement = policy.requirement(target);
        let names = requirement.keys.into_iter().map(|key| key.name);
        (requirement.mode, names.collect::<Vec<_>>().join(" "))
    };
    assert_eq!(asked(Some("reg.example/team/free")).0, SignatureMode::None);
    let team = (SignatureMode::Require, "release".to_owned());
    for spelling in [
        "reg.example",
        "REG.example",
        "reg.example:443",
        "reg.example.",
    ] {
        let target = format!("{spelling}/team/a/b");
        assert_eq!(asked(Some(&target)), team, "{target}");
    }
    assert_eq!(asked(Some("reg.example/TEAM/a")).0, SignatureMode::Warn);
    assert_eq!(
        asked(Some("reg.example/x")),
        (SignatureMode::Warn, String::new())
    );
    let otherwise = (SignatureMode::Warn, "release other".to_owned());
    for target in [
        None,
        Some("reg.example"),
        Some("reg.example/x/y"),
        Some("reg.example.org/team/a"),
    ] {
        assert_eq!(asked(target), otherwise, "{target:?}");
    }
}

#[test]
fn a_policy_that_is_not_understood_is_refused_with_advice() {
    for (text, advice) in [
        ("{defualt: 'warn'}", Some("did you mean `default`?")),
        (
            "{default: 'always'}",
            Some("write `none`, `warn` or `require`"),
        ),
        (
            "{rules: [{match: 'a', mod: 'warn'}]}",
            Some("did you mean `mode`?"),
        ),
        ("{rules: [{match: 'a/**/b', mode: 'warn'}]}", None),
        ("{rules: [{match: 'a', mode: 'warn', keys: ['x']}]}", None),
        ("{rules: [{mode: 'warn'}]}", None),
        ("{keys: {a: 'not a key'}}", None),
        (
            "{keys: {a: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='}}",
            None,
        ),
        ("[]", None),
        ("{", None),
    ] {
        let error = TrustPolicy::parse(text).unwrap_err();
        assert_eq!(error.exit(), ExitKind::Input, "{text}");
        if let Some(advice) = advice {
            assert_eq!(error.advice(), advice, "{text}");
        }
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test gives a file away on purpose"
)]
fn a_policy_that_others_may_change_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let directory = TempDir::new().unwrap();
    let root = chitin_guard::Root::open(directory.path()).unwrap();
    let name = std::path::Path::new("policy.json5");
    assert_eq!(TrustPolicy::load(&root, name).unwrap(), None);
    root.write_new(name, b"{default: 'require'}").unwrap();
    let policy = TrustPolicy::load(&root, name).unwrap().unwrap();
    assert_eq!(policy.requirement(None).mode, SignatureMode::Require);
    let open = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(directory.path().join(name), open).unwrap();
    assert!(TrustPolicy::load(&root, name).is_err());
}

proptest! {
    #[test]
    fn no_text_is_a_policy_by_accident_and_none_panics(text in "[\\[\\]{}:,'a-z* /]{0,60}") {
        let _ = TrustPolicy::parse(&text);
        let _ = PublicKey::parse(&text);
    }
}
