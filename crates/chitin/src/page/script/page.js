// What is chosen, what happens on a key or a click, and the first drawing.

const page = readData(byId("data").textContent);
const search = new Search();

const state = {
  view: 0,
  /** Which pane: `map`, `prompt` or `diff`. */
  tab: "map",
  /** The selected part, or null when a file outside the prompt is selected. */
  fragment: 0,
  file: null,
  /** Which text of the selected part: `sent` or `file`. */
  text: "sent",
  sizeBy: "sent",
  from: 0,
  to: Math.min(1, page.views.length - 1),
};

function currentView() {
  return page.views[state.view];
}

function say(text) {
  byId("said").textContent = text;
}

function drawOverview() {
  drawTreemap();
  drawLegend();
  drawTable();
  drawAbsent();
}

function drawPane() {
  for (const tab of ["map", "prompt", "diff"]) byId(`pane-${tab}`).hidden = tab !== state.tab;
  markTab(byId("tabs"), byId(`tab-${state.tab}`));
  if (state.tab === "map") {
    drawOverview();
    drawPanel();
  } else if (state.tab === "prompt") drawWholePrompt();
  else drawDiff();
  remember();
}

function showView(index) {
  const path = selectedFile()?.path ?? null;
  const id = state.fragment === null ? null : currentView().fragments[state.fragment].id;
  state.view = index;
  selectAgain(id, path);
  const view = currentView();
  markTab(byId("contracts"), byId("contracts").children[index]);
  byId("main").setAttribute("aria-label", `Prompt by ${view.label}`);
  drawTotals();
  runSearch();
  drawPane();
  say(`${view.label}: ${plural(view.size.tokens, "token")}.`);
}

/** Finds in the current view what was selected in another: the same part, or else the same file outside the prompt. */
function selectAgain(id, path) {
  const view = currentView();
  const file = filesOf(page, view).find((candidate) => candidate.path === path);
  const same = view.fragments.findIndex((fragment) => fragment.id === id);
  state.file = null;
  state.fragment = same >= 0 ? same : (file?.fragment ?? null);
  if (state.fragment !== null) return;
  if (file) state.file = file.path;
  else state.fragment = firstPart(view);
}

/** The part to begin with: the largest. */
function firstPart(view) {
  let best = null;
  view.fragments.forEach((fragment, index) => {
    if (fragment.kind === "boundary") return;
    if (best === null || fragment.injected.tokens > view.fragments[best].injected.tokens) best = index;
  });
  return best;
}

function showTab(tab) {
  if (tab === "diff" && state.tab !== "diff" && page.views.length > 1) {
    state.to = state.view;
    if (state.from === state.to) state.from = state.to === 0 ? 1 : 0;
  }
  state.tab = tab;
  drawPane();
}

/** Selects a part; `text` says which of its texts to show. */
function selectPart(fragment, text = state.text) {
  state.fragment = fragment;
  state.file = null;
  state.text = text;
  drawOverview();
  drawPanel();
  remember();
}

function selectFile(path) {
  state.fragment = null;
  state.file = path;
  state.text = "file";
  drawOverview();
  drawPanel();
  remember();
}

/** Selects a part from another pane, or from the keyboard, and takes the reader there. */
function openPart(fragment) {
  state.fragment = fragment;
  state.file = null;
  state.text = "sent";
  showTab("map");
  followSelection();
}

/** On a narrow screen the panel is below, so choosing something must lead there. */
function followSelection() {
  if (getComputedStyle(byId("panel")).position === "sticky") return;
  byId("panel").scrollIntoView({ block: "start" });
}

function stepPart(by) {
  const parts = currentView().fragments.map((fragment, index) => ({ fragment, index })).filter((item) => item.fragment.kind !== "boundary");
  if (parts.length === 0) return;
  const at = parts.findIndex((item) => item.index === state.fragment);
  const next = parts[(at + by + parts.length) % parts.length];
  if (state.tab !== "map") showTab("map");
  selectPart(next.index);
  say(describePart(currentView(), next.index));
}

function runSearch() {
  search.run(page, currentView(), byId("query").value);
  byId("found").textContent = search.describe();
}

function stepSearch(by) {
  const hit = search.step(by);
  byId("found").textContent = search.describe();
  if (!hit) return;
  if (hit.file === null && state.tab === "prompt") {
    promptRows.refresh();
    promptRows.reveal(promptRows.rows.indexOf(hit.row));
    return;
  }
  if (state.tab !== "map") showTab("map");
  if (hit.file !== null && hit.fragment === null) {
    if (state.file !== hit.file.path) selectFile(hit.file.path);
  } else {
    const text = hit.file === null ? "sent" : "file";
    if (state.fragment !== hit.fragment || state.text !== text) selectPart(hit.fragment, text);
  }
  panelRows.refresh();
  panelRows.reveal(panelRows.rows.indexOf(hit.row));
}

function refreshMarks() {
  if (state.tab === "map") panelRows?.refresh();
  else if (state.tab === "prompt") promptRows?.refresh();
  else diffRows?.refresh();
}

