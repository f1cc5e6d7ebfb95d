// Two views side by side, line by line, and what the difference means for the cache.

let diffRows = null;
const linesCache = new WeakMap();

/** Returns all lines of a view's prompt, role after role. */
function linesOf(view) {
  let lines = linesCache.get(view);
  if (!lines) {
    lines = ROLES.map((role) => roleText(view, role))
      .filter((text) => text !== "")
      .flatMap((text) => text.split("\n"));
    linesCache.set(view, lines);
  }
  return lines;
}

function fillDiffChoices() {
  for (const [id, chosen] of [
    ["diff-from", state.from],
    ["diff-to", state.to],
  ]) {
    const select = byId(id);
    select.replaceChildren(...page.views.map((view, index) => make("option", { value: index }, view.label)));
    select.value = String(chosen);
  }
}

function drawDiff() {
  const from = page.views[state.from];
  const to = page.views[state.to];
  byId("diff-from").value = String(state.from);
  byId("diff-to").value = String(state.to);
  const a = linesOf(from);
  const b = linesOf(to);
  const { edits, coarse } = diffLines(a, b);
  const removed = edits.filter((edit) => edit[0] === "-").length;
  const added = edits.filter((edit) => edit[0] === "+").length;
  byId("diff-totals").replaceChildren(
    figure("Lines", `+${count(added)} −${count(removed)}`, coarse ? "many changes, so compared in blocks" : `${count(edits.length - added - removed)} lines stay`),
    tokensFigure(from, to),
    differenceFigure(from, to),
    survivalFigure(from, to),
  );
  const scroller = byId("diff-text");
  diffRows = new RowsView(scroller, (row, index) => drawDiffRow(row, index));
  if (added + removed === 0) {
    diffRows.show([]);
    const text = page.views.length < 2 ? "There is only one view on this page, so there is nothing to compare." : "The two prompts are the same, line by line.";
    scroller.append(make("p", { class: "empty" }, text));
  } else diffRows.show(toDiffRows(foldEqual(edits, 3), a, b));
}

function tokensFigure(from, to) {
  const change = to.size.tokens - from.size.tokens;
  const sign = change > 0 ? "+" : change < 0 ? "−" : "±";
  return figure("Tokens", `${sign}${count(Math.abs(change))}`, `${count(from.size.tokens)} → ${count(to.size.tokens)}`);
}

function differenceFigure(from, to) {
  const byte = firstDifference(roleText(from, "system"), roleText(to, "system"));
  if (byte === null) {
    const same = ROLES.every((role) => roleText(from, role) === roleText(to, role));
    return figure("First byte that differs", "none", same ? "the same, byte for byte" : "the system prompts are the same; other messages differ");
  }
  const role = promptOf(from).roles.find((candidate) => candidate.role === "system");
  let place = null;
  for (const row of role?.rows ?? []) if (row.byte <= byte) place = row;
  const where = place ? `line ${count(place.number)}, in ${from.fragments[place.owner].title}` : "at the start";
  return figure("First byte that differs", count(byte), where);
}

/** What of the first view's reusable prefix is still good when the second is sent. */
function survivalFigure(from, to) {
  const text = roleText(from, "system");
  const byte = firstDifference(text, roleText(to, "system")) ?? Infinity;
  const prefix = from.boundary ?? utf8Length(text);
  const before = tokensBefore(from, prefix);
  const kept = tokensBefore(from, Math.min(prefix, byte));
  return figure("Cached prefix that survives", percent(kept, before), `about ${count(kept)} of ${plural(before, "token")}`, before > 0 ? (100 * kept) / before : 0);
}

function toDiffRows(edits, a, b) {
  const rows = edits.map(([sign, first, second]) => {
    if (sign === "fold") return { fold: first.map((edit) => toDiffRow(edit, a, b)) };
    return toDiffRow([sign, first, second], a, b);
  });
  for (let index = 0; index < rows.length; ) {
    let middle = index;
    while (rows[middle]?.sign === "-") middle += 1;
    let end = middle;
    while (rows[end]?.sign === "+") end += 1;
    // Only blocks of one length are pairs of lines for certain.
    if (middle - index === end - middle) {
      for (let at = 0; index + at < middle; at += 1) markChange(rows[index + at], rows[middle + at]);
    }
    index = Math.max(end, index + 1);
  }
  return rows;
}

function toDiffRow([sign, first, second], a, b) {
  let text = sign === "+" ? b[second] : a[first];
  if (text.length > 4 * ROW_LIMIT) text = `${text.slice(0, 4 * ROW_LIMIT)} … ${count(text.length - 4 * ROW_LIMIT)} more`;
  return { sign, a: sign === "+" ? null : first + 1, b: sign === "-" ? null : second + 1, length: text.length, spans: [{ text }] };
}

/** Marks what differs inside a pair of lines, when they have enough in common. */
function markChange(removed, added) {
  const old = removed.spans[0].text;
  const now = added.spans[0].text;
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  if ((head + tail) * 3 < Math.max(old.length, now.length)) return;
  for (const [row, text] of [
    [removed, old],
    [added, now],
  ]) {
    row.spans = [
      { text: text.slice(0, head) },
      { text: text.slice(head, text.length - tail), changed: true },
      { text: text.slice(text.length - tail) },
    ].filter((span) => span.text !== "");
  }
}

function drawDiffRow(row, index) {
  if (row.fold) {
    const unfold = () => {
      diffRows.show([...diffRows.rows.slice(0, index), ...row.fold, ...diffRows.rows.slice(index + 1)]);
      diffRows.reveal(index);
      byId("diff-text").focus({ preventScroll: true });
    };
    return make("div", { class: "row fold" }, make("button", { type: "button", class: "link", onclick: unfold }, `⋯ ${plural(row.fold.length, "equal line")}`));
  }
  const kind = { " ": "same", "-": "removed", "+": "added" }[row.sign];
  const text = make("span", { class: "text" });
  if (row.sign !== " ") text.append(make("span", { class: "hidden" }, `${kind}: `));
  appendSpans(text, row, search);
  return make(
    "div",
    { class: `row diff-row ${kind}` },
    make("span", { class: "number", "data-shown": row.a ?? "" }),
    make("span", { class: "number", "data-shown": row.b ?? "" }),
    make("span", { class: "sign", "data-shown": row.sign === "-" ? "−" : row.sign }),
    text,
  );
}
