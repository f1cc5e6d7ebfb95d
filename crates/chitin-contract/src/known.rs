//! What is meant to differ between a contract and the release that it follows, with the reason.
//!
//! `chitin contracts NAME` prints it, and `scripts/record-openclaw` explains a difference only by a key that is listed here.

use super::Contract;
use serde::Serialize;

/// Something that a release does and its contract does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KnownDifference {
    /// Its name for programs.
    pub key: &'static str,
    /// What the release does.
    pub release: &'static str,
    /// What we do instead.
    pub ours: &'static str,
    /// Why.
    pub reason: &'static str,
    #[serde(skip)]
    contracts: &'static [&'static str],
}

const A: &str = "openclaw-2026.4";
const B8: &str = "openclaw-2026.8";
const B: &str = "openclaw-2026.9";
const ALL_RELEASES: &[&str] = &["openclaw-2026.2", A, B8, B];

/// All of them; each names its contracts.
const KNOWN: &[KnownDifference] = &[
    KnownDifference {
        key: "internal-markers",
        release: "leaves marks for its own use in the request: the cache boundary, comments around the halves of the system prompt",
        ours: "no such mark is sent",
        reason: "they mean nothing to a model and cost tokens",
        contracts: ALL_RELEASES,
    },
    KnownDifference {
        key: "boundary-in-file",
        release: "sends a line of a workspace file that reads like its cache boundary",
        ours: "that line is taken out, wherever it is",
        reason: "a file must not be able to move the place where caching ends",
        contracts: ALL_RELEASES,
    },
    KnownDifference {
        key: "own-sections",
        release: "describes itself in sections of its own words, also on documentation, updates and tools that only it has",
        ours: "sections of the same name and place in our words; those on what we do not have are left out",
        reason: "each program describes itself, and sentences of another program are not carried over",
        contracts: ALL_RELEASES,
    },
    KnownDifference {
        key: "own-tools",
        release: "offers its own tools, with its own notes in their results",
        ours: "ours",
        reason: "a definition of a tool is the interface of the program that runs it",
        contracts: ALL_RELEASES,
    },
    KnownDifference {
        key: "masked-secrets",
        release: "masks in tool results what looks like a secret to it, from 2026.8 on: names of variables in headers too; 2026.4 masks nothing there",
        ours: "the keys that it knows and the shapes of well-known services' keys are masked, with a mark of its own, and nothing else",
        reason: "a model that is shown a mask in place of a variable's name writes the mask into the file",
        contracts: ALL_RELEASES,
    },
    KnownDifference {
        key: "read-pages",
        release: "reads a long file in pages: 2026.4 puts an empty line between them that the file does not have, later ones end where a result has to end",
        ours: "one piece of the file as it is, shortened as the result of any tool is",
        reason: "where to read on is the affair of the tool that offers it, and a file is shown as it is",
        contracts: &[A, B8, B],
    },
    KnownDifference {
        key: "machine-facts",
        release: "names host, Node.js version and default model in the line about the runtime",
        ours: "program, system and model",
        reason: "each program describes itself; a host name is nobody else's business",
        contracts: ALL_RELEASES,
    },
    KnownDifference {
        key: "cache-breakpoints",
        release: "without its plugin for Anthropic, sends the system prompt there as one block and marks the last tool; with it, as ours",
        ours: "two blocks, the first marked up to where the prompt changes from turn to turn; no mark at the tools",
        reason: "the recorded requests are those of the plugin, and with one block every new date is a whole new prompt to pay for",
        contracts: &[A],
    },
    KnownDifference {
        key: "runtime-facts",
        release: "adds a message of its own after the user's, about commands and subagents that run",
        ours: "no such message; `process` and `subagents` answer when they are asked",
        reason: "facts of its runtime, in its words",
        contracts: &[B8, B],
    },
    KnownDifference {
        key: "summary-words",
        release: "asks for a summary, introduces it and adds to it in its own words",
        ours: "the same headings and parts in our words; which messages a summary stands for and which stay is the same",
        reason: "sentences of another program are not carried over",
        contracts: &[A, B8, B],
    },
    KnownDifference {
        key: "compaction-time",
        release: "compacts a conversation at the end of the turn whose reply says that the window is full",
        ours: "before the next request, as later releases do; what is kept is the same",
        reason: "a conversation that is not continued needs no summary",
        contracts: &[A],
    },
    KnownDifference {
        key: "compaction-in-turn",
        release: "looks at the count of tokens of a turn's last reply only",
        ours: "at the last count before each request, so that a turn with many tool calls makes room too",
        reason: "a turn that calls tools can fill the window by itself",
        contracts: &[A],
    },
    KnownDifference {
        key: "memory-flush",
        release: "asks the model to write notes before a compaction only while its memory plugin is on",
        ours: "always, unless `agents.defaults.compaction.memoryFlush` turns it off",
        reason: "memory is part of the program here, and what is summarised would be lost to it",
        contracts: &[A],
    },
    KnownDifference {
        key: "indexed-projects",
        release: "can add notes of the project at hand that its memory plugin has indexed",
        ours: "the notes of `MEMORY.md` that are marked for the project, and what memory search finds",
        reason: "the index is the plugin's own, and not in the workspace",
        contracts: &[B8, B],
    },
    KnownDifference {
        key: "compaction-failure",
        release: "ends a turn without asking the model if compaction fails, if its summary lacks something, or if there is still too much by an estimate with a margin",
        ours: "less is kept, or the summary is made of the records, and the model is asked",
        reason: "the user gets a reply where there can be one, and the provider knows what fits",
        contracts: &[A, B8, B],
    },
    KnownDifference {
        key: "shortened-results",
        release: "rewrites tool results in the transcript when a message would not fit",
        ours: "they are shortened in the requests of that turn, and again on later turns that would not fit",
        reason: "a transcript only grows: nothing in it is ever changed",
        contracts: &[A],
    },
    KnownDifference {
        key: "mid-turn-precheck",
        release: "with `agents.defaults.compaction.midTurnPrecheck`, which is off by default, estimates each request of a turn before it is sent",
        ours: "the setting has no effect; the tokens that the provider counted are looked at before each request",
        reason: "what a provider counted is truer than an estimate",
        contracts: &[B8, B],
    },
    KnownDifference {
        key: "linked-workspace",
        release: "reads files that are links if the workspace itself is reached through a link, and refuses them otherwise",
        ours: "they are refused in both cases",
        reason: "an oversight of the release, mended in 2026.9",
        contracts: &[B8],
    },
    KnownDifference {
        key: "unrecorded-rules",
        release: "has rules of configuration, memory, queues and history of its own",
        ours: "those of 2026.9",
        reason: "they were not recorded apart",
        contracts: &[B8],
    },
];

/// Returns what is meant to differ between a contract and its release; nothing for contracts that follow none.
pub fn known_differences(contract: &Contract) -> Vec<&'static KnownDifference> {
    let known = KNOWN.iter();
    known
        .filter(|one| one.contracts.contains(&contract.name))
        .collect()
}
