//! Rules about the check itself, files, the form of text, and budgets.

use super::Rule;

pub(crate) static BOUND_REACHED: Rule = Rule::warning("CH001", "the check stopped at a bound")
    .why("A run looks at a bounded number of files and bytes, so that no tree can keep it busy for ever. What lies beyond was not looked at.")
    .todo("Check a smaller directory, or move what is no text of the agent out of the workspace.");
pub(crate) static MORE_FINDINGS: Rule = Rule::info("CH002", "more findings than are listed")
    .why("After a hundred findings in one file the rest are only counted.")
    .todo("Mend the listed findings first, then run the check again.");
pub(crate) static UNKNOWN_ALLOW: Rule = Rule::warning("CH003", "a comment allows an unknown code")
    .why("A comment that lets a finding pass names a code that does not exist, so it does nothing.")
    .todo("Correct the code, or remove the comment.");

pub(crate) static REFUSED: Rule = Rule::error("CH101", "a file is there and was refused")
    .why("The guard does not hand out a file that a link, a second name or its kind puts outside the workspace. The agent runs without it.")
    .todo("Put a plain file in its place.");
pub(crate) static OVERSIZE: Rule = Rule::warning("CH102", "a file is larger than is read")
    .why("Only the beginning of the file, up to the bound of the contract, was read.")
    .todo(
        "Split the file, or move what is rarely needed into files that the agent reads on demand.",
    );
pub(crate) static UNREADABLE: Rule = Rule::error("CH103", "a file cannot be read")
    .why("The operating system does not let this user read the file.")
    .todo("Give the user who runs the agent the right to read it.");
pub(crate) static MISSING: Rule = Rule::info("CH104", "a usual file is missing")
    .why("The contract looks for the file on every load and notes its absence for the model.")
    .todo("Create it with `chitin init`, which writes only what is absent.");
pub(crate) static NO_DIRECTORY: Rule = Rule::error("CH105", "the workspace does not exist")
    .why("There is no directory at the path, so there is nothing to load.")
    .todo("Create it with `chitin init`, or name another directory.");
pub(crate) static NO_AGENTS: Rule = Rule::warning("CH106", "there is no `AGENTS.md`")
    .why("A directory counts as an OpenClaw workspace by its `AGENTS.md`. Without it the bridge does not claim the directory, and the agent has no operating rules.")
    .todo("Create it with `chitin init`, or write one by hand.");
pub(crate) static TWO_MEMORIES: Rule = Rule::warning("CH107", "there are two memory files")
    .why("`MEMORY.md` and `memory.md` are both there. Some contracts load both, others only the first, so what the agent remembers depends on the runtime.")
    .todo("Move the text of `memory.md` into `MEMORY.md` and delete the former.");
pub(crate) static CASE_VARIANT: Rule = Rule::warning("CH108", "a known name in other letters")
    .why("Names are compared letter by letter. A file such as `agents.md` is never loaded where letter case matters.")
    .todo("Rename the file to the exact name.");
pub(crate) static MISPLACED: Rule = Rule::info("CH109", "a known name in a sub-folder")
    .why("Only files directly in the workspace are loaded. A copy below is not, unless configuration names it.")
    .todo("Move it to the top of the workspace, or leave it if it is meant for reading on demand.");
pub(crate) static OTHERS_WRITE: Rule = Rule::warning("CH110", "everybody may write")
    .why("Any user of the machine can change what the agent is told.")
    .todo("Take the right away: `chmod o-w`; `--fix` does it.")
    .fixable();
pub(crate) static GROUP_WRITES: Rule = Rule::info("CH111", "the group may write")
    .why("Every member of the file's group can change what the agent is told. Harmless where each user has a group of their own.")
    .todo("Take the right away unless it is meant: `chmod g-w`; `--fix` does it.")
    .fixable();
pub(crate) static NOT_LOADED: Rule = Rule::info("CH112", "a known file that this contract does not load")
    .why("Other releases load the file; the contract of this check does not, so its text never reaches the model by itself.")
    .todo("Move what matters into a file that is loaded, or check under another contract.");
pub(crate) static OTHER_ADAPTER: Rule = Rule::info("CH113", "another adapter reads the directory")
    .why("The directory is not an OpenClaw workspace: the fallback reads its `README.md` as the operating rules, or an adapter of a plugin makes an agent of it. The check judges what that adapter gives to the model.")
    .todo("Nothing, if that is meant. `chitin init` makes an OpenClaw workspace of the directory.");

pub(crate) static INVALID_UTF8: Rule = Rule::error("CH201", "bytes that are not UTF-8")
    .why("Every byte that is not UTF-8 reaches the model as U+FFFD.")
    .todo("Save the file as UTF-8.");
pub(crate) static BYTE_ORDER_MARK: Rule = Rule::warning("CH202", "a byte order mark")
    .why("The mark is invisible, costs budget and hides front matter from programs that look for it in the first column.")
    .todo("Save the file as UTF-8 without a mark; `--fix` does it.")
    .fixable();
pub(crate) static NUL_BYTES: Rule = Rule::warning("CH203", "NUL characters")
    .why("Text has no use for NUL; some programs stop reading there, so people and models see different text.")
    .todo("Remove them.");
pub(crate) static CARRIAGE_RETURNS: Rule = Rule::info("CH204", "lines end in CRLF")
    .why("The carriage returns reach the model and count against the budget.")
    .todo("Save the file with LF line ends.");
pub(crate) static UNCLOSED_FRONT_MATTER: Rule = Rule::warning("CH205", "front matter is not closed")
    .why("The file begins with `---` and fields, and no later line is `---`. The block is then ordinary text.")
    .todo("Close the block with a line `---`.");
pub(crate) static ODD_FRONT_MATTER: Rule = Rule::warning("CH206", "front matter is not YAML")
    .why("Whatever stands between a first line `---` and the next one is taken for front matter. This block has lines that are no fields: either YAML with a mistake, or prose that is lost.")
    .todo("Write `key: value` lines, quote values that hold `: `, or put a blank line before the first `---` if it is a rule.");

pub(crate) static OVER_BUDGET: Rule = Rule::warning("CH301", "a file is over its budget")
    .why("A longer text is cut in the middle before the model sees it. Length counts UTF-16 units of what is embedded.")
    .todo("Shorten the file, or move detail into files that the agent reads on demand.");
pub(crate) static NEAR_BUDGET: Rule = Rule::info("CH302", "a file is near its budget")
    .why("The file has reached 85 % of what a file may have.")
    .todo("Shorten it before it is cut.");
pub(crate) static OVER_TOTAL: Rule = Rule::warning(
    "CH303",
    "all files together are over the budget",
)
.why("Budgets are spent in load order. Once the total is used up, later files are cut or left out.")
.todo("Shorten the largest files.");
pub(crate) static NEAR_TOTAL: Rule = Rule::info("CH304", "all files together are near the budget")
    .why("The files have reached 85 % of what all of them may have.")
    .todo("Shorten the largest files before later ones are cut.");
pub(crate) static SHORTENED: Rule = Rule::warning("CH305", "your settings shorten a file")
    .why("`budget` or `smallWindow` in `chitin.json5` leaves out some or all of the file. `chitin context` shows what is left.")
    .todo("Shorten the file, raise the limit, or change the plan.");
