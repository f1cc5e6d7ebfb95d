// The context lens, files, skills, memory, traces and routes, in a real browser against a real server.

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { openPage, say, serve, shot, signIn } from "./serving.mjs";

let browser;
let serving;
before(async () => {
  [browser, serving] = await Promise.all([launch(), serve([{ when: "", reply: { text: "So it is." } }])]);
});
after(async () => {
  await browser?.close();
  await serving?.stop();
});

async function visit(hash, body) {
  const { page, faults, close } = await openPage(browser, serving);
  try {
    await signIn(page, serving, hash);
    await body(page);
    assert.deepEqual(faults, []);
  } catch (error) {
    await shot(page, "failed-desk");
    throw error;
  } finally {
    await close();
  }
}

const number = (text) => Number(text.replaceAll(/[^\d]/g, ""));

test("the lens shows every fragment as a tile that the keyboard reaches, and its text", () =>
  visit("#/lens", async (page) => {
    const tiles = page.locator(".tile");
    await tiles.first().waitFor();
    const listed = await page.locator("table.list tbody tr:not(.boundary)").count();
    assert.ok((await tiles.count()) <= listed && (await tiles.count()) > 8);
    const beyond = await page.evaluate(() => {
      const box = document.querySelector(".treemap").getBoundingClientRect();
      const out = (tile) => tile.left < box.left - 1 || tile.top < box.top - 1 || tile.right > box.right + 1 || tile.bottom > box.bottom + 1;
      return [...document.querySelectorAll(".tile")].filter((tile) => out(tile.getBoundingClientRect())).length;
    });
    assert.equal(beyond, 0);
    assert.equal(await page.locator('.tile[tabindex="0"]').count(), 1);
    await page.locator('.tile[tabindex="0"]').focus();
    await page.keyboard.press("Home");
    const label = () => page.evaluate(() => document.activeElement.title);
    const first = await label();
    await page.keyboard.press("ArrowRight");
    assert.notEqual(await label(), first);
    assert.equal(await page.locator(".fragment h2").textContent(), (await label()).split(": ")[0]);
    await page.getByRole("button", { name: "AGENTS.md", exact: true }).click();
    assert.match(await page.getByLabel("Text that is sent").textContent(), /Operating rules/);
    await page.locator("tr.boundary").waitFor();
    await shot(page, "lens");
  }));

test("a past turn shows what changed before it, where the cache broke and what that cost", () =>
  visit("#/chat/agent:main:lens", async (page) => {
    await say(page, "First.");
    appendFileSync(serving.file("SOUL.md"), "\nAlways name the tide.\n");
    await say(page, "Second.");
    await page.getByRole("link", { name: "Context", exact: true }).click();
    const turns = page.getByRole("combobox", { name: /^Turn/ });
    await turns.locator("option").nth(2).waitFor({ state: "attached" });
    await turns.selectOption({ index: 1 });
    const broken = page.locator(".notice.warn");
    await broken.waitFor();
    assert.match(await broken.textContent(), /The cache breaks in SOUL\.md, line \d+.*tokens.*\$\d/s);
    await shot(page, "lens-cache-break");
    await broken.getByRole("button", { name: "Show the difference" }).click();
    await page.locator('.diff-line[data-op="add"]', { hasText: "Always name the tide." }).waitFor();
    await shot(page, "lens-diff");
    await turns.selectOption({ index: 2 });
    await page.getByText("There is no turn before.").waitFor();
  }));

test("what is cut from a file is marked, and can be read", () =>
  visit("#/files/main/USER.md", async (page) => {
    const before = readFileSync(serving.file("USER.md"), "utf8");
    const long = Array.from({ length: 1500 }, (_, line) => `- fact ${line} about the owner of the yard`).join("\n");
    writeFileSync(serving.file("USER.md"), `${before}\n${long}\n`);
    try {
      await page.goto(`${serving.url}/#/lens`);
      await page.getByRole("button", { name: "USER.md", exact: true }).click();
      await page.locator('.tile[data-fate="cut"]').waitFor();
      await page.locator(".cut .label").first().waitFor();
      assert.match(await page.locator(".cut .label").first().textContent(), /^Cut: lines [\d,]+ to [\d,]+/);
      assert.match(await page.getByLabel("Text that was cut").first().textContent(), /- fact \d+ about/);
      await shot(page, "lens-cut");
      await page.getByRole("tab", { name: "Files and budget" }).click();
      await page.locator("table.list tr", { hasText: "USER.md" }).locator('.fate[data-fate="cut"]').waitFor();
    } finally {
      writeFileSync(serving.file("USER.md"), before);
    }
  }));

test("typing moves the budget, and a save is on the disk whole", () =>
  visit("#/files", async (page) => {
    await page.getByRole("link", { name: /^SOUL\.md/ }).click();
    const tokens = page.locator("#budget-tokens");
    await tokens.waitFor();
    const had = number(await tokens.textContent());
    const text = `${readFileSync(serving.file("SOUL.md"), "utf8")}${"A line more about the sea. ".repeat(30)}\n`;
    await page.getByLabel("Text of SOUL.md").fill(text);
    await page.locator('.delta[data-sign="more"]').waitFor();
    const has = number(await tokens.textContent());
    assert.ok(has > had + 100, `${had} and then ${has}`);
    await page.locator(".editor-head .dirty").waitFor();
    await shot(page, "files-typing");
    // Somewhere else and back: nothing typed is lost.
    await page.getByRole("link", { name: "Memory", exact: true }).click();
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await page.getByRole("link", { name: /^SOUL\.md.*not saved/ }).click();
    assert.equal(await page.getByLabel("Text of SOUL.md").inputValue(), text);
    await page.getByLabel("Text of SOUL.md").press("Control+s");
    await page.locator(".editor-head .dirty").waitFor({ state: "detached" });
    assert.equal(readFileSync(serving.file("SOUL.md"), "utf8"), text);
    assert.equal(number(await tokens.textContent()), has);
  }));

