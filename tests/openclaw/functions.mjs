// Answers recorded cases by calling the functions of an installed release, found by their names in its bundle.
//
// Usage: node tests/openclaw/functions.mjs PACKAGE CASE.json…
// Prints one line per case: `{"id", "expected"}`, in the form of conformance/workspace/README.md. `node` is one that the release runs on,
// PACKAGE the directory `node_modules/openclaw` of an installation. Operations: load, trim, filter, limits,
// render, sections (without `rich`).
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [packageDir, ...caseFiles] = process.argv.slice(2);
if (!packageDir || caseFiles.length === 0) {
  console.error("usage: node tests/openclaw/functions.mjs PACKAGE CASE.json…");
  process.exit(2);
}
const dist = path.join(packageDir, "dist");
const chunks = fs.readdirSync(dist).filter((name) => /\.m?js$/.test(name));

// Bundles export under short aliases: `export { longName as t }`.
async function find(name) {
  for (const chunk of chunks) {
    const text = fs.readFileSync(path.join(dist, chunk), "utf8");
    if (!text.includes(`function ${name}(`)) continue;
    const alias = text.match(new RegExp(`export \\{[^}]*\\b${name}(?: as (\\w+))?[,\\s}]`));
    if (alias) return (await import(pathToFileURL(path.join(dist, chunk))))[alias[1] ?? name];
  }
  throw new Error(`this release exports no function ${name}`);
}

const contentOf = (entry) =>
  entry.base64 !== undefined
    ? Buffer.from(entry.base64, "base64")
    : (entry.parts ?? [{ text: entry.text ?? "" }]).map((part) => part.text ?? part.repeat.repeat(part.count)).join("");

// The exact text, or its digest when it is long; see `utf16_len` and placeholders in the README of the cases.
function shown(text, names) {
  let filled = text.toWellFormed().replaceAll("\uFFFD", (sign, at) => (text[at] === sign ? sign : ""));
  for (const [place, name] of names) filled = filled.replaceAll(place, name);
  const all = { utf16_len: text.length };
  if (text.length <= 3000) return { ...all, content: filled };
  const sha256 = createHash("sha256").update(filled).digest("hex");
  return { ...all, sha256, head: filled.slice(0, 160), tail: filled.slice(-160) };
}

function layOut(input) {
  const parent = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "case-")));
  const length = (input.workspace_path_len ?? 0) - parent.length - 1;
  const workspace = path.join(parent, "w".repeat(Math.max(1, length)));
  fs.mkdirSync(workspace);
  const { dirs = [], files = [], symlinks = [], hardlinks = [] } = input.workspace ?? {};
  const at = (name) => path.join(workspace, name);
  for (const dir of dirs) fs.mkdirSync(at(dir), { recursive: true });
  for (const file of files) {
    fs.mkdirSync(path.dirname(at(file.path)), { recursive: true });
    fs.writeFileSync(at(file.path), contentOf(file));
  }
  for (const link of symlinks) {
    fs.mkdirSync(path.dirname(at(link.path)), { recursive: true });
    fs.symlinkSync(link.target.replaceAll("{WORKSPACE}", workspace), at(link.path));
  }
  for (const link of hardlinks) fs.linkSync(at(link.target), at(link.path));
  return { parent, workspace };
}

