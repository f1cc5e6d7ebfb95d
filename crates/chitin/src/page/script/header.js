// The head of the page: whose prompt it is, which contract, and what it comes to.

function drawMasthead() {
  byId("title").textContent = page.title;
  const parts = [page.directory, page.session ? `session ${page.session}` : null, page.turn];
  byId("subtitle").replaceChildren(...parts.filter(Boolean).map((part) => make("span", {}, part)));
  byId("foot").textContent = `Written by ${page.generator}. This file is complete: it loads nothing and sends nothing.`;
  byId("contracts").replaceChildren(
    ...page.views.map((view, index) =>
      make(
        "button",
        { type: "button", role: "tab", "data-view": index, "aria-controls": "main", title: view.contract },
        view.label,
      ),
    ),
  );
}

function figure(label, value, note, share) {
  const bar = share === undefined ? null : make("span", { class: "bar", "aria-hidden": "true" }, make("span"));
  bar?.firstChild.style.setProperty("width", `${Math.min(100, share)}%`);
  return make("div", {}, make("dt", {}, label), make("dd", {}, make("strong", {}, value), bar, make("small", {}, note)));
}

function drawTotals() {
  const view = currentView();
  byId("summary").replaceChildren(...prose(view.summary));
  const size = view.size;
  const { request } = view;
  const model = view.model ?? { name: "", window: null, price_per_turn: null };
  const figures = [
    figure(
      "Sent each turn",
      `${request.complete ? "" : "at least "}${plural(request.size.tokens, "token")}`,
      `${view.tokens_basis} · ${bytesText(request.size.bytes)}`,
    ),
    figure("System prompt", plural(size.tokens, "token"), `${bytesText(size.bytes)} · ${plural(size.lines, "line")}`),
    ...request.parts.map((part) =>
      figure(part.name, part.tokens === null ? "unknown" : plural(part.tokens, "token"), part.note),
    ),
  ];
  if (model.window === null) {
    figures.push(figure("Share of the window", "unknown", model.name));
  } else {
    const share = model.share_permille / 10;
    figures.push(
      figure("Share of the window", `${share.toFixed(1)} %`, `${count(model.window)} tokens · ${model.name}`, share),
    );
  }
  if (model.price_per_turn) {
    const cached = model.price_cached ? `${model.price_cached} once cached` : "no price for cached tokens";
    figures.push(figure("Cost of a request", model.price_per_turn, cached));
  } else {
    figures.push(figure("Cost of a request", "unknown", model.name));
  }
  figures.push(cacheFigure(view));
  byId("totals").replaceChildren(...figures);
  drawStrip(view);
  byId("warnings").replaceChildren(...view.warnings.map((text) => make("p", { class: "warning" }, ...prose(text))));
}

function cacheFigure(view) {
  if (view.boundary === null) {
    return figure("Reusable prefix", "not marked", "This contract draws no cache boundary.");
  }
  const tokens = view.cached.tokens;
  const system = promptOf(view).roles.find((role) => role.role === "system");
  const row = system?.rows.find((candidate) => candidate.byte >= view.boundary);
  const line = row ? row.number : (system?.lines ?? 1);
  return figure(
    "Reusable prefix",
    percent(tokens, view.size.tokens),
    `about ${plural(tokens, "token")} · ends at line ${count(line)}, byte ${count(view.boundary)}`,
  );
}

/** Returns the index of the first fragment behind the cache boundary, or -1. */
function boundaryIndex(view) {
  if (view.boundary === null) return -1;
  const marker = view.fragments.findIndex((fragment) => fragment.kind === "boundary");
  if (marker >= 0) return marker;
  const system = promptOf(view).roles.find((role) => role.role === "system");
  for (const [index, start] of system?.starts ?? []) if (start.byte >= view.boundary) return index;
  return view.fragments.findIndex((fragment) => fragment.role !== "system");
}

/** The prompt as one line from first to last byte; the table says the same to those who do not see it. */
function drawStrip(view) {
  const boundary = boundaryIndex(view);
  const segments = [];
  view.fragments.forEach((fragment, index) => {
    if (index === boundary) segments.push(make("span", { class: "strip-boundary" }));
    if (fragment.kind === "boundary") return;
    const segment = make("span", {
      class: `segment ${fragment.cache}`,
      "data-fragment": index,
      title: `${fragment.title}: ${plural(fragment.injected.tokens, "token")}`,
    });
    segment.style.setProperty("flex-grow", String(Math.max(1, fragment.injected.tokens)));
    segments.push(segment);
  });
  byId("strip").replaceChildren(...segments);
  const note = boundary < 0 ? "The prompt in order, by tokens." : "The prompt in order, by tokens. The mark is the cache boundary.";
  byId("strip-note").textContent = note;
}

const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  const button = byId("theme");
  button.textContent = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" }[theme];
  button.setAttribute("aria-label", `Colours: ${theme}. Change to ${next}.`);
  // Some browsers give a page from disk no storage.
  try {
    localStorage.setItem("chitin-theme", theme);
  } catch {}
}

function storedTheme() {
  try {
    const theme = localStorage.getItem("chitin-theme");
    return THEMES.includes(theme) ? theme : "auto";
  } catch {
    return "auto";
  }
}
