//! A server that is a program: started by the sandbox helper, which also ends it with all that it started.

use super::config::ServerTransport;
use super::servers::McpSurroundings;
use crate::sandbox::{
    AsyncParts, Cause, CommandExit, CommandRequest, ErrorOutput, SandboxLevel, SandboxRefusal,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::process::{Child, ChildStdin, ChildStdout};

/// How long a server has to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// How much of what the helper says is kept.
const KEPT: usize = 64 << 10;
const PIPE: usize = 64 << 10;

/// What the reason begins with why a program never ran.
pub(super) const NOT_STARTED: &str = "could not start it";

/// What a program of the user's own needs of his environment.
const PASSED: [&str; 4] = ["HOME", "LOGNAME", "USER", "SHELL"];

/// The two ends of a server, and what it says when it dies.
pub(super) struct Stdio {
    pub(super) output: ChildStdout,
    pub(super) input: DuplexStream,
    pub(super) last_words: LastWords,
}

/// What the helper said so far.
#[derive(Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    /// Says why a server that is gone is gone, after waiting a little for its last words. `reason` is how it showed.
    pub(super) async fn explain(&self, reason: String) -> String {
        let Some(ended) = self.ended().await else {
            return reason;
        };
        let said = ended.message.trim();
        if ended.cause == Cause::NotStarted {
            return format!("{NOT_STARTED}: {said}");
        }
        let how = match (ended.code, ended.signal) {
            (Some(code), _) => format!(" (exit code {code})"),
            (None, Some(signal)) => format!(" (signal {signal})"),
            (None, None) => String::new(),
        };
        if said.is_empty() {
            format!("{reason}{how}")
        } else {
            format!("{reason}{how}; its error output: {said}")
        }
    }

    async fn ended(&self) -> Option<CommandExit> {
        for _ in 0..25 {
            let said = self
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            let ended = AsyncParts::ended(&said);
            if ended.is_some() {
                return ended;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        None
    }
}

/// Starts a program.
pub(super) async fn start(
    transport: &ServerTransport,
    surroundings: &McpSurroundings,
) -> Result<Stdio, String> {
    let ServerTransport::Stdio {
        command,
        args,
        env,
        cwd,
        sandboxed,
    } = transport
    else {
        return Err("it has no command to run".to_owned());
    };
    let level = if *sandboxed {
        let sandbox = Arc::clone(&surroundings.sandbox);
        tokio::task::spawn_blocking(move || {
            sandbox
                .reach()
                .map(|report| report.level)
                .map_err(|refusal| refusal.to_string())
        })
        .await
        .map_err(|error| error.to_string())??
    } else {
        SandboxLevel::None
    };
    let mut environment = BTreeMap::new();
    if level == SandboxLevel::None {
        let passed = surroundings
            .environment
            .iter()
            .filter(|(name, _)| PASSED.contains(&name.as_str()));
        environment.extend(passed.map(|(name, value)| (name.clone(), value.clone())));
    }
    environment.extend(env.clone());
    let request = CommandRequest {
        program: [std::slice::from_ref(command), args].concat(),
        environment,
        workdir: cwd
            .as_ref()
            .map(|cwd| surroundings.sandbox.workspace().join(cwd)),
        readable: Vec::new(),
        keeps_own: false,
        is_untrusted: false,
        timeout: None,
        limited: false,
        errors: ErrorOutput::Tail,
        sink: Arc::new(|_| {}),
    };
    let launch = surroundings.sandbox.launch(level, &request);
    let launch = launch.map_err(|refusal| match refusal {
        SandboxRefusal::NoProgram { .. } => format!("{NOT_STARTED}: {refusal}"),
        SandboxRefusal::NoLevel { .. } | SandboxRefusal::NoScratch { .. } => refusal.to_string(),
    })?;
    let AsyncParts {
        mut child,
        first_frame,
    } = AsyncParts::start(&launch).map_err(|error| error.to_string())?;
    let (Some(mut control), Some(output), Some(mut status)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("its streams are missing".to_owned());
    };
    control
        .write_all(&first_frame)
        .await
        .map_err(|error| error.to_string())?;
    let last_words = LastWords::default();
    let said = Arc::clone(&last_words.0);
    tokio::spawn(async move {
        let mut chunk = [0; 4096];
        while let Ok(count @ 1..) = status.read(&mut chunk).await {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.len() < KEPT {
                said.extend_from_slice(&chunk[..count]);
            }
        }
    });
    let (input, inner) = duplex(PIPE);
    tokio::spawn(feed(inner, control, child));
    Ok(Stdio {
        output,
        input,
        last_words,
    })
}

/// Carries input over, in frames. At its end the server has a moment to leave; then the lifeline is cut.
async fn feed(mut from: DuplexStream, mut control: ChildStdin, mut child: Child) {
    let mut chunk = vec![0; PIPE];
    while let Ok(count @ 1..) = from.read(&mut chunk).await {
        let length = u32::try_from(count).unwrap_or(0).to_be_bytes();
        let frame = [length.as_slice(), &chunk[..count]].concat();
        if control.write_all(&frame).await.is_err() {
            break;
        }
    }
    let _ = control.write_all(&[0; 4]).await;
    let _ = tokio::time::timeout(GRACE, child.wait()).await;
    drop(control);
    let _ = child.wait().await;
}
