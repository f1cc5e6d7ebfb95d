// The context page in a real browser. Needs Chromium and the pages that `scripts/browser-test` prepares.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { auditContrast, auditNames } from "./audit.mjs";
import { fixture, launch, open, picture, pictures, realPage } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Opens a page for one test, and checks at the end that nothing went wrong meanwhile. */
async function visit(file, options, body) {
  const { page, faults, close } = await open(browser, file, options);
  try {
    await body(page);
    assert.deepEqual(faults, []);
  } finally {
    await close();
  }
}

const total = (page) => page.locator("#totals strong").first().textContent();

/** What holds for any page. */
function anyPage(name, file) {
  describe(name, () => {
    test("opens without an error and asks for nothing but itself", () =>
      visit(file, {}, async (page) => {
        assert.match(await total(page), /^(at least )?[\d,]+ tokens?$/);
        await picture(page, `${name}-light`, { fullPage: true });
      }));

    test("has tiles inside the map that the keyboard reaches and opens", () =>
      visit(file, {}, async (page) => {
        const tiles = page.locator(".tile");
        const parts = await page.locator("#parts tr[data-fragment]").count();
        assert.equal(await tiles.count(), parts);
        const spilled = await page.evaluate(() => {
          const box = document.getElementById("treemap").getBoundingClientRect();
          const beyond = (tile) => tile.left < box.left - 1 || tile.top < box.top - 1 || tile.right > box.right + 5 || tile.bottom > box.bottom + 5;
          return [...document.querySelectorAll(".tile")].filter((tile) => beyond(tile.getBoundingClientRect())).length;
        });
        assert.equal(spilled, 0);
        assert.equal(await page.locator('.tile[tabindex="0"]').count(), 1);
        await page.locator('.tile[tabindex="0"]').focus();
        await page.keyboard.press("End");
        const label = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
        await page.keyboard.press("Enter");
        assert.equal(await page.locator("#panel-title").textContent(), label.split("; ")[0]);
        assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), label);
      }));

    test("is reached with Tab alone, from the search to the text", () =>
      visit(file, {}, async (page) => {
        const stops = new Set();
        for (let press = 0; press < 120; press += 1) {
          await page.keyboard.press("Tab");
          const stop = await page.evaluate(() => {
            const at = document.activeElement;
            return at.id || at.closest("[id]")?.id;
          });
          stops.add(stop);
        }
        for (const stop of ["query", "theme", "help", "contracts", "tab-map", "by-sent", "treemap", "parts", "panel-text"]) {
          assert.ok(stops.has(stop), `${stop} not among ${[...stops].join(", ")}`);
        }
      }));

    test("changes its figures when another contract is chosen by keyboard", () =>
      visit(file, {}, async (page) => {
        const labels = page.locator("#contracts [role=tab]");
        if ((await labels.count()) < 2) return;
        const seen = new Set([await total(page)]);
        await page.locator('#contracts [aria-selected="true"]').focus();
        for (let step = 1; step < (await labels.count()); step += 1) {
          await page.keyboard.press("ArrowRight");
          assert.equal(await labels.nth(step).getAttribute("aria-selected"), "true");
          seen.add(await total(page));
        }
        assert.ok(seen.size > 1, "all contracts gave the same figures");
      }));

    test("finds a word, counts it and goes from hit to hit", () =>
      visit(file, {}, async (page) => {
        const word = (await page.locator("#panel-text .text").allTextContents()).join(" ").match(/[A-Za-z]{4,}/)[0];
        await page.keyboard.press("/");
        await page.keyboard.type(word);
        await page.keyboard.press("Enter");
        const found = page.locator("#found");
        assert.match(await found.textContent(), /^1 of [\d,]+/);
        assert.equal((await page.locator("mark.current").first().textContent()).toLowerCase(), word.toLowerCase());
        await page.keyboard.press("Escape");
        assert.equal(await page.locator("mark").count(), 0);
      }));

    test("shows the whole prompt and a diff", () =>
      visit(file, {}, async (page) => {
        await page.keyboard.press("p");
        assert.ok((await page.locator("#prompt-text .row").count()) > 0);
        await picture(page, `${name}-prompt`);
        await page.keyboard.press("d");
        assert.equal(await page.locator("#diff-totals > div").count(), 4);
        await picture(page, `${name}-diff`);
      }));

    test("is dark when the system is, and when told to", () =>
      visit(file, { colorScheme: "dark" }, async (page) => {
        const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        const dark = await paper();
        await picture(page, `${name}-dark`);
        await page.emulateMedia({ colorScheme: "light" });
        const light = await paper();
        assert.notEqual(dark, light);
        await page.locator("#theme").click();
        assert.equal(await paper(), light);
        await page.locator("#theme").click();
        assert.equal(await paper(), dark);
      }));

    test("fits a phone without scrolling sideways", () =>
      visit(file, { viewport: { width: 375, height: 780 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }, async (page) => {
        for (const tab of ["map", "prompt", "diff"]) {
          await page.locator(`#tab-${tab}`).click();
          const width = await page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth));
          assert.equal(width, 375, tab);
        }
        await page.locator("#tab-map").click();
        await picture(page, `${name}-phone`, { fullPage: true });
      }));

    test("names what can be pressed, and can be read in both colour schemes", async () => {
      for (const colorScheme of ["light", "dark"]) {
        await visit(file, { colorScheme }, async (page) => {
          for (const tab of ["map", "prompt", "diff"]) {
            await page.locator(`#tab-${tab}`).click();
            assert.deepEqual(await page.evaluate(auditNames), [], tab);
            assert.deepEqual(await page.evaluate(auditContrast), [], `${tab}, ${colorScheme}`);
          }
        });
      }
    });

    test("without scripts still lists the parts", () =>
      visit(file, { javaScriptEnabled: false }, async (page) => {
        assert.ok((await page.locator("noscript table tbody tr, .plain table tbody tr").count()) > 0);
      }));
  });
}

