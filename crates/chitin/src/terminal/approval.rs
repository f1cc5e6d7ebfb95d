//! Asks the user at the terminal whether a tool may do something.

use super::gate::Gate;
use super::interrupt::Presses;
use crate::printer::Paint;
use chitin_tools::{Approval, ApprovalRequest, Approver};
use futures_util::future::BoxFuture;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long to wait for a key before looking whether anybody still wants an answer.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// Nobody needs more bytes to say yes, or no and why.
const LONGEST_ANSWER: usize = 2048;
/// How many lines of a diff are shown.
const MOST_DIFF_LINES: usize = 60;

/// Asks at the terminal. Says [`Approval::Nobody`] where there is none, or where this process may not read from it.
#[derive(Debug)]
pub(crate) struct TerminalApprover {
    gate: Gate,
    presses: Presses,
    paint: Paint,
}

impl TerminalApprover {
    pub(crate) fn new(gate: Gate, presses: Presses, paint: Paint) -> Self {
        Self {
            gate,
            presses,
            paint,
        }
    }
}

impl Approver for TerminalApprover {
    fn is_there(&self) -> bool {
        terminal().is_some()
    }

    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            let Some(terminal) = terminal() else {
                return Approval::Nobody(None);
            };
            let _closed = self.gate.close().await;
            let question = question(&request, self.paint);
            let offers = Offers::of(&request);
            let wanted = Wanted::default();
            let still = Arc::clone(&wanted.0);
            let answer =
                tokio::task::spawn_blocking(move || ask_on(&terminal, &question, offers, &still));
            tokio::select! {
                answer = answer => answer.unwrap_or(Approval::Denied(None)),
                () = self.presses.next() => Approval::Denied(None),
            }
        })
    }
}

/// Whether anybody waits for the answer; the thread that reads the terminal ends soon after nobody does.
#[derive(Debug)]
struct Wanted(Arc<AtomicBool>);

impl Default for Wanted {
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Opens the terminal, if somebody sits there and this process may ask: a job in the background would be stopped.
fn terminal() -> Option<OwnedFd> {
    if !std::io::stdin().is_terminal() && !std::io::stderr().is_terminal() {
        return None;
    }
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = rustix::fs::open("/dev/tty", flags, Mode::empty()).ok()?;
    let ahead = rustix::termios::tcgetpgrp(&terminal).ok()?;
    (ahead == rustix::process::getpgrp()).then_some(terminal)
}

/// Asks, and reads one line. Keys that were pressed before the question are no answer to it.
fn ask_on(terminal: &impl AsFd, question: &str, offers: Offers, wanted: &AtomicBool) -> Approval {
    let _ = rustix::termios::tcflush(terminal, rustix::termios::QueueSelector::IFlush);
    if write_all(terminal, question.as_bytes()).is_err() {
        return Approval::Nobody(None);
    }
    let mut line = Vec::new();
    while wanted.load(Ordering::Acquire) {
        let mut waiting = [PollFd::new(terminal, PollFlags::IN)];
        match poll(&mut waiting, Some(&LOOK)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => return Approval::Nobody(None),
        }
        let mut bytes = [0; 64];
        match rustix::io::read(terminal, &mut bytes) {
            Ok(0) => return Approval::Denied(None),
            Ok(length) => line.extend_from_slice(&bytes[..length]),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
            Err(_) => return Approval::Nobody(None),
        }
        if line.contains(&b'\n') || line.len() > LONGEST_ANSWER {
            return answer(&String::from_utf8_lossy(&line), offers);
        }
    }
    let _ = write_all(terminal, b"\n");
    Approval::Denied(None)
}

fn write_all(terminal: &impl AsFd, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(terminal, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Asks whether something may be done, if somebody sits at the terminal; everything that is not clearly a yes is a no.
pub(crate) fn confirmed(question: &str) -> bool {
    terminal().is_some_and(|terminal| {
        let wanted = AtomicBool::new(true);
        ask_on(&terminal, question, Offers::OnceOnly, &wanted) == Approval::Once
    })
}

/// Whether an answer can be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offers {
    OnceOnly,
    All,
}

impl Offers {
    const fn of(request: &ApprovalRequest<'_>) -> Self {
        match request.pattern {
            Some(_) => Self::All,
            None => Self::OnceOnly,
        }
    }
}

/// Everything that is not clearly a yes is a no; what stands behind a no is the reason.
fn answer(line: &str, offers: Offers) -> Approval {
    let line = line.trim();
    match (line.to_lowercase().as_str(), offers) {
        ("y" | "yes", _) => return Approval::Once,
        ("s" | "session", Offers::All) => return Approval::Session,
        ("a" | "always", Offers::All) => return Approval::Always,
        _ => {}
    }
    let (word, reason) = line.split_once([' ', ',', ':']).unwrap_or((line, ""));
    let is_no = matches!(word.to_lowercase().as_str(), "n" | "no");
    let reason = if is_no { reason } else { line };
    let reason = reason.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ':'));
    // A slip of a key is no reason.
    let reason = Some(reason).filter(|reason| reason.chars().count() > 2);
    Approval::Denied(reason.map(escaped))
}