/** Keeps what is chosen in the address, so that a reload or a copied link shows the same. */
function remember() {
  const facts = new URLSearchParams({ view: currentView().label, tab: state.tab });
  if (state.fragment !== null) facts.set("part", currentView().fragments[state.fragment].id);
  else if (state.file) facts.set("file", state.file);
  try {
    history.replaceState(null, "", `#${facts}`);
  } catch {}
}

function recall() {
  const facts = new URLSearchParams(location.hash.slice(1));
  const view = page.views.findIndex((candidate) => candidate.label === facts.get("view"));
  if (view >= 0) state.view = view;
  if (["map", "prompt", "diff"].includes(facts.get("tab"))) state.tab = facts.get("tab");
  state.fragment = firstPart(currentView());
  const part = currentView().fragments.findIndex((fragment) => fragment.id === facts.get("part"));
  if (part >= 0) state.fragment = part;
  else if (filesOf(page, currentView()).some((file) => file.path === facts.get("file") && file.fragment === null)) {
    state.fragment = null;
    state.file = facts.get("file");
  }
}

function wireSearch() {
  const input = byId("query");
  let waiting = 0;
  const now = () => {
    clearTimeout(waiting);
    waiting = 0;
    runSearch();
    refreshMarks();
  };
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(now, 120);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (waiting) now();
      stepSearch(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      input.value = "";
      now();
      input.blur();
    }
  });
  byId("next").addEventListener("click", () => stepSearch(1));
  byId("previous").addEventListener("click", () => stepSearch(-1));
}

function wireKeys() {
  const actions = {
    "/": () => byId("query").select(),
    n: () => stepSearch(1),
    N: () => stepSearch(-1),
    "[": () => showView((state.view + page.views.length - 1) % page.views.length),
    "]": () => showView((state.view + 1) % page.views.length),
    m: () => showTab("map"),
    p: () => showTab("prompt"),
    d: () => showTab("diff"),
    j: () => stepPart(1),
    k: () => stepPart(-1),
    f: () => {
      if (state.tab !== "map" || byId("panel").hidden || byId("panel-tabs").hidden) return;
      state.text = state.text === "sent" ? "file" : "sent";
      drawPanelText();
    },
    "?": () => byId("keys").showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
    if (event.target.closest("input, select, textarea")) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function wire() {
  wireTabs(byId("contracts"), (tab) => showView(Number(tab.dataset.view)));
  wireTabs(byId("tabs"), (tab) => showTab(tab.dataset.tab));
  wireTabs(byId("panel-tabs"), (tab) => {
    state.text = tab.dataset.tab;
    drawPanelText();
  });
  byId("treemap").addEventListener("keydown", moveInTreemap);
  for (const id of ["treemap", "strip", "parts"]) {
    byId(id).addEventListener("click", (event) => {
      const target = event.target.closest("[data-fragment]");
      if (!target) return;
      const fragment = Number(target.dataset.fragment);
      const byKeyboard = event.detail === 0;
      if (state.tab === "map") selectPart(fragment, "sent");
      else openPart(fragment);
      if (byKeyboard) byId(id).querySelector(`[data-fragment="${fragment}"]`)?.closest("button, tr")?.querySelector("button")?.focus();
      followSelection();
      say(describePart(currentView(), fragment));
    });
  }
  byId("absent").addEventListener("click", (event) => {
    const target = event.target.closest("[data-path]");
    if (!target) return;
    selectFile(target.dataset.path);
    byId("absent").querySelector('[aria-current="true"]')?.focus();
    followSelection();
  });
  for (const [id, sizeBy] of [
    ["by-sent", "sent"],
    ["by-disk", "disk"],
  ]) {
    byId(id).addEventListener("click", () => {
      state.sizeBy = sizeBy;
      byId("by-sent").setAttribute("aria-pressed", String(sizeBy === "sent"));
      byId("by-disk").setAttribute("aria-pressed", String(sizeBy === "disk"));
      drawTreemap();
    });
  }
  byId("diff-from").addEventListener("change", (event) => {
    state.from = Number(event.target.value);
    drawDiff();
  });
  byId("diff-to").addEventListener("change", (event) => {
    state.to = Number(event.target.value);
    drawDiff();
  });
  byId("swap").addEventListener("click", () => {
    [state.from, state.to] = [state.to, state.from];
    drawDiff();
  });
  byId("copy").addEventListener("click", (event) => copyText(event.currentTarget, panelText()));
  byId("copy-prompt").addEventListener("click", (event) => {
    copyText(event.currentTarget, ROLES.map((role) => roleText(currentView(), role)).join(""));
  });
  byId("theme").addEventListener("click", () => {
    const at = THEMES.indexOf(document.documentElement.dataset.theme);
    setTheme(THEMES[(at + 1) % THEMES.length]);
  });
  byId("help").addEventListener("click", () => byId("keys").showModal());
  let width = 0;
  new ResizeObserver(() => {
    if (byId("treemap").clientWidth === width || state.tab !== "map") return;
    width = byId("treemap").clientWidth;
    drawTreemap();
  }).observe(byId("treemap"));
  wireSearch();
  wireKeys();
}

setTheme(storedTheme());
byId("app").hidden = false;
if (page.views.length === 0) byId("app").replaceChildren(make("p", { class: "empty" }, "There is nothing to show: no contract was asked for."));
else {
  drawMasthead();
  recall();
  fillDiffChoices();
  wire();
  showView(state.view);
}
