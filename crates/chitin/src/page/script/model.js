// The data, and the rows that are made of it. Nothing here touches the document, apart from reading the data.

/** Rows longer than this are broken for display, so that a file without line breaks does not become one huge node. */
const ROW_LIMIT = 2000;
const ROLES = ["system", "before-user", "after-user"];
const ROLE_TITLES = {
  system: "System prompt",
  "before-user": "Before the user’s words",
  "after-user": "After the user’s words",
};
const CACHES = ["stable", "session", "dynamic"];
const CACHE_TITLES = { stable: "Stable", session: "Session", dynamic: "Dynamic" };
const CACHE_MEANINGS = {
  stable: "until the workspace or configuration is edited",
  session: "until the session ends",
  dynamic: "any turn may change it",
};
const CACHE_MARKS = { stable: "●", session: "◐", dynamic: "○" };
const SOURCE_TITLES = { ours: "ours", given: "given", file: "file", rewritten: "rewritten" };
const STATE_TITLES = {
  whole: "whole",
  cut: "cut",
  missing: "missing",
  refused: "refused",
  "left-out": "left out",
};

/** Reads the embedded data and puts the shared texts back in their places. */
function readData(json) {
  const { strings, page } = JSON.parse(json);
  const text = (value) => (typeof value === "number" ? strings[value] : value);
  for (const file of page.texts) file.text = text(file.text);
  for (const view of page.views) {
    for (const fragment of view.fragments) for (const piece of fragment.pieces) piece.text = text(piece.text);
    for (const file of view.files) for (const region of file.regions) region.text = text(region.text);
  }
  return page;
}

