//! The skills of an agent, and what is wrong with its workspace.

use super::prompt::below;
use crate::{AgentFactory, Host, SkillSurvey, WorkspaceCheck};
use chitin_server::DeskError;
use serde_json::{Value, json};

/// Lists the skills, each with why it is not ready.
pub(super) fn list(host: &Host, factory: &AgentFactory) -> Result<Value, DeskError> {
    let survey = SkillSurvey::new(host, &factory.setup)?;
    let eligibility = survey.eligibility(host);
    let skills: Vec<Value> = survey
        .set
        .skills
        .iter()
        .map(|skill| {
            let reasons = survey.reasons(&eligibility, skill);
            let eligible = reasons.is_empty();
            let why: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            json!({
                "name": skill.name,
                "description": skill.description,
                "source": skill.source,
                "path": below(&skill.file.to_string_lossy(), &factory.setup.directory),
                "eligible": eligible,
                "why": why,
                "inPrompt": eligible && !skill.invocation.disable_model_invocation,
            })
        })
        .collect();
    Ok(json!({ "skills": skills }))
}

/// Lists what is wrong, as `chitin check` does.
pub(super) fn findings(host: &Host, factory: &AgentFactory) -> Result<Value, DeskError> {
    let report = WorkspaceCheck::load(host, &factory.setup)?.report(&[]);
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            let mut shown = super::value(finding).unwrap_or_default();
            if let Some(line) = shown["place"]["line"].as_u64() {
                shown["line"] = json!(line);
            }
            shown
        })
        .collect();
    Ok(json!({"findings": findings, "summary": report.summary}))
}
