// A small Markdown reader. It makes a tree of plain data; nothing of a text ever becomes HTML by itself.

export type Inline =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "emphasis" | "deleted"; children: Inline[] }
  | { kind: "link"; href: string; children: Inline[] }
  | { kind: "break" };

export type Block =
  | { kind: "paragraph"; children: Inline[] }
  | { kind: "heading"; level: number; children: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; children: Block[] }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

/** How deep quotes, lists and emphasis may lie in each other; what is deeper is shown as it is written. */
const DEEPEST = 8;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(\s+|$)/;
const DELIMITER = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** Reads a text. */
export function readMarkdown(text: string): Block[] {
  return readBlocks(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

function readBlocks(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const fence = FENCE.exec(line);
    if (fence) {
      const [block, next] = readFence(lines, at, fence[1] ?? "```", fence[2] ?? "");
      blocks.push(block);
      at = next;
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading) {
      blocks.push({ kind: "heading", level: heading[1]?.length ?? 1, children: readInline(heading[2] ?? "") });
      at += 1;
      continue;
    }
    if (RULE.test(line)) {
      blocks.push({ kind: "rule" });
      at += 1;
      continue;
    }
    if (/^ {0,3}>/.test(line) && depth < DEEPEST) {
      const end = endOf(lines, at, (other) => /^ {0,3}>/.test(other));
      const inner = lines.slice(at, end).map((one) => one.replace(/^ {0,3}> ?/, ""));
      blocks.push({ kind: "quote", children: readBlocks(inner, depth + 1) });
      at = end;
      continue;
    }
    if (ITEM.test(line) && depth < DEEPEST) {
      const [block, next] = readList(lines, at, depth);
      blocks.push(block);
      at = next;
      continue;
    }
    if (line.includes("|") && DELIMITER.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
      const end = endOf(lines, at + 2, (other) => other.includes("|"));
      const cells = (row: string): Inline[][] => splitRow(row).map((cell) => readInline(cell));
      blocks.push({ kind: "table", head: cells(line), rows: lines.slice(at + 2, end).map(cells) });
      at = end;
      continue;
    }
    const end = Math.max(at + 1, endOf(lines, at + 1, (other) => other.trim() !== "" && !beginsBlock(other)));
    blocks.push({ kind: "paragraph", children: readInline(lines.slice(at, end).join("\n")) });
    at = end;
  }
  return blocks;
}

function beginsBlock(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || /^ {0,3}>/.test(line) || /^ {0,3}([-*+]|\d{1,9}[.)])\s/.test(line);
}

function endOf(lines: string[], from: number, belongs: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && belongs(lines[end] ?? "")) end += 1;
  return end;
}

/** A fence that is never closed holds the rest: so it looks while a model still writes it. */
function readFence(lines: string[], at: number, mark: string, language: string): [Block, number] {
  const closes = (line: string): boolean => {
    const trimmed = line.trim();
    return trimmed.length >= mark.length && trimmed === (mark[0] ?? "`").repeat(trimmed.length);
  };
  const end = endOf(lines, at + 1, (line) => !closes(line));
  return [{ kind: "code", language, text: lines.slice(at + 1, end).join("\n") }, end + 1];
}

function readList(lines: string[], at: number, depth: number): [Block, number] {
  const first = ITEM.exec(lines[at] ?? "");
  const indent = first?.[1]?.length ?? 0;
  const marker = first?.[2] ?? "-";
  const ordered = /\d/.test(marker);
  const items: Block[][] = [];
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next] ?? "");
    if (!item || (item[1]?.length ?? 0) < indent || /\d/.test(item[2] ?? "") !== ordered) break;
    const inside = (item[1]?.length ?? 0) + (item[2]?.length ?? 0) + Math.max(1, Math.min(4, item[3]?.length ?? 1));
    const own = [(lines[next] ?? "").slice(inside)];
    next += 1;
    while (next < lines.length) {
      const line = lines[next] ?? "";
      const blank = line.trim() === "";
      const deeper = (/^ */.exec(line)?.[0].length ?? 0) > indent;
      const goesOn = !blank && !ITEM.test(line) && (lines[next - 1] ?? "").trim() !== "" && !beginsBlock(line);
      if (!(blank ? /^ /.test(lines[next + 1] ?? "") : deeper || goesOn)) break;
      own.push(line.slice(Math.min(inside, /^ */.exec(line)?.[0].length ?? 0)));
      next += 1;
    }
    items.push(readBlocks(own, depth + 1));
    while (next + 1 < lines.length && (lines[next] ?? "").trim() === "" && ITEM.test(lines[next + 1] ?? "")) next += 1;
  }
  return [{ kind: "list", ordered, start: ordered ? Number.parseInt(marker, 10) : 1, items }, Math.max(next, at + 1)];
}

