//! Variables in the body of a skill: put in as text, in one pass, by no shell (rule P31).

/// What stands for the variables of a skill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkillVariables<'v> {
    /// What the user wrote after the skill's name.
    pub arguments: &'v str,
    /// The directory of the skill.
    pub skill_directory: &'v str,
    /// The workspace.
    pub workspace: &'v str,
}

const ARGUMENTS: &str = "$ARGUMENTS";
const SKILL_DIRECTORY: &str = "${STAX_SKILL_DIR}";
const WORKSPACE: &str = "${STAX_WORKSPACE}";

/// Replaces the variables of a body. A backslash before one keeps it as it is written.
pub fn substitute(body: &str, variables: &SkillVariables<'_>) -> String {
    let mut text = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('$') {
        let (before, here) = rest.split_at(at);
        let Some((length, value)) = variable(here, variables) else {
            text.push_str(before);
            text.push('$');
            rest = &here[1..];
            continue;
        };
        let (name, after) = here.split_at(length);
        if let Some(escaped) = before.strip_suffix('\\') {
            text.push_str(escaped);
            text.push_str(name);
        } else {
            text.push_str(before);
            text.push_str(value);
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Returns how long the variable at the start of a text is, and what stands for it.
fn variable<'v>(text: &str, variables: &SkillVariables<'v>) -> Option<(usize, &'v str)> {
    if text.starts_with(SKILL_DIRECTORY) {
        return Some((SKILL_DIRECTORY.len(), variables.skill_directory));
    }
    if text.starts_with(WORKSPACE) {
        return Some((WORKSPACE.len(), variables.workspace));
    }
    let after = text.strip_prefix(ARGUMENTS)?;
    let Some((index, length)) = position(after) else {
        return Some((ARGUMENTS.len(), variables.arguments));
    };
    let value = index
        .and_then(|index| variables.arguments.split_whitespace().nth(index))
        .unwrap_or_default();
    Some((ARGUMENTS.len() + length, value))
}

/// Reads a position in brackets; the number is `None` when no list could be that long.
fn position(text: &str) -> Option<(Option<usize>, usize)> {
    let (digits, _) = text.strip_prefix('[')?.split_once(']')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (digits.parse().ok(), digits.len() + 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn variables_are_replaced_once_and_by_nothing_but_text() {
        let variables = SkillVariables {
            arguments: "north  $ARGUMENTS[0]",
            skill_directory: "/s/${STAX_WORKSPACE}",
            workspace: "/w",
        };
        let shown = |body| substitute(body, &variables);
        assert_eq!(shown("$ARGUMENTS"), "north  $ARGUMENTS[0]");
        assert_eq!(
            shown("$ARGUMENTS[1]|$ARGUMENTS[2]|$ARGUMENTS[x]"),
            "$ARGUMENTS[0]||north  $ARGUMENTS[0][x]"
        );
        assert_eq!(
            shown("${STAX_SKILL_DIR} ${STAX_WORKSPACE}"),
            "/s/${STAX_WORKSPACE} /w"
        );
        assert_eq!(
            shown("\\$ARGUMENTS[0] \\${STAX_WORKSPACE} \\$HOME $5"),
            "$ARGUMENTS[0] ${STAX_WORKSPACE} \\$HOME $5"
        );
        assert_eq!(shown("$ARGUMENTS[99999999999999999999999]"), "");
    }

    proptest! {
        #[test]
        fn no_body_fails(body in "[$A-Z{}_\\[\\]0-9 \\\\]{0,80}", arguments in ".{0,20}") {
            let _ = substitute(&body, &SkillVariables { arguments: &arguments, ..SkillVariables::default() });
        }
    }
}
