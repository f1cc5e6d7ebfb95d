// The overview: the treemap, the table that says the same, and what is not in the prompt.

/** A tile is at least this share of the whole, so that it can be hit. */
const SMALLEST_TILE = 0.004;

function stateOf(view, index) {
  return view.files.find((file) => file.fragment === index)?.state ?? null;
}

/** How much of a fragment's file did not make it, from 0 to 1. */
function cutShare(fragment) {
  if (fragment.raw.tokens <= fragment.injected.tokens) return 0;
  return 1 - fragment.injected.tokens / fragment.raw.tokens;
}

function describePart(view, index) {
  const fragment = view.fragments[index];
  const state = stateOf(view, index);
  const words = [
    fragment.title,
    `${plural(fragment.injected.tokens, "token")}, ${percent(fragment.injected.tokens, view.size.tokens)}`,
    `cache: ${fragment.cache}`,
  ];
  if (state === "cut") words.push(`cut, ${count(fragment.raw.tokens)} tokens on disk`);
  else if (state && state !== "whole") words.push(STATE_TITLES[state]);
  return words.join("; ");
}

function drawTreemap() {
  const view = currentView();
  const box = byId("treemap");
  const hadFocus = box.contains(document.activeElement);
  const weigh = (fragment) =>
    state.sizeBy === "sent" ? fragment.injected.tokens : Math.max(fragment.raw.tokens, fragment.injected.tokens);
  const shown = view.fragments.map((fragment, index) => ({ fragment, index })).filter((item) => item.fragment.kind !== "boundary");
  const floor = SMALLEST_TILE * shown.reduce((sum, item) => sum + weigh(item.fragment), 0);
  const groups = CACHES.map((cache) => shown.filter((item) => item.fragment.cache === cache)).filter((group) => group.length > 0);
  const weights = groups.map((group) => group.map((item) => Math.max(floor, weigh(item.fragment), 1)));
  const places = squarifyGroups(weights, box.clientWidth, box.clientHeight, 6);
  const tiles = groups.flatMap((group, at) => group.map((item, inner) => drawTile(view, item, places[at][inner])));
  // In the order of the prompt, so that moving on with Tab or a screen reader reads it from the top.
  tiles.sort((a, b) => a.dataset.fragment - b.dataset.fragment);
  box.replaceChildren(...tiles);
  const current = tiles.find((tile) => Number(tile.dataset.fragment) === state.fragment) ?? tiles[0];
  for (const tile of tiles) tile.tabIndex = tile === current ? 0 : -1;
  if (hadFocus) current?.focus();
}

function drawTile(view, { fragment, index }, place) {
  const fate = stateOf(view, index);
  const label = describePart(view, index);
  const tile = make("button", {
    type: "button",
    class: `tile ${fragment.cache} is-${fate ?? fragment.kind}`,
    "data-fragment": index,
    "aria-label": label,
    "aria-pressed": String(index === state.fragment),
    title: label,
  });
  const gap = 2;
  tile.style.setProperty("left", `${place.x}px`);
  tile.style.setProperty("top", `${place.y}px`);
  tile.style.setProperty("width", `${Math.max(4, place.width - gap)}px`);
  tile.style.setProperty("height", `${Math.max(4, place.height - gap)}px`);
  const cut = cutShare(fragment);
  if (cut > 0 && fate === "cut") {
    const hatch = make("span", { class: "hatch", "aria-hidden": "true" });
    // By size on disk the hatched part is to scale. By size sent nothing cut has an area, so a band marks the tile.
    hatch.style.setProperty("height", state.sizeBy === "disk" ? `${cut * 100}%` : "min(22px, 34%)");
    tile.append(hatch);
  }
  const upright = place.width > 54;
  const along = upright ? place.width : place.height;
  const across = upright ? place.height : place.width;
  if (along > 54 && across > 19) {
    if (!upright) tile.classList.add("narrow");
    tile.append(make("span", { class: "tile-name" }, fragment.title));
    if (across > 44) {
      const sent = fate === "cut" ? `${count(fragment.injected.tokens)} of ${count(fragment.raw.tokens)}` : count(fragment.injected.tokens);
      tile.append(make("span", { class: "tile-size" }, sent));
    }
    if (fate && fate !== "whole" && across > 62) tile.append(make("span", { class: "tile-state" }, STATE_TITLES[fate]));
  } else {
    tile.classList.add("tiny");
    if (fate && fate !== "whole") tile.append(make("span", { class: "tile-flag", "aria-hidden": "true" }, "!"));
  }
  return tile;
}

