//! The same ten turns against somebody else's server: LiteLLM's proxy, which serves three of the four wire formats with its own
//! code and asks our scripted server in turn. `scripts/third-party-test` installs it and runs these tests; nothing in the client
//! knows about it.

use super::Talk;
use super::ten_turns::{script, ten_turns};
use chitin_test::model_server::Format;
use serde_json::json;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// LiteLLM's proxy, until it is dropped.
struct Proxy {
    child: Child,
    port: u16,
}

impl Proxy {
    /// `provider` decides in which format LiteLLM asks the server behind it.
    fn start(talk: &Talk, provider: &str) -> Self {
        let program = std::env::var("CHITIN_LITELLM").unwrap();
        // The port is free now, and nobody else on this machine is after it.
        let port = TcpListener::bind(("127.0.0.1", 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let config = json!({
            "model_list": [{
                "model_name": "test-model",
                "litellm_params": {
                    "model": format!("{provider}/test-model"),
                    "api_base": talk.server.url(),
                    "api_key": "sk-behind-the-proxy",
                },
            }],
            "litellm_settings": {"telemetry": false, "drop_params": true},
            "general_settings": {"master_key": "sk-test-not-a-real-key-0123456789"},
        });
        let config = talk.env.file("home/litellm.yaml", config.to_string());
        let child = Command::new(program)
            .args(["--host", "127.0.0.1", "--telemetry", "False", "--port"])
            .arg(port.to_string())
            .arg("--config")
            .arg(config)
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .env("HOME", talk.env.home())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let proxy = Self { child, port };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                began.elapsed() < Duration::from_mins(2),
                "the proxy does not start"
            );
            std::thread::sleep(Duration::from_millis(200));
        }
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn behind_a_proxy(api: &str, path: &str, behind: Format) {
    let talk = Talk::new(behind, &script());
    let provider = match behind {
        Format::Responses => "openai",
        Format::Anthropic | Format::Completions | Format::Ollama => "hosted_vllm",
    };
    let proxy = Proxy::start(&talk, provider);
    talk.configure_at(
        api,
        &format!("http://127.0.0.1:{}{path}", proxy.port),
        json!({}),
    );
    ten_turns(&talk);
}

#[test]
#[ignore = "needs LiteLLM: scripts/third-party-test"]
fn ten_turns_with_litellm_in_the_format_of_anthropic() {
    behind_a_proxy("anthropic-messages", "", Format::Completions);
}

#[test]
#[ignore = "needs LiteLLM: scripts/third-party-test"]
fn ten_turns_with_litellm_in_the_format_of_chat_completions() {
    behind_a_proxy("openai-completions", "/v1", Format::Completions);
}

#[test]
#[ignore = "needs LiteLLM: scripts/third-party-test"]
fn ten_turns_with_litellm_in_the_format_of_responses() {
    behind_a_proxy("openai-responses", "/v1", Format::Responses);
}
