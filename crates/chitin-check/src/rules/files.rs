//! Rules about the check itself, files, the form of text, and budgets.

use super::CheckRule;

pub(crate) static BOUND_REACHED: CheckRule = CheckRule::warning("CH001", "the check stopped at a limit")
    .why("A run checks a limited number of files and bytes, so that no tree can keep it busy forever. The rest was not checked.")
    .todo("Check a smaller directory, or move files that do not belong to the agent out of the workspace.");
pub(crate) static MORE_FINDINGS: CheckRule =
    CheckRule::info("CH002", "more findings than are listed")
        .why("After a hundred findings in one file the rest are only counted.")
        .todo("Fix the listed findings first, then run the check again.");
pub(crate) static UNKNOWN_ALLOW: CheckRule =
    CheckRule::warning("CH003", "a comment allows an unknown code")
        .why("A comment that suppresses a finding names an unknown code, so it has no effect.")
        .todo("Correct the code, or remove the comment.");

pub(crate) static REFUSED: CheckRule = CheckRule::error("CH101", "a file exists and was refused")
    .why("The guard refuses a file that a link, a hard link or its type puts outside the workspace. The agent runs without it.")
    .todo("Replace it by a plain file.");
pub(crate) static OVERSIZE: CheckRule =
    CheckRule::warning("CH102", "a file is larger than the limit")
        .why("Only the beginning of the file, up to the limit of the contract, was read.")
        .todo(
            "Split the file, or move rarely needed text into files that the agent reads on demand.",
        );
pub(crate) static UNREADABLE: CheckRule = CheckRule::error("CH103", "a file cannot be read")
    .why("The operating system does not let this user read the file.")
    .todo("Give the user who runs the agent read permission.");
pub(crate) static MISSING: CheckRule = CheckRule::info("CH104", "a standard file is missing")
    .why("The contract looks for the file on every load and tells the model that it is missing.")
    .todo("Create it with `chitin init`, which writes only missing files.");
pub(crate) static NO_DIRECTORY: CheckRule =
    CheckRule::error("CH105", "the workspace does not exist")
        .why("There is no directory at the path, so there is nothing to load.")
        .todo("Create it with `chitin init`, or name another directory.");
pub(crate) static NO_AGENTS: CheckRule = CheckRule::warning("CH106", "there is no `AGENTS.md`")
    .why("A directory is recognised as an OpenClaw workspace by its `AGENTS.md`. Without it the bridge does not claim the directory, and the agent has no operating rules.")
    .todo("Create it with `chitin init`, or write one by hand.");
pub(crate) static TWO_MEMORIES: CheckRule = CheckRule::warning("CH107", "there are two memory files")
    .why("Both `MEMORY.md` and `memory.md` exist. Some contracts load both, others only the first, so the agent's memory depends on the runtime.")
    .todo("Move the text of `memory.md` into `MEMORY.md` and delete the former.");
pub(crate) static CASE_VARIANT: CheckRule = CheckRule::warning("CH108", "a known name in different case")
    .why("Names are case-sensitive. A file such as `agents.md` is not loaded on a case-sensitive file system.")
    .todo("Rename the file to the exact name.");
pub(crate) static MISPLACED: CheckRule = CheckRule::info("CH109", "a known name in a subdirectory")
    .why("Only files in the root of the workspace are loaded. A copy in a subdirectory is not, unless configuration names it.")
    .todo("Move it to the root of the workspace, or leave it if the agent should read it on demand.");
pub(crate) static OTHERS_WRITE: CheckRule = CheckRule::warning("CH110", "everyone can write")
    .why("Any user of the machine can change what the agent is told.")
    .todo("Remove the permission: `chmod o-w`, or `--fix`.")
    .fixable();
pub(crate) static GROUP_WRITES: CheckRule = CheckRule::info("CH111", "the group can write")
    .why("Every member of the file's group can change what the agent is told. Harmless if each user has their own group.")
    .todo("Remove the permission unless it is intended: `chmod g-w`, or `--fix`.")
    .fixable();
pub(crate) static NOT_LOADED: CheckRule = CheckRule::info("CH112", "a known file that this contract does not load")
    .why("Other releases load the file; the contract of this check does not, so its text does not reach the model unless the agent reads it.")
    .todo("Move important text into a file that is loaded, or check under another contract.");
pub(crate) static OTHER_ADAPTER: CheckRule = CheckRule::info("CH113", "another adapter reads the directory")
    .why("The directory is not an OpenClaw workspace: the fallback reads its `README.md` as the operating rules, or a plugin's adapter reads it. The check covers what that adapter passes to the model.")
    .todo("Nothing, if this is intended. `chitin init` turns the directory into an OpenClaw workspace.");

pub(crate) static INVALID_UTF8: CheckRule = CheckRule::error("CH201", "bytes that are not UTF-8")
    .why("Every byte that is not UTF-8 reaches the model as U+FFFD.")
    .todo("Save the file as UTF-8.");
pub(crate) static BYTE_ORDER_MARK: CheckRule = CheckRule::warning("CH202", "a byte order mark")
    .why("The mark is invisible, costs budget and hides front matter from programs that look for it in the first column.")
    .todo("Save the file as UTF-8 without a mark, or use `--fix`.")
    .fixable();
pub(crate) static NUL_BYTES: CheckRule = CheckRule::warning("CH203", "NUL characters")
    .why("Some programs stop reading at a NUL, so people and models see different text.")
    .todo("Remove them.");
pub(crate) static CARRIAGE_RETURNS: CheckRule = CheckRule::info("CH204", "lines end in CRLF")
    .why("The carriage returns reach the model and count against the budget.")
    .todo("Save the file with LF line endings.");
pub(crate) static UNCLOSED_FRONT_MATTER: CheckRule = CheckRule::warning("CH205", "front matter is not closed")
    .why("The file starts with `---` and fields, and no later line is `---`. The block is then ordinary text.")
    .todo("Close the block with a line `---`.");
pub(crate) static ODD_FRONT_MATTER: CheckRule = CheckRule::warning("CH206", "front matter is not YAML")
    .why("The text between a first line `---` and the next one is treated as front matter. This block has lines that are not fields: either invalid YAML, or prose that is lost.")
    .todo("Write `key: value` lines, quote values that contain `: `, or put a blank line before the first `---` if it is a rule.");

pub(crate) static OVER_BUDGET: CheckRule = CheckRule::warning("CH301", "a file is over its budget")
    .why("A longer text is truncated in the middle before the model sees it. Length is counted in UTF-16 units.")
    .todo("Shorten the file, or move detail into files that the agent reads on demand.");
pub(crate) static NEAR_BUDGET: CheckRule = CheckRule::info("CH302", "a file is near its budget")
    .why("The file has reached 85 % of the limit for one file.")
    .todo("Shorten it before it is truncated.");
pub(crate) static OVER_TOTAL: CheckRule = CheckRule::warning(
    "CH303",
    "all files together are over the budget",
)
.why("Budgets are spent in load order. Once the total is used up, later files are truncated or omitted.")
.todo("Shorten the largest files.");
pub(crate) static NEAR_TOTAL: CheckRule =
    CheckRule::info("CH304", "all files together are near the budget")
        .why("The files have reached 85 % of the limit for all files.")
        .todo("Shorten the largest files before later ones are truncated.");
pub(crate) static SHORTENED: CheckRule = CheckRule::warning("CH305", "your settings shorten a file")
    .why("`budget` or `smallWindow` in `chitin.json5` leaves out some or all of the file. `chitin context` shows what is left.")
    .todo("Shorten the file, raise the limit, or change the plan.");