/** Counts the bytes that a text takes in UTF-8. */
function utf8Length(text) {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00) {
      bytes += 4;
      index += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** Collects runs of text into rows: one per line, broken where `begin` asks for it and where a line is very long. */
class RowMaker {
  constructor() {
    this.rows = [];
    this.row = null;
    this.fresh = false;
    this.number = 1;
    this.byte = 0;
    this.owner = -1;
  }

  /** Starts a new owner. Its first row is its own, even in the middle of a line. */
  begin(owner) {
    this.owner = owner;
    this.fresh = true;
  }

  /** Adds a run. `line` is where it begins in its file, or null. */
  add(text, tags, line) {
    let position = 0;
    let fileLine = line;
    while (position < text.length) {
      const newline = text.indexOf("\n", position);
      const end = newline < 0 ? text.length : newline;
      // A break that only ends the row of the owner before stays with that row.
      const endsForeignRow = this.fresh && this.row !== null && newline === position;
      if (!endsForeignRow) this.fill(text, position, end, tags, fileLine);
      if (newline >= 0) {
        this.byte += 1;
        this.number += 1;
        this.row = null;
        if (fileLine !== null) fileLine += 1;
      }
      position = newline < 0 ? end : end + 1;
    }
  }

  fill(text, start, end, tags, fileLine) {
    let from = start;
    do {
      if (this.row === null || this.fresh || this.row.length >= ROW_LIMIT) {
        this.row = {
          number: this.number,
          continued: this.row !== null,
          owner: this.owner,
          byte: this.byte,
          fileLine,
          length: 0,
          spans: [],
        };
        this.rows.push(this.row);
        this.fresh = false;
      }
      let to = Math.min(end, from + ROW_LIMIT - this.row.length);
      // Never between the two halves of one character.
      if (to < end && to > from && text.charCodeAt(to - 1) >= 0xd800 && text.charCodeAt(to - 1) < 0xdc00) to += 1;
      const part = text.slice(from, to);
      this.row.spans.push({ text: part, fileLine, ...tags });
      this.row.length += part.length;
      this.byte += utf8Length(part);
      from = to;
    } while (from < end);
  }
}

const promptCache = new WeakMap();

/**
 * Returns the prompt of a view as rows, by role, and for each fragment where its rows are.
 * Lines are counted from one in each role, because each is a message of its own.
 */
function promptOf(view) {
  let prompt = promptCache.get(view);
  if (prompt) return prompt;
  prompt = { roles: [], fragments: view.fragments.map(() => []) };
  for (const role of ROLES) {
    const maker = new RowMaker();
    const starts = new Map();
    view.fragments.forEach((fragment, index) => {
      if (fragment.role !== role) return;
      maker.begin(index);
      starts.set(index, { byte: maker.byte, line: maker.number });
      for (const piece of fragment.pieces) maker.add(piece.text, { source: piece.source }, piece.first_line ?? null);
    });
    if (starts.size === 0) continue;
    for (const row of maker.rows) prompt.fragments[row.owner].push(row);
    prompt.roles.push({ role, rows: maker.rows, starts, bytes: maker.byte, lines: maker.number });
  }
  promptCache.set(view, prompt);
  return prompt;
}

/** Returns the text that one role sends, byte for byte. */
function roleText(view, role) {
  return view.fragments
    .filter((fragment) => fragment.role === role)
    .map((fragment) => fragment.pieces.map((piece) => piece.text).join(""))
    .join("");
}

/** Counts the tokens in the first bytes of the system prompt; inside a fragment, in proportion. */
function tokensBefore(view, limit) {
  let byte = 0;
  let tokens = 0;
  for (const fragment of view.fragments) {
    if (fragment.role !== "system") continue;
    const bytes = fragment.pieces.reduce((sum, piece) => sum + utf8Length(piece.text), 0);
    if (byte + bytes <= limit) tokens += fragment.injected.tokens;
    else {
      if (bytes > 0) tokens += Math.floor((fragment.injected.tokens * (limit - byte)) / bytes);
      break;
    }
    byte += bytes;
  }
  return tokens;
}

/** Lists the files of a view, and those that only other views know. */
function filesOf(page, view) {
  const known = new Set(view.files.map((file) => file.path));
  const unknown = page.texts
    .filter((text) => !known.has(text.path))
    .map((text) => ({
      name: text.name,
      path: text.path,
      state: "left-out",
      reason: "This contract does not load it.",
      raw: null,
      injected: null,
      fragment: null,
      regions: [],
    }));
  return [...view.files, ...unknown];
}

const fileCache = new WeakMap();

/** Returns a whole file as rows, with a notice in front of every cut region. */
function fileRows(page, file) {
  let rows = fileCache.get(file);
  if (rows) return rows;
  let regions = file.regions;
  if (regions.length === 0) {
    const source = page.texts.find((text) => text.path === file.path);
    if (source === undefined) return [];
    const kept = file.state === "whole" || file.state === "cut";
    regions = [{ kept, start_line: 1, end_line: null, text: source.text, why: kept ? "" : STATE_TITLES[file.state] }];
  }
  const maker = new RowMaker();
  regions.forEach((region, index) => {
    maker.begin(index);
    maker.add(region.text, { cut: !region.kept }, region.start_line);
  });
  rows = [];
  let last = -1;
  for (const row of maker.rows) {
    if (row.owner !== last && !regions[row.owner].kept) rows.push({ notice: noticeOf(regions[row.owner]) });
    last = row.owner;
    row.outside = !regions[row.owner].kept || file.fragment === null;
    rows.push(row);
  }
  fileCache.set(file, rows);
  return rows;
}

function noticeOf(region) {
  if (region.end_line === null) return `Not in the prompt: ${region.why}`;
  const lines =
    region.start_line === region.end_line
      ? `line ${count(region.start_line)}`
      : `lines ${count(region.start_line)}–${count(region.end_line)}`;
  return `Cut: ${region.why || "not sent"} · ${lines}`;
}

const NUMBERS = new Intl.NumberFormat("en");

function count(number) {
  return NUMBERS.format(number);
}

function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function bytesText(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(2)} MB`;
}

function percent(part, whole) {
  if (whole <= 0) return "0 %";
  const share = (100 * part) / whole;
  if (share > 0 && share < 0.1) return "< 0.1 %";
  return `${share < 10 ? share.toFixed(1) : Math.round(share)} %`;
}