// Lines of the prompt that end the files of a workspace.
const ENDS = /^(## Silent Replies|<!-- OPENCLAW_CACHE_BOUNDARY -->|## Heartbeats|## Runtime)$/;

async function promptOf(contextFiles, more) {
  const build = await find("buildConfiguredAgentSystemPrompt");
  return build({ config: {}, agentId: "main", workspaceDir: "/w", contextFiles, ...more }).split("\n");
}

const operations = {
  async load(input) {
    const load = await find("loadWorkspaceBootstrapFiles");
    const { parent, workspace } = layOut(input);
    let dir = workspace;
    if (input.load_via_symlink) {
      dir = path.join(parent, input.load_via_symlink);
      fs.symlinkSync(workspace, dir);
    }
    const names = [[dir, dir === workspace ? "{WORKSPACE}" : "{LINK}"], [workspace, "{WORKSPACE}"], [parent, "{PARENT}"]];
    const files = (await load(dir)).map((file) => ({
      name: file.name,
      path: file.path.replace(dir, names[0][1]),
      missing: file.missing,
      ...(file.missing ? {} : shown(file.content, names)),
    }));
    fs.rmSync(parent, { recursive: true });
    return { files };
  },
  async trim(input) {
    const trim = await find("buildBootstrapContextFiles");
    const warnings = [];
    const warn = (line) => {
      const cut = line.match(/file (\S+) is (\d+) chars \(limit (\d+)\)/);
      const stopped = line.match(/budget is (\d+) chars/);
      const skipped = line.match(/file "(.*?)"/);
      warnings.push(cut ? `truncated ${cut.slice(1).join(" ")}` : stopped ? `stopped ${stopped[1]}` : `skipped ${skipped?.[1]}`);
    };
    const records = input.files.map((file) => ({
      name: file.name,
      path: "path" in file ? file.path : `/w/${file.name}`,
      ...(file.missing ? { missing: true } : { missing: false, content: contentOf(file) }),
    }));
    const files = trim(records, { warn, maxChars: input.max_chars, totalMaxChars: input.total_max_chars });
    return { context_files: files.map((file) => ({ path: file.path, ...shown(file.content, []) })), warnings };
  },
  async filter(input) {
    const filter = await find("filterBootstrapFilesForSession");
    const records = input.names.map((name) => ({ name, path: `/w/${name}`, content: "x", missing: false }));
    const kept = {};
    for (const sessionKey of input.session_keys) {
      const session = { sessionKey, chatType: input.chat_type, workspaceDir: "/w" };
      kept[sessionKey] = filter(records, session).map((file) => file.name);
    }
    return { kept };
  },
  async render(input) {
    const prompt = await promptOf(input.context_files.map((file) => ({ path: file.path, content: contentOf(file) })), {
      toolNames: [],
      activeProjectKeys: input.active_project_keys,
    });
    const block = (opening) => {
      const start = prompt.indexOf(opening);
      if (start < 0) return null;
      const end = start + prompt.slice(start).findIndex((line) => ENDS.test(line));
      // The boundary brings an empty line of its own.
      const lines = prompt.slice(start, prompt[end].startsWith("<!--") ? end - 1 : end);
      const first = lines.findIndex((line, at) => at > 0 && line.startsWith("## "));
      return { content: [opening, "{GUIDANCE}", ...lines.slice(first)].join("\n") };
    };
    return { rendered: { stable: block("# Project Context"), dynamic: block("# Dynamic Project Context") } };
  },
  async sections(input) {
    if (input.rich) return undefined;
    const files = ["AGENTS.md", "HEARTBEAT.md"].map((name) => ({ path: `/w/${name}`, content: "x" }));
    const prompt = await promptOf(files, { toolNames: input.tools, promptMode: input.prompt_mode });
    return { headings: prompt.filter((line) => /^(#{1,3} |<!-- )/.test(line)) };
  },
  async limits(input) {
    const one = await find("resolveBootstrapMaxChars");
    const all = await find("resolveBootstrapTotalMaxChars");
    const injection = await find("resolveContextInjectionMode");
    const values = input.configs.map(({ config, agent_id }) => ({
      config,
      ...(agent_id === undefined ? {} : { agent_id }),
      max_chars: one(config, agent_id),
      total_max_chars: all(config, agent_id),
      context_injection: injection(config, agent_id),
    }));
    return { values };
  },
};

for (const file of caseFiles) {
  const recorded = JSON.parse(fs.readFileSync(file, "utf8"));
  const expected = await operations[recorded.op]?.(recorded.input);
  if (expected) console.log(JSON.stringify({ id: recorded.id, file, expected }));
}
