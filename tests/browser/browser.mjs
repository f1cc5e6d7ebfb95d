// Opens pages in a real Chromium, over file://, and keeps an eye on what they do.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const target = path.resolve(root, process.env.CARGO_TARGET_DIR ?? "target");
export const pictures = path.join(target, "browser");
mkdirSync(pictures, { recursive: true });

/** The page with one of everything; a unit test of the `chitin` crate writes it. */
export const fixture = path.join(target, "tmp", "context-page.html");

/**
 * The page of a real workspace: `CHITIN_PAGE`, or what the built program makes of `examples/harbor`.
 * Returns null as long as the program has no such command.
 */
export function realPage() {
  if (process.env.CHITIN_PAGE) return path.resolve(process.env.CHITIN_PAGE);
  const program = process.env.CHITIN_BIN ?? path.join(target, "debug", "chitin");
  if (!existsSync(program)) return null;
  const home = mkdtempSync(path.join(tmpdir(), "chitin-page-"));
  const run = (...words) => spawnSync(program, words, { encoding: "utf8", env: { PATH: process.env.PATH, HOME: home } });
  if (!/^\s+context\b/m.test(run("--help").stdout)) return null;
  const page = path.join(pictures, "harbor.html");
  const result = run("context", path.join(root, "examples", "harbor"), "--html", page);
  if (result.status !== 0) throw new Error(`\`chitin context --html\` ended with ${result.status}: ${result.stderr}`);
  return page;
}

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // A page that is taken from a directory has no address, and would not be let to the machine's own server.
      ...(process.env.CHITIN_PAGE_DIST ? ["--disable-features=LocalNetworkAccessChecks"] : []),
    ],
  });
}

/** Opens a page. `faults` fills with everything that must not happen: errors, and requests beyond the page itself. */
export async function open(browser, file, options = {}) {
  if (!existsSync(file)) throw new Error(`There is no page at ${file}; \`scripts/browser-test\` makes it.`);
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  const address = pathToFileURL(file).href;
  const faults = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.stack}`));
  page.on("request", (request) => {
    if (request.url() !== address) faults.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  return { page, faults, close: () => context.close() };
}

export function picture(page, name, options = {}) {
  return page.screenshot({ path: path.join(pictures, `${name}.png`), ...options });
}
