// A small audit of what assistive technology and tired eyes need. Runs inside the page.

/** Returns what is wrong with names, references and headings. */
export function auditNames() {
  const wrong = [];
  const shown = (element) => element.checkVisibility({ visibilityProperty: true });
  const text = (ids) => ids.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
  const describe = (element) => `${element.tagName.toLowerCase()}#${element.id}.${element.className}`;
  for (const element of document.querySelectorAll("button, input, select, a[href], [role=tab], [role=tabpanel], [role=region], [role=group]")) {
    if (!shown(element)) continue;
    const labelled = element.getAttribute("aria-labelledby");
    const name =
      element.getAttribute("aria-label") ||
      (labelled && text(labelled)) ||
      [...(element.labels ?? [])].map((label) => label.textContent).join(" ") ||
      (["BUTTON", "A"].includes(element.tagName) ? element.textContent : "");
    if (!name.trim()) wrong.push(`no name: ${describe(element)}`);
  }
  for (const attribute of ["aria-labelledby", "aria-controls", "aria-describedby", "for"]) {
    for (const element of document.querySelectorAll(`[${attribute}]`)) {
      for (const id of element.getAttribute(attribute).split(/\s+/)) {
        if (!document.getElementById(id)) wrong.push(`${attribute} leads nowhere: ${describe(element)}`);
      }
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id occurs twice");
  if (!document.documentElement.lang) wrong.push("no language");
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one main heading");
  if (document.querySelectorAll("main").length !== 1) wrong.push("not one main part");
  for (const list of document.querySelectorAll("[role=tablist]")) {
    if (!shown(list)) continue;
    const stops = [...list.querySelectorAll("[role=tab]")].filter((tab) => tab.tabIndex === 0);
    if (stops.length !== 1) wrong.push(`a list of tabs has ${stops.length} stops`);
  }
  return wrong;
}

/** Returns visible texts whose contrast is below 4.5 to 1, or 3 to 1 when they are large. */
export function auditContrast() {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const over = (colour, under) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const layer of [under, colour]) {
      canvas.fillStyle = layer;
      canvas.fillRect(0, 0, 1, 1);
    }
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
    return `rgb(${red}, ${green}, ${blue})`;
  };
  const backgroundOf = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor);
    return layers.reduce((under, layer) => over(layer, under), "white");
  };
  const luminance = (colour) => {
    const [red, green, blue] = colour.match(/\d+/g).map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const wrong = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!own || element.matches(".hidden, script, option") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const background = backgroundOf(element);
    const [light, dark] = [luminance(over(style.color, background)), luminance(background)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) wrong.add(`${element.tagName.toLowerCase()}.${element.className}: ${ratio.toFixed(2)}`);
  }
  return [...wrong];
}
