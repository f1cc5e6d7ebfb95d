//! Shells that are handed to another machine.

use super::Danger;
use crate::phrases::Hit;
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;

const OPENS: &str = "hands a shell to another machine";

/// A shell and a connection, together.
pub(super) fn remote(subject: &Subject<'_>, hit: &Hit) -> Option<Danger> {
    let phrase = subject.lower[hit.span.clone()].trim_end();
    let command = subject.command_around(hit.span.start);
    let line = subject.small(command.clone());
    let program = subject.program_around(hit.span.start);
    let together = program.map_or(line, |program| subject.small(program));
    let shell = has(
        line,
        &["bin/sh", "bin/bash", "bin/zsh", "cmd.exe", "powershell"],
    );
    let opens = match phrase {
        "dev/tcp/" | "dev/udp/" => {
            // A look whether a port is open has neither a shell nor a way back.
            has(
                line,
                &[" -i", "0>&1", "<&", "0<", "exec ", "2>&1", "| sh", "| bash"],
            ) && has(line, &["sh -i", "bash -i", "0>&1", "<&", "exec "])
                && !has(line, &["localhost", "127.0.0.1"])
        }
        "mkfifo" => has(line, &["nc ", "ncat", "telnet", "s_client"]),
        "nc" | "ncat" | "netcat" => {
            let rest = subject.small(hit.span.end..command.end);
            shell && has(rest, &[" -e", "-e ", "-c ", "--exec", "--sh-exec"])
        }
        "socat" => has(line, &["exec:", "system:"]) && has(line, &["tcp", "openssl"]),
        "os.dup2" => together.contains("socket"),
        "net.socket(" => {
            has(together, &["spawn(", "exec("]) && has(together, &["bin/sh", "bin/bash", "cmd.exe"])
        }
        "tcpclient" => has(together, &["iex", "invoke-expression", "getstream"]),
        "fsockopen" | "tcpsocket" => has(together, &["exec", "popen", "bin/sh"]),
        "bin/sh" | "bin/bash" => {
            has(together, &["socket(", "socket.socket", ".connect(("])
                && has(together, &["connect(", "subprocess", "spawn"])
                && !has(together, &["bind(", "listen("])
        }
        _ => false,
    };
    opens.then(|| Danger::new(&rules::REMOTE_SHELL, hit.span.start..command.end, OPENS))
}