/** Moves the focus to the nearest tile in a direction. */
function moveInTreemap(event) {
  const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const tiles = [...byId("treemap").children];
  const from = document.activeElement;
  if (!tiles.includes(from)) return;
  let next = null;
  if (event.key === "Home") next = tiles[0];
  if (event.key === "End") next = tiles[tiles.length - 1];
  const direction = directions[event.key];
  if (direction) {
    const centre = (tile) => [tile.offsetLeft + tile.offsetWidth / 2, tile.offsetTop + tile.offsetHeight / 2];
    const [x, y] = centre(from);
    let best = Infinity;
    for (const tile of tiles) {
      const [tileX, tileY] = centre(tile);
      const along = (tileX - x) * direction[0] + (tileY - y) * direction[1];
      const aside = Math.abs((tileX - x) * direction[1]) + Math.abs((tileY - y) * direction[0]);
      if (tile !== from && along > 1 && along + 2 * aside < best) {
        best = along + 2 * aside;
        next = tile;
      }
    }
  }
  if (direction || next) event.preventDefault();
  if (!next) return;
  for (const tile of tiles) tile.tabIndex = tile === next ? 0 : -1;
  next.focus();
}

function drawLegend() {
  const view = currentView();
  const used = CACHES.filter((cache) => view.fragments.some((fragment) => fragment.cache === cache));
  const items = used.map((cache) =>
    make(
      "li",
      { title: CACHE_MEANINGS[cache] },
      make("span", { class: `swatch ${cache}`, "aria-hidden": "true" }, CACHE_MARKS[cache]),
      make("span", {}, CACHE_TITLES[cache], make("small", {}, ` ${CACHE_MEANINGS[cache]}`)),
    ),
  );
  if (view.files.some((file) => file.state === "cut")) {
    items.push(make("li", {}, make("span", { class: "swatch hatched", "aria-hidden": "true" }), make("span", {}, "Cut")));
  }
  if (view.files.some((file) => file.fragment !== null && (file.state === "missing" || file.state === "refused"))) {
    items.push(make("li", {}, make("span", { class: "swatch dashed", "aria-hidden": "true" }), make("span", {}, "Missing or refused")));
  }
  byId("legend").replaceChildren(...items);
}

function drawTable() {
  const view = currentView();
  const largest = Math.max(1, ...view.fragments.map((fragment) => fragment.injected.tokens));
  const head = ["Part", "Tokens sent", "On disk", "What happened"].map((title, index) =>
    make("th", { scope: "col", class: ["", "numeric", "numeric disk", ""][index] }, title),
  );
  const body = make("tbody");
  const boundary = boundaryIndex(view);
  let role = "system";
  view.fragments.forEach((fragment, index) => {
    if (fragment.role !== role) {
      role = fragment.role;
      body.append(make("tr", { class: "divider" }, make("td", { colspan: 4 }, ROLE_TITLES[role])));
    }
    if (index === boundary) {
      const text = "Cache boundary: what is above can be reused, what is below is sent anew";
      body.append(make("tr", { class: "divider boundary" }, make("td", { colspan: 4 }, text)));
    }
    if (fragment.kind !== "boundary") body.append(drawTableRow(view, fragment, index, largest));
  });
  byId("parts").replaceChildren(
    make("table", { class: "parts" }, make("caption", { class: "hidden" }, `Parts of the prompt, ${view.label}`), make("thead", {}, make("tr", {}, ...head)), body),
  );
}

function drawTableRow(view, fragment, index, largest) {
  const fate = stateOf(view, index);
  const bar = make("span", { class: `bar ${fragment.cache}`, "aria-hidden": "true" }, make("span"));
  bar.firstChild.style.setProperty("width", `${(100 * fragment.injected.tokens) / largest}%`);
  const onDisk = fragment.kind === "file" && fate !== "missing" ? count(fragment.raw.tokens) : "–";
  return make(
    "tr",
    { "data-fragment": index, class: index === state.fragment ? "selected" : null },
    make(
      "th",
      { scope: "row" },
      make(
        "span",
        { class: "part" },
        make("span", { class: `mark ${fragment.cache}`, title: `Cache: ${fragment.cache}`, role: "img", "aria-label": `cache: ${fragment.cache}` }, CACHE_MARKS[fragment.cache]),
        make("button", { type: "button", class: "link", "aria-current": index === state.fragment ? "true" : null }, fragment.title),
      ),
    ),
    make(
      "td",
      { class: "numeric" },
      make("span", { class: "amount" }, count(fragment.injected.tokens), make("small", {}, percent(fragment.injected.tokens, view.size.tokens))),
      bar,
    ),
    make("td", { class: "numeric disk" }, onDisk),
    make("td", { class: "fate" }, badge(fate ?? "plain", fragment.decision), fragment.reason ? make("small", {}, ...prose(fragment.reason)) : null),
  );
}

function badge(kind, text) {
  return make("span", { class: `badge is-${kind}` }, text);
}

function drawAbsent() {
  const absent = filesOf(page, currentView()).filter((file) => file.fragment === null);
  byId("absent-card").hidden = absent.length === 0;
  byId("absent").replaceChildren(
    ...absent.map((file) =>
      make(
        "li",
        { class: state.file === file.path ? "selected" : null },
        make("button", { type: "button", class: "link", "data-path": file.path, "aria-current": state.file === file.path ? "true" : null }, file.name),
        badge(file.state, STATE_TITLES[file.state]),
        make("small", {}, ...prose(file.reason)),
      ),
    ),
  );
}
