// Who gets in, what a page of somebody else can do, and who can use it: keys, screen readers, phones, dark rooms.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { openPage, say, serve, shot, signIn } from "./serving.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const VIEWS = ["chat", "sessions", "lens", "files/main/AGENTS.md", "skills", "memory", "traces", "agents"];

let browser;
let serving;
before(async () => {
  [browser, serving] = await Promise.all([launch(), serve([{ when: "", reply: { thinking: "Hm.", text: "# So\n\n- it `is`\n\n```sh\nls\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |" } }])]);
});
after(async () => {
  await browser?.close();
  await serving?.stop();
});

async function visit(options, body) {
  const opened = await openPage(browser, serving, options);
  try {
    await body(opened.page, opened);
    assert.deepEqual(opened.faults, []);
  } catch (error) {
    await shot(opened.page, "failed-access");
    throw error;
  } finally {
    await opened.close();
  }
}

/** Goes to a view and waits until it has settled. */
async function goTo(page, view) {
  await page.goto(`${serving.url}/#/${view}`);
  await page.locator(`main[data-view="${view.split("/")[0]}"] h1`).waitFor();
  await page.waitForFunction(() => !document.querySelector(".loading") && !document.body.textContent.includes("Counting …"));
}

test("a wrong token is refused with words; the right one stays nowhere that a script can read", () =>
  visit({}, async (page, { context }) => {
    await page.goto(`${serving.url}/`);
    const token = page.getByLabel("Token of the server");
    assert.equal(await token.getAttribute("type"), "password");
    assert.equal(await token.getAttribute("autocomplete"), "off");
    await token.fill("not-the-token-of-this-server");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("This is not the token of this server.").waitFor();
    await shot(page, "login-wrong");
    await signIn(page, serving);
    const readable = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href, document.documentElement.outerHTML]));
    assert.equal(readable.includes(serving.token), false);
    const [cookie] = await context.cookies();
    assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.value === serving.token], [true, "Strict", false]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await token.waitFor();
    assert.equal((await page.request.get(`${serving.url}/api/status`)).status(), 401);
  }));

test("a page of another origin gets nothing and changes nothing, cookie or not", () =>
  visit({}, async (page, { context, faults }) => {
    await signIn(page, serving);
    const before = await (await serving.ask("/api/sessions")).json();
    // Another port of this machine is the same site for a cookie, and another origin.
    const other = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>elsewhere</title>"));
    await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
    try {
      const foreign = await context.newPage();
      await foreign.goto(`http://127.0.0.1:${other.address().port}/`);
      const got = await foreign.evaluate(async (url) => {
        const read = await fetch(`${url}/api/sessions`, { credentials: "include" }).then((answer) => answer.text(), () => "refused");
        await fetch(`${url}/api/messages`, { method: "POST", mode: "no-cors", credentials: "include", body: JSON.stringify({ text: "from elsewhere", session: "agent:main:foreign" }) }).catch(() => {});
        const form = Object.assign(document.createElement("form"), { method: "post", action: `${url}/api/logout`, enctype: "text/plain" });
        const frame = Object.assign(document.createElement("iframe"), { name: "hole" });
        form.target = "hole";
        document.body.append(frame, form);
        const sent = new Promise((resolve) => frame.addEventListener("load", resolve));
        form.submit();
        await sent;
        const heard = await new Promise((resolve) => {
          const socket = new WebSocket(`${url.replace("http", "ws")}/api/socket`, ["chitin"]);
          socket.onopen = () => resolve("open");
          socket.onerror = () => resolve("refused");
        });
        return { read, heard };
      }, serving.url);
      assert.deepEqual(got, { read: "refused", heard: "refused" });
      await foreign.close();
    } finally {
      other.closeAllConnections();
      other.close();
    }
    const after = await (await serving.ask("/api/sessions")).json();
    assert.deepEqual(after.sessions.map((session) => session.key), before.sessions.map((session) => session.key));
    // The form did not sign anybody out.
    await page.reload();
    await page.locator('.status[data-state="open"]').waitFor({ state: "attached" });
    faults.length = 0;
  }));

test("the content policy is strict, and the page lives with it", () =>
  visit({}, async (page, { faults }) => {
    const answer = await page.goto(`${serving.url}/`);
    const policy = answer.headers()["content-security-policy"];
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]) assert.ok(policy.includes(part), part);
    assert.equal(policy.includes("unsafe"), false);
    await signIn(page, serving);
    assert.deepEqual(faults, []);
    await page.evaluate(() => {
      document.body.append(Object.assign(document.createElement("script"), { textContent: "window.pwned = 1" }));
      document.body.insertAdjacentHTML("beforeend", '<img src="data:," onerror="window.pwned = 2">');
    });
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    faults.length = 0;
  }));

