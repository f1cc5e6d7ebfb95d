//! Rules about skills, and about commands that a text asks to run.

use super::CheckRule;

pub(crate) static SKILL_PROBLEM: CheckRule = CheckRule::warning("CH501", "a skill has a problem")
    .why("The skill is not loaded, or not as written.")
    .todo("Correct what the message names: the `SKILL.md`, its directory, or a limit in `skills.limits`.");
pub(crate) static SKILL_SHADOWED: CheckRule =
    CheckRule::info("CH502", "a skill is shadowed by another of the same name")
        .why("Where two sources have a skill of the same name, the one with precedence is used.")
        .todo("Rename or remove one of the two.");
pub(crate) static SKILL_WITHOUT_DESCRIPTION: CheckRule = CheckRule::warning("CH503", "a skill has no description")
    .why("The catalogue gives the model a name and a description only. Without one the model cannot know when to use the skill, and some releases leave it out.")
    .todo("Write `description:` in its front matter: what it does and when to use it.");
pub(crate) static DOWNLOAD_AND_RUN: CheckRule = CheckRule::error("CH504", "something is downloaded and run")
    .why("The text makes the agent or the user download a program and run it without review. Outside skills, and for a few well-known installers, it is a warning.")
    .todo("Pin a version and a checksum, or use a package manager; do not follow the step in a skill that you have not reviewed.");
pub(crate) static PASTE_INTO_TERMINAL: CheckRule =
    CheckRule::warning("CH505", "the user is asked to paste into a terminal")
        .why("Skills that spread malware ask people to run a command by hand, outside the sandbox.")
        .todo("Review the command; let the agent run it in its sandbox instead.");
pub(crate) static LOCKED_ARCHIVE: CheckRule =
    CheckRule::error("CH506", "an archive with a password")
        .why("A password on a download keeps scanners from looking inside.")
        .todo("Do not unpack it. Remove the skill unless you know its author.");
pub(crate) static PROTECTION_OFF: CheckRule = CheckRule::error("CH507", "a system protection is disabled")
    .why("The text removes the quarantine attribute of a download or disables a protection of the operating system.")
    .todo("Do not run it. Remove the skill unless you know why it needs this.");
pub(crate) static DECODED_AND_RUN: CheckRule =
    CheckRule::error("CH508", "encoded text is decoded and run")
        .why("The command hides what it does.")
        .todo("Do not run it. Decode the text and read it.");
