use super::*;
use chitin_test::TestEnv;
use secrecy::ExposeSecret;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

fn shown(credentials: &Credentials) -> String {
    match credentials {
        Credentials::Anonymous => "nobody".to_owned(),
        Credentials::Basic { user, password } => format!("{user}/{}", password.expose_secret()),
        Credentials::IdentityToken(token) => format!("identity {}", token.expose_secret()),
        Credentials::RegistryToken(token) => format!("token {}", token.expose_secret()),
    }
}

async fn found(keychain: &Keychain, host: &str) -> String {
    shown(&keychain.find(host).await.expect("no error"))
}

fn executable(env: &TestEnv, name: &str, script: &str) {
    let path = env.file(&format!("bin/docker-credential-{name}"), script);
    let mode = rustix_mode(0o755);
    assert!(set_mode(&path, mode));
}

fn rustix_mode(mode: u32) -> std::fs::Permissions {
    std::fs::Permissions::from_mode(mode)
}

#[expect(clippy::disallowed_methods, reason = "a test makes a program")]
fn set_mode(path: &Path, mode: std::fs::Permissions) -> bool {
    std::fs::set_permissions(path, mode).is_ok()
}

fn helpers(env: &TestEnv) -> Helpers {
    Helpers {
        search: vec![env.path().join("bin")],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        timeout: Duration::from_secs(5),
    }
}

#[tokio::test]
async fn what_is_given_by_hand_comes_first_then_ours_then_dockers_then_staxs() {
    let env = TestEnv::new();
    let stax = env.file(
        "home/.stax/auth.json",
        r#"{"reg.example":{"auth":"c3RheDpz"}}"#,
    );
    let docker = env.file(
        "home/.docker/config.json",
        r#"{"auths":{"https://reg.example/v1/":{"auth":"ZG9ja2VyOmQ="},"other.example":{"identitytoken":"abc"}}}"#,
    );
    let state = env.path().join("state");
    let mut keychain = Keychain::default().with_stax(stax);
    assert_eq!(found(&keychain, "reg.example").await, "stax/s");
    keychain = keychain.with_docker(docker, helpers(&env));
    assert_eq!(found(&keychain, "reg.example").await, "docker/d");
    assert_eq!(found(&keychain, "other.example").await, "identity abc");
    keychain = keychain.with_own(&state);
    login(&state, "reg.example", "own", &"o:o".into()).unwrap();
    assert_eq!(found(&keychain, "reg.example").await, "own/o:o");
    let given = Credentials::Basic {
        user: "given".into(),
        password: "g".into(),
    };
    keychain = keychain.with("reg.example", given);
    assert_eq!(found(&keychain, "reg.example").await, "given/g");
    for stranger in ["reg.example:5000", "example", "evil.reg.example"] {
        assert_eq!(found(&keychain, stranger).await, "nobody", "{stranger}");
    }
}

#[tokio::test]
async fn a_helper_is_asked_by_its_protocol() {
    let env = TestEnv::new();
    executable(
        &env,
        "good",
        "#!/bin/sh\nread host\nprintf '{\"ServerURL\":\"%s\",\"Username\":\"u\",\"Secret\":\"%s\"}' \"$host\" \"$1-$host\"\n",
    );
    executable(&env, "none", "#!/bin/sh\necho not found\nexit 1\n");
    executable(&env, "slow", "#!/bin/sh\nsleep 60\n");
    let config = env.file(
        "config.json",
        r#"{"credsStore":"none","credHelpers":{"a.example":"good","s.example":"slow","m.example":"missing","x.example":"../bin/docker-credential-good"},"auths":{"b.example":{"auth":"dTpw"}}}"#,
    );
    let quick = Helpers {
        timeout: Duration::from_millis(200),
        ..helpers(&env)
    };
    let keychain = Keychain::default().with_docker(config.clone(), helpers(&env));
    assert_eq!(found(&keychain, "a.example").await, "u/get-a.example");
    assert_eq!(found(&keychain, "b.example").await, "u/p");
    let impatient = Keychain::default().with_docker(config, quick);
    for wrong in ["s.example", "m.example", "x.example"] {
        let error = impatient.find(wrong).await.unwrap_err();
        assert_eq!(error.exit(), ExitKind::Registry, "{wrong}: {error}");
        assert!(error.advice().is_some());
    }
}

#[tokio::test]
async fn our_file_is_for_its_owner_only_and_others_entries_stay() {
    let env = TestEnv::new();
    let state = env.path().join("state");
    env.file(
        "state/registries.json",
        r#"{"note":1,"auths":{"a.example":{"auth":"YTph","x":2}}}"#,
    );
    login(&state, "localhost:5000", "me", &"hunter2".into()).unwrap();
    let text = env.read("state/registries.json");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&text).unwrap(),
        serde_json::json!({"note":1,"auths":{"a.example":{"auth":"YTph","x":2},"localhost:5000":{"auth":"bWU6aHVudGVyMg=="}}})
    );
    let root = Root::open(&state).unwrap();
    assert_eq!(root.permissions(Path::new(REGISTRIES_FILE)), Some(0o600));
    assert!(logout(&state, "localhost:5000").unwrap());
    assert!(!logout(&state, "localhost:5000").unwrap());
    let keychain = Keychain::default().with_own(&state);
    assert_eq!(found(&keychain, "localhost:5000").await, "nobody");
    assert_eq!(found(&keychain, "a.example").await, "a/a");
    for wrong in ["", "a b", "https://reg.example", "reg.example/team", "word"] {
        assert!(login(&state, wrong, "me", &"x".into()).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn no_secret_is_shown() {
    let env = TestEnv::new();
    let keychain = Keychain::default().with(
        "reg.example",
        Credentials::Basic {
            user: "me".into(),
            password: "hunter2".into(),
        },
    );
    let found = keychain.find("reg.example").await.unwrap();
    assert!(!format!("{keychain:?} {found:?}").contains("hunter2"));
    env.file("state/registries.json", "{\"auths\": \"hunter2\"}");
    let broken = Keychain::default().with_own(&env.path().join("state"));
    let error = broken.find("reg.example").await.unwrap_err();
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}