test("the first load is small", { skip: Boolean(process.env.CHITIN_PAGE_DIST) }, () =>
  visit({}, async (page, { context }) => {
    const wire = await context.newCDPSession(page);
    await wire.send("Network.enable");
    const sizes = new Map();
    wire.on("Network.responseReceived", (event) => sizes.set(event.requestId, { url: event.response.url, bytes: 0 }));
    wire.on("Network.loadingFinished", (event) => {
      if (sizes.has(event.requestId)) sizes.get(event.requestId).bytes = event.encodedDataLength;
    });
    const total = () => [...sizes.values()].reduce((sum, one) => sum + one.bytes, 0);
    await page.goto(`${serving.url}/`);
    await page.getByLabel("Token of the server").waitFor();
    const first = total();
    await signIn(page, serving);
    for (const view of VIEWS) await goTo(page, view);
    console.log(`first load: ${first} bytes over the wire; all views with their data: ${total()}`);
    assert.ok(first > 1000 && first < 60_000, `${first}`);
    assert.ok(total() < 400_000, `${total()}`);
  }));

test("no view has a serious finding of axe, light or dark", { timeout: 120_000 }, () =>
  visit({}, async (page) => {
    const audit = async (name) => {
      await page.evaluate(axe);
      const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
      assert.deepEqual(serious.map((one) => `${name}: ${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).slice(0, 3).join(" | ")}`), []);
    };
    await page.goto(`${serving.url}/`);
    await page.getByLabel("Token of the server").waitFor();
    for (const scheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: scheme });
      await audit(`login ${scheme}`);
    }
    await shot(page, "login-dark");
    await signIn(page, serving);
    await say(page, "Show everything.");
    for (const view of VIEWS) {
      for (const scheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: scheme });
        if (scheme === "light") await goTo(page, view);
        await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
        await audit(`${view} ${scheme}`);
        await shot(page, `${view.split("/")[0]}-${scheme}`);
      }
    }
  }));

test("every view fits a phone, and its menu opens", () =>
  visit({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, colorScheme: "dark" }, async (page) => {
    await signIn(page, serving);
    for (const view of VIEWS) {
      await goTo(page, view);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, view);
      await shot(page, `${view.split("/")[0]}-phone`);
    }
    await page.getByRole("button", { name: "Menu" }).click();
    await shot(page, "menu-phone");
    await page.getByRole("link", { name: "Sessions" }).click();
    await page.locator('main[data-view="sessions"]').waitFor();
    assert.equal(await page.getByRole("button", { name: "Menu" }).getAttribute("aria-expanded"), "false");
  }));

test("keys alone lead everywhere", () =>
  visit({}, async (page) => {
    await page.goto(`${serving.url}/`);
    await page.getByLabel("Token of the server").waitFor();
    await page.keyboard.type(serving.token);
    await page.keyboard.press("Enter");
    await page.locator('.status[data-state="open"]').waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "To the content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "H1");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await shot(page, "help");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.keyboard.press("g");
    await page.keyboard.press("4");
    await page.waitForFunction(() => document.activeElement.matches('main[data-view="files"] h1'));
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.type), "search");
    // What is typed into a field is typed, and goes nowhere.
    await page.keyboard.type("g1?c");
    assert.equal(await page.locator("[data-search]").inputValue(), "g1?c");
    await page.locator("main h1").focus();
    await page.keyboard.press("g");
    await page.keyboard.press("1");
    await page.locator("#composer").waitFor();
    await page.keyboard.press("c");
    assert.equal(await page.evaluate(() => document.activeElement.id), "composer");
  }));

test("light and dark follow the system, and the switch", () =>
  visit({ colorScheme: "dark" }, async (page) => {
    await signIn(page, serving);
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    await page.emulateMedia({ colorScheme: "light" });
    const light = await paper();
    assert.notEqual(dark, light);
    const change = page.getByRole("button", { name: /^Colours/ });
    await change.click();
    assert.equal(await paper(), light);
    await change.click();
    assert.equal(await paper(), dark);
    await page.reload();
    await change.waitFor();
    assert.equal(await paper(), dark);
  }));
