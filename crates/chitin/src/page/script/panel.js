// One part, close up; and the whole prompt.

let panelRows = null;
let promptRows = null;

/** Returns the file of what is selected, or null. */
function selectedFile() {
  const files = filesOf(page, currentView());
  if (state.fragment === null) return files.find((file) => file.path === state.file) ?? null;
  return files.find((file) => file.fragment === state.fragment) ?? null;
}

function drawPanel() {
  const view = currentView();
  const fragment = state.fragment === null ? null : view.fragments[state.fragment];
  const file = selectedFile();
  byId("panel").hidden = fragment === null && file === null;
  if (fragment === null && file === null) return;
  if (fragment === null) state.text = "file";
  else if (file === null) state.text = "sent";

  byId("panel-title").textContent = fragment?.title ?? file.name;
  const badges = [];
  if (fragment) {
    badges.push(badge(file?.state ?? "plain", fragment.decision));
    badges.push(make("span", { class: `badge ${fragment.cache}` }, `${CACHE_MARKS[fragment.cache]} ${CACHE_TITLES[fragment.cache].toLowerCase()}`));
    if (fragment.role !== "system") badges.push(badge("plain", ROLE_TITLES[fragment.role].toLowerCase()));
  } else badges.push(badge(file.state, STATE_TITLES[file.state]));
  byId("badges").replaceChildren(...badges);
  byId("reason").replaceChildren(...prose(fragment?.reason || file?.reason || ""));
  byId("facts").replaceChildren(...facts(view, fragment, file).map((fact) => make("span", {}, fact)));
  byId("tab-sent").hidden = fragment === null;
  byId("tab-file").hidden = file === null;
  byId("panel-tabs").hidden = fragment === null || file === null;
  drawPanelText();
}

function facts(view, fragment, file) {
  const out = [];
  const path = fragment?.path ?? file?.path;
  if (path) out.push(path);
  if (fragment) {
    const rows = promptOf(view).fragments[state.fragment];
    if (rows.length > 0) {
      const where = fragment.role === "system" ? "of the system prompt" : "";
      out.push(`lines ${count(rows[0].number)}–${count(rows[rows.length - 1].number)} ${where}`.trim());
    }
    if (cutShare(fragment) > 0) {
      out.push(`${bytesText(fragment.injected.bytes)} of ${bytesText(fragment.raw.bytes)} sent`);
    } else out.push(bytesText(fragment.injected.bytes));
    out.push(plural(fragment.injected.tokens, "token"));
  } else if (file?.raw && file.raw.bytes > 0) out.push(`${bytesText(file.raw.bytes)} on disk`);
  return out;
}

function drawPanelText() {
  const view = currentView();
  const list = byId("panel-tabs");
  markTab(list, byId(state.text === "file" ? "tab-file" : "tab-sent"));
  const scroller = byId("panel-text");
  scroller.classList.toggle("is-file", state.text === "file");
  if (state.text === "file") {
    const file = selectedFile();
    const rows = fileRows(page, file);
    panelRows = new RowsView(scroller, (row) => drawFileRow(row, search));
    panelRows.show(rows);
    if (rows.length === 0) scroller.append(emptyNotice(file));
    byId("sources").replaceChildren();
  } else {
    const rows = promptOf(view).fragments[state.fragment];
    panelRows = new RowsView(scroller, (row, index) => drawPromptRow(row, rows[index - 1], search));
    panelRows.show(rows);
    if (rows.length === 0) scroller.append(make("p", { class: "empty" }, "This part adds no text."));
    drawSources(byId("sources"), rows);
  }
}

function emptyNotice(file) {
  const words = {
    missing: "There is no such file.",
    refused: "The file was not read.",
    "left-out": "The text of this file is not part of this page.",
    whole: "The file is empty.",
    cut: "The text of this file is not part of this page.",
  };
  return make("p", { class: `empty is-${file.state}` }, make("strong", {}, words[file.state]), make("span", {}, ...prose(file.reason)));
}

/** Explains the sources that occur, and only those. */
function drawSources(list, rows) {
  const meanings = { ours: "chitin’s own words", given: "given with the turn", file: "file, with its line", rewritten: "file, rewritten" };
  const used = new Set(rows.flatMap((row) => (row.spans ?? []).map((span) => span.source)));
  list.replaceChildren(
    ...Object.keys(meanings)
      .filter((source) => used.has(source))
      .map((source) => make("li", { class: `key-${source}` }, meanings[source])),
  );
}

/** The rows of the whole prompt, with a label before each part and a rule at the cache boundary. */
function wholePromptRows(view) {
  const items = [];
  const several = promptOf(view).roles.length > 1;
  for (const { role, rows } of promptOf(view).roles) {
    if (several || role !== "system") items.push({ heading: ROLE_TITLES[role] });
    let last = -1;
    let ruled = role !== "system" || view.boundary === null;
    for (const row of rows) {
      if (!ruled && row.byte >= view.boundary) {
        items.push({ rule: view.boundary });
        ruled = true;
      }
      if (row.owner !== last) {
        if (view.fragments[row.owner].kind !== "boundary") items.push({ label: row.owner });
        last = row.owner;
      }
      items.push(row);
    }
    if (!ruled) items.push({ rule: view.boundary });
  }
  return items;
}

function drawWholePrompt() {
  const view = currentView();
  const rows = wholePromptRows(view);
  promptRows = new RowsView(byId("prompt-text"), (row, index) => drawWholeRow(view, row, rows[index - 1]));
  promptRows.show(rows);
  drawSources(byId("prompt-sources"), rows);
}

function drawWholeRow(view, row, before) {
  if (row.heading) return make("h3", { class: "role-heading" }, row.heading);
  if (row.rule !== undefined) {
    return make(
      "div",
      { class: "boundary-rule", role: "separator", "aria-label": `Cache boundary at byte ${row.rule}` },
      make("span", {}, `Cache boundary · byte ${count(row.rule)}`),
      make("small", {}, "above: reused while nothing changes · below: sent anew"),
    );
  }
  if (row.label !== undefined) {
    const fragment = view.fragments[row.label];
    return make(
      "div",
      { class: `part-label ${fragment.cache}` },
      make("span", { "aria-hidden": "true" }, CACHE_MARKS[fragment.cache]),
      make("button", { type: "button", class: "link", onclick: () => openPart(row.label) }, fragment.title),
      make("small", {}, `${plural(fragment.injected.tokens, "token")} · ${fragment.decision}`),
    );
  }
  return drawPromptRow(row, before, search);
}

/** The text that the panel shows, byte for byte. */
function panelText() {
  if (state.text === "sent") return currentView().fragments[state.fragment].pieces.map((piece) => piece.text).join("");
  const file = selectedFile();
  if (file.regions.length > 0) return file.regions.map((region) => region.text).join("");
  return page.texts.find((text) => text.path === file.path)?.text ?? "";
}

/** Copies, and says so on the button for a moment. */
async function copyText(button, text) {
  let outcome = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    outcome = "Not allowed";
  }
  button.textContent = outcome;
  say(`${outcome}.`);
  setTimeout(() => (button.textContent = "Copy"), 1500);
}
