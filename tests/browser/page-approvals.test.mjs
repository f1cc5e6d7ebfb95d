// Questions for permission on the page, in a real browser against a real server.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { auditContrast, auditNames } from "./audit.mjs";
import { launch } from "./browser.mjs";
import { openPage, serve, shot, signIn } from "./serving.mjs";

const SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
const exec = (command) => ({ calls: [{ name: "exec", input: { command } }] });
const write = (name, content) => ({ calls: [{ name: "write", input: { path: name, content } }] });
const rules = [
  { when: "tool_result", reply: { text: "That is that." } },
  { when: "Tidy up", reply: exec(`rm -r logs # ${SECRET}`) },
  { when: "Tidy again", reply: exec("rm -r logs") },
  { when: "Learn", reply: write("SKILLS.md", "# Skills\n\n<b>oak</b>\n") },
  { when: "Loosen", reply: write("MCP.md", "x\n") },
];

let browser;
let serving;
before(async () => {
  [browser, serving] = await Promise.all([launch(), serve(rules)]);
});
after(async () => {
  await browser?.close();
  await serving?.stop();
});

async function visit(hash, body, options = {}) {
  const { page, faults, close } = await openPage(browser, serving, options);
  try {
    await signIn(page, serving, hash);
    await body(page);
    assert.deepEqual(faults, []);
  } catch (error) {
    await shot(page, "failed-approvals");
    throw error;
  } finally {
    await close();
  }
}

function logs() {
  mkdirSync(serving.file("logs"), { recursive: true });
  writeFileSync(path.join(serving.file("logs"), "a"), "x");
}

async function tell(page, text) {
  await page.locator("#composer").fill(text);
  await page.keyboard.press("Enter");
}

const card = (page, state) => page.locator(`.approval[data-state="${state}"]`);

test("a command is shown with what it does, refused with a reason, and the agent reads it", () =>
  visit("#/chat/agent:main:tidy", async (page) => {
    logs();
    await tell(page, "Tidy up.");
    await card(page, "waits").waitFor();
    const text = await card(page, "waits").textContent();
    assert.match(text, /exec asks for your permission/);
    assert.match(text, /rm -r logs/);
    assert.match(text, /deletes directories/);
    assert.match(text, /exactly this/);
    assert.ok(!(await page.content()).includes(SECRET.slice(4)), "the secret is masked");
    assert.match(await page.locator("#spoken").textContent(), /exec asks for permission: rm -r logs/);
    await page.locator('nav .badge.asks[aria-label="1 waiting for your permission"]').waitFor();
    assert.equal(await page.locator(".banner").count(), 0);
    assert.deepEqual(await page.evaluate(auditNames), []);
    assert.deepEqual(await page.evaluate(auditContrast), []);
    await shot(page, "approval-command");
    await card(page, "waits").getByLabel("Why not").fill("keep the logs");
    await card(page, "waits").getByRole("button", { name: "Refuse" }).click();
    await card(page, "refused").getByText("Refused on the page: keep the logs").waitFor();
    await page.locator(".log").getByText("That is that.").waitFor();
    assert.ok(existsSync(serving.file("logs/a")));
    assert.ok(serving.model.requests.some((request) => JSON.stringify(request.messages.at(-1)).includes("said: keep the logs")));
    await page.locator("nav .badge.asks").waitFor({ state: "detached" });
    await shot(page, "approval-refused");
  }));

test("a change of a guardrail file is shown as a diff, allowed once, and done", () =>
  visit("#/chat/agent:main:learn", async (page) => {
    await tell(page, "Learn.");
    await card(page, "waits").locator('.diff-line[data-op="add"]').first().waitFor();
    assert.match(await card(page, "waits").locator(".diff").textContent(), /<b>oak<\/b>/);
    assert.equal(await card(page, "waits").locator("b").count(), 0);
    await shot(page, "approval-diff");
    await page.setViewportSize({ width: 360, height: 780 });
    await card(page, "waits").scrollIntoViewIfNeeded();
    await shot(page, "approval-narrow");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is cut off");
    await card(page, "waits").getByRole("button", { name: "Allow once" }).click();
    await card(page, "allowed").getByText("Allowed once on the page").waitFor();
    await page.locator(".log").getByText("That is that.").waitFor();
    assert.match(readFileSync(serving.file("SKILLS.md"), "utf8"), /oak/);
  }));

test("another session that waits is named, and an answer from elsewhere is shown", () =>
  visit("#/chat/agent:main:calm", async (page) => {
    const body = JSON.stringify({ text: "Loosen.", session: "agent:main:busy" });
    assert.equal((await serving.ask("/api/messages", { method: "POST", body })).status, 202);
    const banner = page.locator(".banner", { hasText: "Waiting for your permission" });
    await banner.waitFor();
    await shot(page, "approval-elsewhere");
    await banner.getByRole("link").click();
    await card(page, "waits").waitFor();
    await banner.waitFor({ state: "detached" });
    const { pending } = await (await serving.ask("/api/approvals")).json();
    const answered = await serving.ask(`/api/approvals/${pending[0].id}`, { method: "POST", body: JSON.stringify({ answer: "no", why: "by hand" }) });
    assert.equal(answered.status, 200);
    await card(page, "refused").getByText("Refused with the token: by hand").waitFor();
    assert.notEqual(readFileSync(serving.file("MCP.md"), "utf8"), "x\n");
  }));

test("what is allowed always is listed, holds, and is revoked", () =>
  visit("#/chat/agent:main:always", async (page) => {
    logs();
    await tell(page, "Tidy again.");
    await card(page, "waits").getByRole("button", { name: "Always" }).click();
    await card(page, "allowed").getByText("Allowed always on the page").waitFor();
    await page.locator(".log").getByText("That is that.").waitFor();
    assert.ok(!existsSync(serving.file("logs")));
    await page.getByRole("link", { name: "Agents & routes" }).click();
    const kept = page.locator(".approval-kept");
    await kept.waitFor();
    assert.match(await kept.textContent(), /exec\s*rm -r logs\s*exactly this/);
    await shot(page, "approvals-kept");
    await kept.getByRole("button", { name: /Revoke/ }).click();
    await kept.waitFor({ state: "detached" });
    const { remembered } = await (await serving.ask("/api/approvals")).json();
    assert.deepEqual(remembered, []);
  }));

test("a server that is killed while it asks leaves no question behind", () =>
  visit("#/chat/agent:main:killed", async (page) => {
    logs();
    await tell(page, "Tidy again.");
    await card(page, "waits").waitFor();
    await serving.kill();
    await serving.restart();
    await page.locator('.status[data-state="open"]').waitFor({ state: "attached" });
    await card(page, "refused").getByText("Not needed any more").first().waitFor();
    assert.equal((await (await serving.ask("/api/approvals/x", { method: "POST", body: JSON.stringify({ answer: "no" }) })).json()).error.code, "unknown_approval");
  }));
