// A real `chitin serve` with a workspace of its own, and a browser that is signed in to it.

import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { root, target } from "./browser.mjs";
import { startModel } from "./model.mjs";

export const artifacts = path.join(target, "browser-artifacts");
mkdirSync(artifacts, { recursive: true });

/** How long anything may take on a busy machine, in milliseconds. */
export const PATIENCE = 30_000;
const program = process.env.CHITIN_BIN ?? path.join(target, "debug", "chitin");

/** Starts a server for a copy of `examples/harbor`. */
export async function serve(rules, { configure = {} } = {}) {
  if (!existsSync(program)) throw new Error(`There is no program at ${program}; \`scripts/browser-test\` makes it.`);
  const home = mkdtempSync(path.join(tmpdir(), "chitin-serve-"));
  const workspace = path.join(home, "yard");
  cpSync(path.join(root, "examples", "harbor"), workspace, { recursive: true });
  // Its rules hold a reply back until it is whole and judged; these tests look at replies while they come.
  rmSync(path.join(workspace, "PERMISSIONS.md"));
  const model = await startModel(rules);
  const settings = {
    model: "yard/test-model",
    providers: { yard: { api: "anthropic-messages", baseUrl: model.url, apiKey: "sk-test-not-a-real-key-0123456789" } },
    models: { "yard/test-model": { contextWindow: 200_000, maxOutput: 4_000, inputPrice: 3, outputPrice: 15, cacheReadPrice: 0.3, cacheWritePrice: 3.75 } },
    ...configure,
  };
  mkdirSync(path.join(home, ".chitin"), { recursive: true });
  writeFileSync(path.join(home, ".chitin", "chitin.json5"), JSON.stringify(settings));
  const serving = new Serving(home, workspace, model);
  await serving.start("127.0.0.1:0");
  return serving;
}

class Serving {
  constructor(home, workspace, model) {
    Object.assign(this, { home, workspace, model, process: null, gone: null, url: "", token: "" });
  }

  /** Starts the program, and waits until it says where it listens. */
  async start(listen) {
    const words = ["serve", "--json", "--listen", listen, this.workspace];
    // The workspace is the default agent's, so that its sessions are those of `main`.
    const env = { PATH: process.env.PATH, HOME: this.home, CHITIN_WORKSPACE: this.workspace };
    const child = spawn(program, words, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.process = child;
    this.gone = new Promise((resolve) => child.once("exit", resolve));
    this.url = await new Promise((resolve, reject) => {
      let [said, complained] = ["", ""];
      child.stderr.on("data", (data) => (complained += data));
      child.on("exit", (code) => reject(new Error(`\`chitin serve\` ended with ${code}: ${complained}`)));
      child.stdout.on("data", (data) => {
        said += data;
        try {
          resolve(JSON.parse(said).address);
        } catch {
          // The rest is still to come.
        }
      });
    });
    this.token = readFileSync(path.join(this.home, ".chitin", "server-token"), "utf8").trim();
  }

  /** Ends it as a crash would. */
  async kill() {
    this.process?.kill("SIGKILL");
    await this.gone;
    this.process = null;
  }

  /** Starts it again at the same place. */
  restart() {
    return this.start(new URL(this.url).host);
  }

  /** Lets everybody be out after the next start. */
  forgetLogins() {
    rmSync(path.join(this.home, ".chitin", "logins.json"));
  }

  async stop() {
    await this.kill();
    await this.model.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Asks the server as a program would. */
  ask(address, init = {}) {
    return fetch(`${this.url}${address}`, { ...init, headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json", ...init.headers } });
  }

  file(name) {
    return path.join(this.workspace, name);
  }
}

/** Opens the page. `faults` fills with whatever must not happen: errors, refused styles, requests to elsewhere. */
export async function openPage(browser, serving, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, colorScheme: "light", reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const faults = [];
  page.on("console", (message) => {
    // A browser complains by itself about every answer of 400 and more, and about sockets that cannot be opened.
    if (message.type() === "error" && !/Failed to load resource|WebSocket connection/.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.stack}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(serving.url) && !request.url().startsWith("data:")) faults.push(`request: ${request.url()}`);
  });
  if (process.env.CHITIN_PAGE_DIST) await fromDisk(context, process.env.CHITIN_PAGE_DIST);
  return { context, page, faults, close: () => context.close() };
}

/** For work on the page: takes its files from a directory instead of from the program. */
async function fromDisk(context, directory) {
  const types = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html" };
  await context.route(/^[^?#]*\/(assets\/[a-z]+\.(js|css))?(#.*)?$/, async (route) => {
    const name = new URL(route.request().url()).pathname.slice(1) || "index.html";
    const real = await route.fetch();
    const headers = { ...real.headers(), "content-type": types[path.extname(name)] };
    delete headers["content-encoding"];
    delete headers["content-length"];
    await route.fulfill({ status: 200, headers, body: readFileSync(path.join(directory, name)) });
  });
}

/** Signs in. */
export async function signIn(page, serving, hash = "") {
  await page.goto(`${serving.url}/${hash}`);
  await page.getByLabel("Token of the server").fill(serving.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator('.status[data-state="open"]').waitFor({ state: "attached" });
}

export function shot(page, name, options = {}) {
  return page.screenshot({ path: path.join(artifacts, `${name}.png`), ...options });
}

/** Says something, and waits until the turn is over. */
export async function say(page, text) {
  const answers = page.locator(".entry[data-role=agent] footer");
  const before = await answers.count();
  await page.locator("#composer").fill(text);
  await page.keyboard.press("Enter");
  await answers.nth(before).waitFor();
  await page.locator(".log[aria-busy=false]").waitFor();
}
