//! The prompt itself, to the byte.

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, Secrets};
use chitin_context::FragmentRole;
use chitin_runtime::context::TurnContext;
use serde::Serialize;
use std::fmt;

/// What goes over the wire besides the conversation.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Prompt {
    contract: &'static str,
    session: String,
    system: String,
    /// The message that the conversation begins with.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<String>,
    before_user: Option<String>,
    after_user: Option<String>,
    /// What the first message of the conversation ends with.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_message: Option<String>,
    #[serde(skip)]
    secrets: Secrets,
}

pub(super) fn print(
    seen: &TurnContext,
    secrets: Secrets,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let context = &seen.context;
    let prompt = Prompt {
        contract: context.contract.name,
        session: seen.session.clone(),
        system: context.system(),
        conversation: context.conversation_files().map(|files| files.text()),
        before_user: context.beside_user(FragmentRole::BeforeUser),
        after_user: context.beside_user(FragmentRole::AfterUser),
        first_message: context.beside_user(FragmentRole::FirstMessage),
        secrets,
    };
    if let Some(conversation) = &prompt.conversation {
        printer.note(&format!("In the conversation:\n{conversation}"));
    }
    for (place, notice) in [
        ("before", &prompt.before_user),
        ("after", &prompt.after_user),
    ] {
        if let Some(notice) = notice {
            printer.note(&format!("{place} the user's message:\n{notice}"));
        }
    }
    if let Some(line) = &prompt.first_message {
        printer.note(&format!(
            "The first message of the conversation ends with:\n{line}"
        ));
    }
    printer.result(&prompt)
}

impl Render for Prompt {
    fn text(&self, out: &mut dyn fmt::Write, _: Paint) -> fmt::Result {
        out.write_str(&self.system)
    }

    fn secrets(&self) -> Secrets {
        self.secrets
    }

    fn is_verbatim(&self) -> bool {
        true
    }
}
