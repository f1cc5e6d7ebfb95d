//! What systemd is told of a restart.

use super::Serving;
use crate::run::Talk;
use chitin_test::model_server::Format;
use serde_json::json;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Hears what a server says until a word comes.
fn hear(socket: &UnixDatagram, until: &str) -> Vec<String> {
    socket.set_read_timeout(Some(super::PATIENCE)).unwrap();
    let mut heard = Vec::new();
    loop {
        let mut bytes = [0; 4096];
        let read = socket.recv(&mut bytes).unwrap();
        let said = String::from_utf8_lossy(&bytes[..read]).into_owned();
        let is_last = said == until;
        heard.push(said);
        if is_last {
            return heard;
        }
    }
}

fn told(socket: &UnixDatagram, place: &str) {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Here.", "times": 0})]);
    let serving = Serving::start_with(&talk, |command| {
        command.env("NOTIFY_SOCKET", place);
    });
    assert_eq!(hear(socket, "READY=1"), ["READY=1"]);
    // Refused: it says that it is there again.
    let settings = talk.env.home().join(".chitin/chitin.json5");
    let good = std::fs::read(&settings).unwrap();
    std::fs::write(&settings, "{ server: ").unwrap();
    serving.begin_anew();
    let heard = hear(socket, "READY=1");
    assert!(
        heard[0].starts_with("RELOADING=1\nMONOTONIC_USEC="),
        "{heard:?}"
    );
    assert_eq!(heard.len(), 2, "{heard:?}");
    std::fs::write(&settings, &good).unwrap();

    serving.begin_anew();
    let heard = hear(socket, "READY=1");
    assert_eq!(heard.len(), 3, "{heard:?}");
    assert!(
        heard[0].starts_with("RELOADING=1\nMONOTONIC_USEC="),
        "{heard:?}"
    );
    let process: i32 = heard[1].strip_prefix("MAINPID=").unwrap().parse().unwrap();
    assert_ne!(process, serving.id());
    let (address, token) = (serving.address.clone(), serving.token.clone());
    // The first process has nothing more to do.
    assert_eq!(serving.wait(), Some(0));
    let next = Serving::of(process, address, token);
    let body = json!({"text": "hi", "wait": true});
    let (status, said) = next.ask("POST", "/api/messages", Some(&body));
    assert_eq!(status, 200, "{said}");
    next.tell_to_end();
    assert_eq!(hear(socket, "STOPPING=1"), ["STOPPING=1"]);
    next.wait_until("it is gone", |next| {
        std::net::TcpStream::connect(&next.address).is_err()
    });
}

#[test]
fn systemd_learns_of_a_restart_and_of_the_new_process() {
    let env = chitin_test::TestEnv::new();
    let path = env.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    told(&socket, path.to_str().unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn systemd_may_listen_on_an_abstract_socket() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("chitin-test-{}", uuid_like());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let socket = UnixDatagram::bind_addr(&address).unwrap();
    told(&socket, &format!("@{name}"));
}

#[cfg(target_os = "linux")]
fn uuid_like() -> String {
    format!("{}-{:?}", std::process::id(), std::time::Instant::now())
        .replace([' ', '{', '}', ':', ','], "")
}
