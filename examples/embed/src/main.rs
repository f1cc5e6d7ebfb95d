//! An agent inside a program of your own: `cargo run -p embed-example -- DIR MESSAGE`.

use chitin_runtime::context::TurnRequest;
use chitin_runtime::{Notes, Runtime, RuntimeError};
use std::path::PathBuf;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(message)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: embed-example DIR MESSAGE");
        return ExitCode::from(2);
    };
    match talk(directory.into(), &message).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", error.with_causes());
            for hint in error.hints() {
                eprintln!("hint: {hint}");
            }
            ExitCode::FAILURE
        }
    }
}

async fn talk(directory: PathBuf, message: &str) -> Result<(), RuntimeError> {
    let runtime = Runtime::builder()
        .notes(Notes::to(|note| eprintln!("{note}")))
        .build()?;
    let agent = runtime.agent(directory)?;
    let report = agent.report(&TurnRequest::default())?;
    println!(
        "{}: {} tokens of system prompt",
        agent.id(),
        report.view.total.tokens
    );
    let turn = agent.turn(message).await?;
    println!("{}", turn.text);
    Ok(())
}