fn question(request: &ApprovalRequest<'_>, paint: Paint) -> String {
    let mut text = format!(
        "{} `{}` wants your permission:\n",
        paint.warn("?"),
        escaped(request.tool)
    );
    let _ = writeln!(text, "    {}", paint.bold(&escaped(request.what)));
    if let Some(diff) = request.diff {
        let lines: Vec<&str> = diff.lines().collect();
        for line in lines.iter().take(MOST_DIFF_LINES) {
            let _ = writeln!(text, "    {}", escaped(line));
        }
        if let Some(more) = lines
            .len()
            .checked_sub(MOST_DIFF_LINES)
            .filter(|more| *more > 0)
        {
            let _ = writeln!(text, "    {}", paint.dim(&format!("… {more} more lines")));
        }
    }
    if !request.why.trim().is_empty() {
        let _ = writeln!(text, "  {}", paint.dim(&escaped(request.why)));
    }
    match request.pattern {
        Some(pattern) => {
            let _ = writeln!(
                text,
                "  [y]es once / for this [s]ession / [a]lways for {}",
                match pattern.strip_prefix('=') {
                    Some(_) => "exactly this".to_owned(),
                    None => escaped(pattern),
                }
            );
        }
        None => text.push_str("  [y]es once\n"),
    }
    text.push_str("  or [N]o, and why: ");
    text
}

/// Shows a text so that nothing of it is hidden or misleading: whatever is not seen as it is stands there as a number.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let unseen = matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}');
        if c.is_control() || unseen || (c.is_whitespace() && c != ' ') {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    /// Makes a terminal of its own: the side of the user and that of the program.
    fn pair() -> (OwnedFd, OwnedFd) {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let name = ptsname(&user, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let program = rustix::fs::open(name, flags, Mode::empty()).unwrap();
        (user, program)
    }

    fn read_until(user: &OwnedFd, end: &str) -> String {
        let mut seen = String::new();
        while !seen.contains(end) {
            let mut bytes = [0; 512];
            let length = rustix::io::read(user, &mut bytes).unwrap();
            seen += &String::from_utf8_lossy(&bytes[..length]);
        }
        seen
    }

    #[test]
    fn only_what_is_typed_after_the_question_answers_it() {
        for (typed, meant) in [
            ("y\n", Approval::Once),
            ("s\n", Approval::Session),
            (
                "no, use trash\n",
                Approval::Denied(Some("use trash".to_owned())),
            ),
            (
                "never do this\n",
                Approval::Denied(Some("never do this".to_owned())),
            ),
            ("ALWAYS\n", Approval::Always),
            ("\n", Approval::Denied(None)),
            ("yikes\n", Approval::Denied(Some("yikes".to_owned()))),
            ("\u{4}", Approval::Denied(None)),
        ] {
            let (user, program) = pair();
            write_all(&user, b"y\n").unwrap();
            std::thread::scope(|threads| {
                let wanted = AtomicBool::new(true);
                let asked =
                    threads.spawn(move || ask_on(&program, "Shall I? ", Offers::All, &wanted));
                read_until(&user, "Shall I? ");
                std::thread::sleep(std::time::Duration::from_millis(20));
                assert!(
                    !asked.is_finished(),
                    "keys pressed before the question are ignored"
                );
                write_all(&user, typed.as_bytes()).unwrap();
                assert_eq!(asked.join().unwrap(), meant, "{typed:?}");
            });
        }
    }

    #[test]
    fn the_terminal_is_let_go_when_nobody_waits_for_the_answer() {
        let (_user, program) = pair();
        let wanted = Wanted::default();
        let still = Arc::clone(&wanted.0);
        let asked = std::thread::spawn(move || ask_on(&program, "Shall I? ", Offers::All, &still));
        drop(wanted);
        assert_eq!(asked.join().unwrap(), Approval::Denied(None));
    }

    #[test]
    fn a_command_is_shown_to_the_last_character() {
        let what = "rm -rf /\u{202e}txt.\u{1b}[2K\r# harmless\u{200b}\n é";
        let request = ApprovalRequest {
            session_key: "agent:main:main",
            tool: "exec",
            what,
            why: "PERMISSIONS.md: ask first",
            diff: Some("-old\u{1b}[2K\n+new"),
            pattern: Some("make *"),
            covered_by: &|_| false,
        };
        assert_eq!(
            question(&request, Paint::forced(false)),
            "? `exec` wants your permission:\n    rm -rf /\\u{202e}txt.\\u{1b}[2K\\r# harmless\\u{200b}\\n é\n    \
             -old\\u{1b}[2K\n    +new\n  PERMISSIONS.md: ask first\n  [y]es once / for this [s]ession / [a]lways for make *\n  \
             or [N]o, and why: "
        );
    }
}