anyPage("fixture", fixture);
const real = realPage();
if (real === null) test("a real workspace", { skip: "the program has no `context` command yet" }, () => {});
else anyPage("harbor", real);

describe("one of everything", () => {
  const openPart = (page, title) => page.locator("#parts .link", { hasText: title }).click();

  test("a cut file shows what was kept, what was cut and why", () =>
    visit(fixture, {}, async (page) => {
      await openPart(page, "TOOLS.md");
      await page.locator("#tab-file").click();
      assert.match(await page.locator(".row.notice").textContent(), /^Cut: per-file limit · lines \d+–\d+$/);
      assert.ok((await page.locator(".file-row.is-cut").count()) > 5);
      assert.match(await page.locator("#reason").textContent(), /Longer than/);
      await page.locator(".row.notice").scrollIntoViewIfNeeded();
      await picture(page, "fixture-file");
      await page.locator("#by-disk").click();
      const [cut, tile] = await page.evaluate(() => {
        const hatch = document.querySelector(".tile .hatch");
        return [hatch.offsetHeight, hatch.parentElement.clientHeight];
      });
      assert.ok(Math.abs(cut / tile - 0.5) < 0.05, "on disk, the hatched part is to scale");
      await picture(page, "fixture-disk");
    }));

  test("lines say where they come from: number in the prompt, line in the file, our own words", () =>
    visit(fixture, {}, async (page) => {
      await openPart(page, "SOUL.md");
      const rows = await page.locator("#panel-text .row").evaluateAll((all) =>
        all.map((row) => [row.children[0].dataset.shown, row.children[1].dataset.shown, row.children[2].textContent]),
      );
      const heading = rows.findIndex((row) => row[2] === "# Persona");
      assert.equal(rows[heading][1], ":1");
      assert.equal(Number(rows[heading + 2][0]), Number(rows[heading][0]) + 2);
      assert.equal(rows[heading + 2][1], ":3");
      assert.equal(rows[0][1], "ours");
    }));

  test("missing, refused and left-out files are named with their reason", () =>
    visit(fixture, {}, async (page) => {
      assert.equal(await page.locator(".tile.is-missing").count(), 1);
      await openPart(page, "IDENTITY.md");
      await page.locator("#tab-file").click();
      assert.match(await page.locator("#panel-text").textContent(), /There is no such file/);
      await page.locator("#absent .link", { hasText: "HEARTBEAT.md" }).click();
      assert.match(await page.locator("#reason").textContent(), /leads outside the workspace/);
      await page.keyboard.press("]");
      await page.locator("#absent .link", { hasText: "MEMORY.md" }).click();
      assert.match(await page.locator("#reason").textContent(), /Shared sessions/);
      assert.match(await page.locator("#panel-text").textContent(), /Larch/i);
    }));

  test("the cache boundary is a rule in the whole prompt, at its byte", () =>
    visit(fixture, {}, async (page) => {
      await page.keyboard.press("p");
      const rule = page.locator(".boundary-rule");
      for (let turn = 0; turn < 40 && (await rule.count()) === 0; turn += 1) await page.mouse.wheel(0, 600);
      await rule.evaluate((element) => element.scrollIntoView({ block: "center" }));
      assert.match(await rule.textContent(), /Cache boundary · byte [\d,]+/);
      const next = await rule.evaluate((element) => element.nextElementSibling.textContent);
      assert.equal(next, "");
      await picture(page, "fixture-boundary");
    }));

  test("hostile text is shown as text, and what hides in it is made visible", () =>
    visit(fixture, {}, async (page) => {
      await openPart(page, "USER.md");
      const text = await page.locator("#panel-text").textContent();
      assert.ok(text.includes("</script><script>document.title='broken'</script>"));
      assert.ok(text.includes("U+202E"));
      assert.ok(text.includes("{{data}}"));
      assert.equal(await page.title(), "yard · context");
      assert.equal(await page.locator("img").count(), 0);
    }));

  test("search tells what is sent from what was cut", () =>
    visit(fixture, {}, async (page) => {
      await page.locator("#query").fill("cradle bolt");
      await page.locator("#query").press("Enter");
      const words = await page.locator("#found").textContent();
      const [, all, sent, unsent] = words.match(/^1 of (\d+) · (\d+) sent, (\d+) not sent$/);
      assert.equal(Number(all), Number(sent) + Number(unsent));
      await page.locator("#query").press("Shift+Enter");
      assert.equal(await page.locator("#tab-file").getAttribute("aria-selected"), "true");
      assert.equal(await page.locator(".is-cut mark.current, .file-row mark.current").count(), 1);
      await page.locator("#panel-text").focus();
      await page.keyboard.press("n");
      assert.match(await page.locator("#found").textContent(), /^1 of/);
      await picture(page, "fixture-search");
    }));

  test("the diff says the first byte that differs and what of the cache survives", () =>
    visit(fixture, {}, async (page) => {
      await page.keyboard.press("d");
      await page.locator("#diff-from").selectOption({ label: "canonical" });
      await page.locator("#diff-to").selectOption({ label: "roomy" });
      const figures = await page.locator("#diff-totals > div").allTextContents();
      assert.match(figures[2], /First byte that differs[\d,]+line [\d,]+, in TOOLS\.md/);
      assert.match(figures[3], /survives\d+ %about [\d,]+ of [\d,]+ tokens/);
      assert.ok((await page.locator(".diff-row.added").count()) > 0);
      assert.equal(await page.locator("#diff-text .number[data-shown='1']").count(), 0);
      await page.locator(".fold button").first().click();
      assert.equal(await page.locator("#diff-text .number[data-shown='1']").count(), 2);
      await page.locator("#diff-to").selectOption({ label: "canonical" });
      assert.match(await page.locator("#diff-totals").textContent(), /the same, byte for byte/);
    }));

  test("a reload shows the same part", () =>
    visit(fixture, {}, async (page) => {
      await page.keyboard.press("]");
      await openPart(page, "SOUL.md");
      await page.reload();
      assert.equal(await page.locator("#panel-title").textContent(), "SOUL.md");
      assert.equal(await page.locator('#contracts [aria-selected="true"]').textContent(), "roomy");
    }));
});

