//! The skills of an agent, and what is wrong with its workspace.

use super::prompt::below;
use crate::{AgentFactory, Host, SkillSurvey, WorkspaceCheck};
use chitin_check::{Finding, Fix, Severity};
use chitin_server::workspace_api::{
    FindingCounts, FindingFix, FindingList, FindingPlace, FindingSeverity, SkillList, SkillSummary,
    WorkspaceApiError, WorkspaceFinding,
};

/// Lists the skills, each with why it is not ready.
pub(super) fn list(host: &Host, factory: &AgentFactory) -> Result<SkillList, WorkspaceApiError> {
    let survey = SkillSurvey::new(host, &factory.setup)?;
    let eligibility = survey.eligibility(host);
    let skills = survey.set.skills.iter().map(|skill| {
        let reasons = survey.reasons(&eligibility, skill);
        let eligible = reasons.is_empty();
        SkillSummary {
            name: skill.name.clone(),
            description: skill.description.clone(),
            source: skill.source,
            path: below(&skill.file.to_string_lossy(), &factory.setup.directory),
            eligible,
            why: reasons.iter().map(ToString::to_string).collect(),
            in_prompt: eligible && !skill.invocation.disable_model_invocation,
        }
    });
    Ok(SkillList {
        skills: skills.collect(),
    })
}

/// Lists what is wrong, as `chitin check` does.
pub(super) fn findings(
    host: &Host,
    factory: &AgentFactory,
) -> Result<FindingList, WorkspaceApiError> {
    let report = WorkspaceCheck::load(host, &factory.setup)?.report(&[]);
    let counts = report.summary;
    Ok(FindingList {
        findings: report.findings.into_iter().map(finding).collect(),
        summary: FindingCounts {
            errors: counts.errors,
            warnings: counts.warnings,
            infos: counts.infos,
            suppressed: counts.suppressed,
            files: counts.files,
            bytes: counts.bytes,
        },
    })
}

fn finding(finding: Finding) -> WorkspaceFinding {
    let place = finding.place.map(|place| FindingPlace {
        line: place.line,
        column: place.column,
        end_line: place.end_line,
        end_column: place.end_column,
        start: place.start,
        end: place.end,
    });
    WorkspaceFinding {
        code: finding.code.to_owned(),
        severity: match finding.severity {
            Severity::Error => FindingSeverity::Error,
            Severity::Warning => FindingSeverity::Warning,
            Severity::Info => FindingSeverity::Info,
        },
        path: finding.path,
        line: place.map(|place| place.line),
        place,
        message: finding.message,
        remedy: finding.remedy.into_owned(),
        fix: finding.fix.map(|fix| match fix {
            Fix::StripByteOrderMark => FindingFix::StripByteOrderMark,
            Fix::RemovePermissions { bits } => FindingFix::RemovePermissions { bits },
        }),
    }
}
