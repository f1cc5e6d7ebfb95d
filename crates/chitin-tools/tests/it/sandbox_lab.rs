//! A workspace with secrets around it, and commands that run in it.
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at real files and at the real environment"
)]

use chitin_protocol::settings::SandboxSetting;
use chitin_test::TestEnv;
use chitin_tools::sandbox::{
    CommandRequest, Ending, Running, Sandbox, SandboxConfig, SandboxLevel,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What no command may ever print.
pub(crate) const KEY: &str = "sk-test-4f9c2d";

pub(crate) struct Lab {
    pub(crate) env: TestEnv,
    pub(crate) sandbox: Arc<Sandbox>,
}

impl Lab {
    pub(crate) fn new(choice: SandboxSetting) -> Self {
        Self::with(choice, |_| {})
    }

    /// Makes the lab after a change of its configuration.
    pub(crate) fn with(choice: SandboxSetting, change: impl FnOnce(&mut SandboxConfig)) -> Self {
        let env = TestEnv::new();
        env.file("home/secret.txt", KEY);
        env.file("home/.chitin/keys.json", KEY);
        env.directory_at("scratch");
        let mut config = config(&env, choice);
        change(&mut config);
        let sandbox = Arc::new(Sandbox::new(config).unwrap());
        Self { env, sandbox }
    }

    pub(crate) fn start(&self, command: &str) -> (Running, Arc<Mutex<Vec<u8>>>) {
        let output = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&output);
        let request = CommandRequest {
            timeout: Some(Duration::from_mins(1)),
            ..CommandRequest::shell(
                command,
                Arc::new(move |bytes| sink.lock().unwrap().extend_from_slice(bytes)),
            )
        };
        (self.sandbox.start(&request).unwrap(), output)
    }

    /// Runs a command and returns what it printed and how it ended.
    pub(crate) fn run(&self, command: &str) -> (String, Ending) {
        let (running, output) = self.start(command);
        let ending = block_on(running.wait());
        let output = output.lock().unwrap().clone();
        (String::from_utf8_lossy(&output).into_owned(), ending)
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.env.path().join("home/secret.txt")
    }
}

pub(crate) fn config(env: &TestEnv, choice: SandboxSetting) -> SandboxConfig {
    let mut config = SandboxConfig::new(
        env!("CARGO_BIN_EXE_chitin-sandbox"),
        env.workspace(),
        env.path().join("scratch"),
    );
    config.choice = choice;
    config.hidden = vec![env.home().join(".chitin"), env.home()];
    config.environment = std::env::vars().collect();
    config
        .environment
        .insert("ANTHROPIC_API_KEY".to_owned(), KEY.to_owned());
    config
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// The levels that this machine offers, strongest first.
pub(crate) fn offered() -> Vec<(SandboxLevel, SandboxSetting)> {
    [
        (SandboxLevel::Bwrap, SandboxSetting::Bwrap),
        (SandboxLevel::Landlock, SandboxSetting::Landlock),
    ]
    .into_iter()
    .filter(|(_, choice)| Lab::new(*choice).sandbox.reach().is_ok())
    .collect()
}

/// Runs a check in a lab of each level that the machine offers.
pub(crate) fn at_each_level(check: impl Fn(&Lab)) {
    for (level, choice) in offered() {
        let lab = Lab::new(choice);
        assert_eq!(lab.sandbox.reach().unwrap().level, level);
        check(&lab);
    }
}

pub(crate) fn exists(path: &Path) -> bool {
    path.exists()
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Waits until something holds.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Says whether a process with this in its command line is there.
pub(crate) fn is_running(marker: &str) -> bool {
    let own = std::process::id().to_string();
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_str() != Some(&own))
        .any(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(marker)
        })
}