function splitRow(row: string): string[] {
  const cells: string[] = [];
  let cell = "";
  const inner = row.trim().replace(/^\|/, "").replace(/\|$/, "");
  for (let at = 0; at < inner.length; at += 1) {
    if (inner[at] === "\\" && inner[at + 1] === "|") {
      cell += "|";
      at += 1;
    } else if (inner[at] === "|") {
      cells.push(cell.trim());
      cell = "";
    } else {
      cell += inner[at];
    }
  }
  return [...cells, cell.trim()];
}

/** Returns an address that a link may lead to, or null: only the web and mail, never a script. */
export function safeAddress(address: string): string | null {
  try {
    const url = new URL(address);
    return ["https:", "http:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

const MARKS: [string, "strong" | "emphasis" | "deleted"][] = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "deleted"],
  ["*", "emphasis"],
  ["_", "emphasis"],
];
const ADDRESS = /^https?:\/\/[^\s<>"'`\])}]+[^\s<>"'`\])}.,;:!?]/;

/** How far the other end of a mark is looked for, so that a hostile text costs no more than a friendly one. */
const FURTHEST = 4096;

function find(text: string, mark: string, from: number): number {
  const at = text.slice(from, from + FURTHEST).indexOf(mark);
  return at < 0 ? -1 : from + at;
}

/** Reads what stands inside a line. */
export function readInline(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  let plain = "";
  const flush = (): void => {
    if (plain) out.push({ kind: "text", text: plain });
    plain = "";
  };
  const put = (inline: Inline): void => {
    flush();
    out.push(inline);
  };
  let at = 0;
  while (at < text.length) {
    const here = text[at] ?? "";
    if (here === "\\" && /[\\`*_{}[\]()#+\-.!|~<>]/.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
    } else if (here === "\n") {
      plain = plain.trimEnd();
      put({ kind: "break" });
      at += 1;
    } else if (here === "`") {
      const mark = /^`+/.exec(text.slice(at, at + 64))?.[0] ?? "`";
      const end = find(text, mark, at + mark.length);
      if (end < 0) plain += mark;
      else put({ kind: "code", text: text.slice(at + mark.length, end).replace(/^ (.*) $/, "$1") });
      at = end < 0 ? at + mark.length : end + mark.length;
    } else if (here === "[" && depth < DEEPEST) {
      const link = readLink(text, at, depth);
      if (link) put(link.inline);
      else plain += here;
      at = link ? link.end : at + 1;
    } else if (here === "h" && !/\w/.test(text[at - 1] ?? "") && ADDRESS.test(text.slice(at, at + 2048))) {
      const address = ADDRESS.exec(text.slice(at, at + 2048))?.[0] ?? "";
      const href = safeAddress(address);
      if (href) put({ kind: "link", href, children: [{ kind: "text", text: address }] });
      else plain += address;
      at += address.length;
    } else {
      const marked = depth < DEEPEST ? readMarked(text, at, depth) : null;
      if (marked) put(marked.inline);
      else plain += here;
      at = marked ? marked.end : at + 1;
    }
  }
  flush();
  return out;
}

function readLink(text: string, at: number, depth: number): { inline: Inline; end: number } | null {
  const close = find(text, "](", at);
  const end = close < 0 ? -1 : find(text, ")", close);
  if (end < 0) return null;
  const href = safeAddress(text.slice(close + 2, end).split(/\s/)[0] ?? "");
  const label = text.slice(at + 1, close);
  if (!href || label.includes("[")) return null;
  return { inline: { kind: "link", href, children: readInline(label, depth + 1) }, end: end + 1 };
}

function readMarked(text: string, at: number, depth: number): { inline: Inline; end: number } | null {
  for (const [mark, kind] of MARKS) {
    if (!text.startsWith(mark, at)) continue;
    const after = text[at + mark.length] ?? " ";
    // Marks that stand free, or inside a word as in `snake_case`, mean nothing.
    if (/\s/.test(after) || (mark.startsWith("_") && /\w/.test(text[at - 1] ?? ""))) return null;
    let end = find(text, mark, at + mark.length + 1);
    if (mark === "*" && end >= 0 && text[end + 1] === "*") end = find(text, mark, end + 2);
    if (end < 0 || /\s/.test(text[end - 1] ?? "")) continue;
    if (mark.startsWith("_") && /\w/.test(text[end + mark.length] ?? "")) continue;
    return { inline: { kind, children: readInline(text.slice(at + mark.length, end), depth + 1) }, end: end + mark.length };
  }
  return null;
}