/** Writes the fixture with other data. The data is not covered by a hash. */
function changed(name, change) {
  const html = readFileSync(fixture, "utf8");
  const start = html.indexOf('id="data">') + 'id="data">'.length;
  const end = html.indexOf("</script>", start);
  const data = JSON.parse(html.slice(start, end));
  change(data.page);
  const file = path.join(pictures, `${name}.html`);
  writeFileSync(file, html.slice(0, start) + JSON.stringify(data).replaceAll("<", "\\u003c") + html.slice(end));
  return file;
}

describe("odd pages", () => {
  const odd = {
    "no view": (page) => (page.views = []),
    "one view": (page) => page.views.splice(1),
    "no part": (page) => page.views.forEach((view) => ((view.fragments = []), (view.files = []))),
    "no file": (page) => ((page.texts = []), page.views.forEach((view) => (view.files = []))),
    "no model": (page) => page.views.forEach((view) => (view.model = null)),
    "a boundary at the start": (page) => page.views.forEach((view) => (view.boundary = 0)),
    "a boundary beyond the end": (page) => page.views.forEach((view) => (view.boundary = 10_000_000)),
    "empty parts": (page) => page.views.forEach((view) => view.fragments.forEach((part) => (part.pieces = []))),
    "no tokens": (page) => page.views.forEach((view) => view.fragments.forEach((part) => (part.injected.tokens = 0))),
    "long names": (page) => page.views.forEach((view) => view.fragments.forEach((part) => (part.title = "name".repeat(60)))),
    "many views": (page) => (page.views = Array.from({ length: 24 }, (_, at) => ({ ...page.views[0], label: `view ${at}` }))),
  };
  for (const [name, change] of Object.entries(odd)) {
    test(name, () =>
      visit(changed("odd", change), { viewport: { width: 375, height: 700 } }, async (page) => {
        for (const key of ["p", "d", "m", "j", "k", "f", "]", "[", "n"]) await page.keyboard.press(key);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.equal(width, 375);
      }));
  }
});