test("a file that changed meanwhile is not overwritten unless one says so", () =>
  visit("#/files/main/TOOLS.md", async (page) => {
    const area = page.getByLabel("Text of TOOLS.md");
    await area.waitFor();
    const conflict = page.getByRole("alertdialog");
    await area.fill("Mine.\n");
    writeFileSync(serving.file("TOOLS.md"), "Theirs.\n");
    await page.getByRole("button", { name: "Save" }).click();
    await conflict.waitFor();
    assert.equal(readFileSync(serving.file("TOOLS.md"), "utf8"), "Theirs.\n");
    await conflict.locator('[data-op="remove"]', { hasText: "Theirs." }).waitFor();
    await conflict.locator('[data-op="add"]', { hasText: "Mine." }).waitFor();
    await shot(page, "files-conflict");
    await conflict.getByRole("button", { name: "Take the disk's text" }).click();
    assert.equal(await area.inputValue(), "Theirs.\n");
    await area.fill("Mine again.\n");
    writeFileSync(serving.file("TOOLS.md"), "Theirs again.\n");
    await page.getByRole("button", { name: "Save" }).click();
    await conflict.getByRole("button", { name: "Overwrite with mine" }).click();
    await page.locator(".editor-head .dirty").waitFor({ state: "detached" });
    assert.equal(readFileSync(serving.file("TOOLS.md"), "utf8"), "Mine again.\n");
  }));

test("a file outside the workspace is refused with words", () =>
  visit("#/files/main/..%2F..%2Fetc%2Fpasswd", async (page) => {
    await page.getByRole("alert").waitFor();
    assert.equal(await page.locator("#file-text").count(), 0);
  }));

test("skills, memory, traces and routes answer", () =>
  visit("#/skills", async (page) => {
    await page.locator(".card", { hasText: "weather-report" }).getByText("not usable").waitFor();
    await page.getByRole("link", { name: "Memory", exact: true }).click();
    await page.getByLabel("Question").fill("larch timber");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText(/Larch from Bergset is worth the wait/).waitFor();
    await page.getByText(/^Score: /).first().waitFor();
    await shot(page, "memory");
    await page.getByRole("link", { name: "Chat", exact: true }).click();
    await say(page, "Leave a trace.");
    await page.getByRole("link", { name: "Traces", exact: true }).click();
    await page.locator("table.list a", { hasText: "main" }).first().click();
    await page.locator(".events li", { hasText: "model.request" }).first().waitFor();
    assert.equal((await page.locator(".events").textContent()).includes("sk-test-not-a-real-key"), false);
    await shot(page, "trace");
    await page.getByRole("link", { name: "Agents & routes" }).click();
    await page.getByLabel("Channel", { exact: true }).fill("discord");
    await page.getByLabel("Place", { exact: true }).fill("channel:123");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.locator(".answer").getByText("agent:main:discord:channel:123").waitFor();
    await shot(page, "agents");
  }));

/** Somebody who wrote on a chat network and was told a code. */
function asks(senderId, senderName, code) {
  const now = Date.now();
  const place = { channel: "discord", peer: { kind: "direct", id: senderId } };
  return { channel: "discord", account: "default", senderId, senderName, code, askedAt: now, expiresAt: now + 3_000_000, toldAt: now, place };
}

test("the owner lets people in by their code, refuses them, and takes it back; a name is only a name", () =>
  visit("#/chat", async (page) => {
    const trust = path.join(serving.home, ".chitin", "trust");
    mkdirSync(trust, { recursive: true });
    const pending = [asks("100", "Ada", "ABCD2345"), asks("200", "<img src=x onerror=alert(1)>", "WXYZ6789")];
    writeFileSync(path.join(trust, "pairing.json"), JSON.stringify({ version: 1, pending, paired: [] }), { mode: 0o600 });
    await page.getByRole("link", { name: "Agents & routes" }).click();
    const card = (name) => page.locator(".card.pairing", { hasText: name });
    await card("Ada").getByText("ABCD2345").waitFor();
    await card("<img src=x onerror=alert(1)>").waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    await shot(page, "pairing");
    await card("Ada").getByRole("button", { name: "As owner" }).click();
    await card("Ada").getByText("owner", { exact: true }).waitFor();
    await card("<img").getByRole("button", { name: "Refuse" }).click();
    await page.getByText("Nobody waits.").waitFor();
    const kept = () => JSON.parse(readFileSync(path.join(trust, "pairing.json"), "utf8"));
    assert.deepEqual([kept().pending.length, kept().paired.map((one) => [one.senderId, one.owner])], [0, [["100", true]]]);
    await card("Ada").getByRole("button", { name: "Take back" }).click();
    await card("Ada").waitFor({ state: "detached" });
    assert.deepEqual(kept().paired, []);
  }));
