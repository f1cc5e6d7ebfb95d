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
    .why("The text makes the agent or the user download a program and run it without review. Outside skills it is a warning; for a few well-known installers it is only noted.")
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
pub(crate) static SENDS_DATA: CheckRule = CheckRule::error("CH509", "private data is sent elsewhere")
    .why("Keys, wallets, browser profiles, the environment, the agent's own settings or the conversation stand next to something that sends: an upload, a webhook, a bot, a name that is looked up. Or all requests to the model, with its key, are to go to somebody else's address.")
    .todo("Do not run it. Remove the skill unless you know who receives the data, and why.");
pub(crate) static REMOTE_SHELL: CheckRule = CheckRule::error(
    "CH510",
    "a shell is handed to another machine",
)
.why("The command connects a shell to an address, so that whoever answers there can run anything.")
.todo("Do not run it. Remove the skill.");
pub(crate) static PERSISTS: CheckRule =
    CheckRule::error("CH511", "something stays after the skill is gone")
        .why("A timer, a profile, a hook, a preloaded library or a key in `authorized_keys` starts something hidden or fetched, or lets somebody in.")
        .todo("Do not run it. If it ran, look at the place that it names.");
pub(crate) static AGENT_FILES: CheckRule = CheckRule::warning("CH512", "a skill changes the files that rule the agent")
    .why("What is written into `AGENTS.md`, `SOUL.md`, `MEMORY.md` or a guardrail file holds for every later turn, also without the skill. Texts that ask the user first are not reported.")
    .todo("Make such a change yourself, if you want it.");
pub(crate) static APPROVALS_OFF: CheckRule =
    CheckRule::error("CH513", "approvals or the sandbox are switched off")
        .why("The text has the agent act without asking, or outside the sandbox.")
        .todo("Leave them on. Allow single commands instead.");
pub(crate) static REMOTE_INSTRUCTIONS: CheckRule = CheckRule::warning("CH514", "instructions are fetched and obeyed")
    .why("What the address says can change after the skill was reviewed. Whoever controls it controls the agent.")
    .todo("Copy the instructions into the skill and review them there.");
pub(crate) static PREREQUISITE: CheckRule = CheckRule::warning("CH515", "a program must be downloaded first")
    .why("Skills that spread malware name a driver, a tool or a page with a command as a prerequisite, and have the user start it by hand.")
    .todo("Do not start it. Get programs from their makers or from a package manager.");
pub(crate) static ESCAPE: CheckRule =
    CheckRule::error("CH516", "rights are taken that a skill should not have")
        .why("The command leaves a container, gives an account all rights without a password, or takes a firewall down.")
        .todo("Do not run it. Remove the skill unless you know why it needs this.");
pub(crate) static MINES: CheckRule = CheckRule::error("CH517", "coins are mined")
    .why("The names of mining programs and protocols have no place in other skills.")
    .todo("Do not run it. Remove the skill.");
pub(crate) static WATCHES: CheckRule = CheckRule::error("CH518", "keys or passwords are watched")
    .why("The text reads keystrokes, imitates a password prompt, or asks for words that open a wallet.")
    .todo("Do not run it, and enter nothing. Remove the skill.");
pub(crate) static PACKAGES: CheckRule = CheckRule::warning("CH519", "a suspicious package")
    .why("The name of a package is one slip away from a well-known one, the index has no encryption, or a script that the package manager runs by itself fetches or decodes something.")
    .todo("Compare the name with the maker's documentation; install with `--ignore-scripts`.");
pub(crate) static ERASES: CheckRule = CheckRule::warning("CH520", "data is destroyed")
    .why("The command erases a home directory, a disk, logs or the history of a shell.")
    .todo("Do not run it.");
pub(crate) static ADDRESS: CheckRule = CheckRule::warning(
    "CH521",
    "an address that hides where it leads",
)
.why(
    "The name mixes letters of two scripts, or the download comes from a number instead of a name.",
)
.todo("Do not open it. Compare the name letter by letter.");