describe("two megabytes", () => {
  /** The fixture with one file of two megabytes, one line of it without a break. */
  function largePage() {
    const lines = Array.from({ length: 30_000 }, (_, line) => `${line} the quick brown fox jumps over the lazy dog, again and again`);
    lines.push("unbroken ".repeat(20_000));
    const long = `${lines.join("\n")}\n`;
    return changed("large", (page) =>
      page.views.forEach((view, index) => {
        const text = index === 0 ? long : long.replaceAll("7 the", "7 a");
        const part = view.fragments.find((fragment) => fragment.title === "AGENTS.md");
        part.pieces.push({ text, source: "file", first_line: 1 });
        part.injected = part.raw = { units: text.length, bytes: text.length, tokens: text.length / 4, lines: 30_001 };
        if (view.boundary !== null) view.boundary += text.length;
        const file = view.files.find((candidate) => candidate.name === "AGENTS.md");
        file.regions.push({ kept: true, start_line: 1, end_line: 30_001, text, why: "" });
      }),
    );
  }

  test("do not freeze the page, and only what is near is in the document", () =>
    visit(largePage(), {}, async (page) => {
      const timed = async (body) => {
        const begin = Date.now();
        await body();
        return Date.now() - begin;
      };
      const times = {
        whole: await timed(() => page.keyboard.press("p")),
        diff: await timed(() => page.keyboard.press("d")),
        map: await timed(() => page.keyboard.press("m")),
        search: await timed(async () => {
          await page.locator("#query").fill("29999 the");
          await page.locator("#query").press("Enter");
          await page.locator("mark.current").waitFor();
        }),
      };
      assert.match(await page.locator("#found").textContent(), /^1 of 1/);
      for (const [step, time] of Object.entries(times)) assert.ok(time < 5000, `${step}: ${time} ms`);
      const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
      assert.ok(nodes < 12_000, `${nodes} elements`);
      await page.keyboard.press("Escape");
      await page.keyboard.press("p");
      await page.keyboard.press("End");
      await page.waitForTimeout(300);
      await page.keyboard.press("End");
      await page.locator(".boundary-rule").waitFor();
      const later = await page.evaluate(() => document.querySelectorAll("*").length);
      assert.ok(later < 12_000, `${later} elements`);
    }));
});
