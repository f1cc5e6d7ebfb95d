// Building elements, and showing long texts without filling the document with them.

/** Makes an element. Values from the data only ever become text or attribute values, never markup. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Turns a sentence into nodes; what stands in backticks becomes code. */
function prose(text) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? make("code", {}, part) : part));
}

function byId(id) {
  return document.getElementById(id);
}

/** Turns a row of buttons into tabs: one stop for Tab, arrows to move, `choose(index)` when one is chosen. */
function wireTabs(list, choose) {
  list.addEventListener("keydown", (event) => {
    const tabs = [...list.querySelectorAll('[role="tab"]')].filter((tab) => !tab.hidden);
    const at = tabs.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    let next = null;
    if (step) next = tabs[(at + step + tabs.length) % tabs.length];
    if (event.key === "Home") next = tabs[0];
    if (event.key === "End") next = tabs[tabs.length - 1];
    if (!next || at < 0) return;
    event.preventDefault();
    next.focus();
    choose(next);
  });
  list.addEventListener("click", (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) choose(tab);
  });
}

function markTab(list, chosen) {
  for (const tab of list.querySelectorAll('[role="tab"]')) {
    const on = tab === chosen;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
  }
}

/** What cannot be seen but is there, and may change how a text reads. The joiner of emoji (U+200D) is left alone. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Appends a text; characters that cannot be seen are shown by their number. */
function appendVisible(parent, text) {
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) parent.append(text.slice(from, match.index));
    const code = `U+${match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    // Files from Windows have one on every line: worth a sign, not an alarm.
    const harmless = match[0] === "\r";
    const title = harmless ? "Carriage return" : "A character that cannot be seen";
    parent.append(make("span", { class: harmless ? "unseen harmless" : "unseen", title }, harmless ? "␍" : code));
    from = match.index + 1;
  }
  if (from < text.length) parent.append(text.slice(from));
}

const rowText = (row) => (row.spans.length === 1 ? row.spans[0].text : row.spans.map((span) => span.text).join(""));

/** Appends a row's spans, with what was searched for marked, even across spans. */
function appendSpans(parent, row, marks) {
  const ranges = marks.rangesIn(row);
  let position = 0;
  for (const span of row.spans) {
    const holder = make("span", { class: spanClass(span) });
    const end = position + span.text.length;
    let from = position;
    for (const range of ranges) {
      const start = Math.max(range.start, position);
      const stop = Math.min(range.end, end);
      if (start >= stop) continue;
      appendVisible(holder, span.text.slice(from - position, start - position));
      const mark = make("mark", { class: range.current ? "current" : null });
      appendVisible(mark, span.text.slice(start - position, stop - position));
      holder.append(mark);
      from = stop;
    }
    appendVisible(holder, span.text.slice(from - position));
    parent.append(holder);
    position = end;
  }
}

function spanClass(span) {
  if (span.cut) return "cut";
  if (span.changed) return "changed";
  return span.source ? `from-${span.source}` : null;
}

/** Rows to a chunk, and how far outside the visible part chunks are kept filled. */
const CHUNK = 100;
const MARGIN = "600px 0px";

/**
 * Shows any number of rows in a scrolling element. Only chunks near the visible part hold elements; the others are empty
 * boxes of the right, or at first the estimated, height.
 */
class RowsView {
  constructor(scroller, draw) {
    this.scroller = scroller;
    this.draw = draw;
    this.rows = [];
    this.chunks = [];
    this.observer = null;
  }

  show(rows) {
    this.observer?.disconnect();
    this.rows = rows;
    this.scroller.scrollTop = 0;
    this.scroller.replaceChildren();
    const style = getComputedStyle(this.scroller);
    const ownScroll = style.overflowY === "auto" || style.overflowY === "scroll";
    this.observer = new IntersectionObserver((entries) => this.seen(entries), {
      root: ownScroll ? this.scroller : null,
      rootMargin: MARGIN,
    });
    const columns = Math.max(20, Math.floor((this.scroller.clientWidth - 120) / 7.5));
    this.chunks = [];
    for (let from = 0; from < rows.length; from += CHUNK) {
      const box = make("div", { class: "chunk" });
      const chunk = { box, from, to: Math.min(rows.length, from + CHUNK), filled: false };
      let lines = 0;
      for (let at = from; at < chunk.to; at += 1) lines += Math.max(1, Math.ceil((rows[at].length ?? 0) / columns));
      box.style.setProperty("height", `${lines * 20}px`);
      box.chunk = chunk;
      this.chunks.push(chunk);
      this.scroller.append(box);
      this.observer.observe(box);
    }
    if (this.chunks.length > 0) this.fill(this.chunks[0]);
  }

  seen(entries) {
    for (const entry of entries) {
      if (entry.isIntersecting) this.fill(entry.target.chunk);
      else this.empty(entry.target.chunk);
    }
  }

  fill(chunk) {
    if (chunk.filled) return;
    chunk.filled = true;
    const rows = this.rows.slice(chunk.from, chunk.to).map((row, index) => this.draw(row, chunk.from + index));
    chunk.box.replaceChildren(...rows);
    chunk.box.style.removeProperty("height");
  }

  empty(chunk) {
    if (!chunk.filled || chunk.box.contains(document.activeElement)) return;
    chunk.box.style.setProperty("height", `${chunk.box.offsetHeight}px`);
    chunk.box.replaceChildren();
    chunk.filled = false;
  }

  /** Draws again what is drawn, for instance because what is searched for changed. */
  refresh() {
    for (const chunk of this.chunks) {
      if (!chunk.filled) continue;
      chunk.filled = false;
      this.fill(chunk);
    }
  }

  /** Brings a row into the visible part. */
  reveal(index) {
    const chunk = this.chunks[Math.floor(index / CHUNK)];
    if (!chunk) return;
    this.fill(chunk);
    const row = chunk.box.children[index - chunk.from];
    (row?.querySelector("mark.current") ?? row)?.scrollIntoView({ block: "center", inline: "nearest" });
  }
}

const leadingSpan = (row) => row.spans.find((span) => span.text !== "") ?? row.spans[0];

/** Draws a line of the prompt: its number, where it came from, its text. A run of one source is named once. */
function drawPromptRow(row, before, marks) {
  const first = leadingSpan(row);
  const same = before?.spans && leadingSpan(before).source === first.source;
  let origin = same ? "" : SOURCE_TITLES[first.source];
  if (first.source === "file" && first.fileLine !== null) origin = `:${first.fileLine}`;
  if (first.source === "rewritten" && first.fileLine !== null) origin = `≈${first.fileLine}`;
  const text = make("span", { class: "text" });
  appendSpans(text, row, marks);
  return make(
    "div",
    { class: `row source-${first.source}` },
    make("span", { class: "number", "data-shown": row.continued ? "↳" : row.number }),
    make("span", { class: "origin", "data-shown": origin }),
    text,
  );
}

/** Draws a line of a file. */
function drawFileRow(row, marks) {
  if (row.notice) return make("div", { class: "row notice", role: "note" }, row.notice);
  const text = make("span", { class: "text" });
  appendSpans(text, row, marks);
  return make(
    "div",
    { class: row.spans.every((span) => span.cut) ? "row file-row is-cut" : "row file-row" },
    make("span", { class: "number", "data-shown": row.fileLine }),
    text,
  );
}
