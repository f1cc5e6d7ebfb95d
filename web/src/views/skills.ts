// The skills of an agent, and what is wrong with its workspace.

import { html, nothing } from "lit";
import { path } from "../api/http.ts";
import type { Finding, FindingList, Skill, SkillList } from "../api/types.ts";
import { pickAgent } from "../parts/pick.ts";
import { Asked, empty, head, sentence, View } from "../parts/view.ts";
import { client, defaultAgent, gaps, route } from "../state/app.ts";
import { routeTo } from "../state/route.ts";
import { count, many } from "../text/format.ts";

class Skills extends View {
  private agent = "";
  private readonly skills = new Asked<SkillList>(this);
  private readonly findings = new Asked<FindingList>(this);

  constructor() {
    super();
    this.while(() => route.subscribe(() => this.choose()));
    this.while(() => gaps.subscribe(() => this.load()));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.choose();
  }

  private choose(): void {
    if (route.value.view !== "skills") return;
    this.agent = route.value.rest[0] ?? defaultAgent();
    this.load();
  }

  private load(): void {
    const { agent } = this;
    void this.skills.ask(() => client.get(path`/api/agents/${agent}/skills`));
    void this.findings.ask(() => client.get(path`/api/agents/${agent}/findings`));
  }

  protected override render(): unknown {
    return html`
      ${head("Skills & findings", "What the agent can look up, and what is wrong with its workspace", pickAgent(this.agent, (agent) => (location.hash = routeTo("skills", agent))))}
      <section class="section"><h2>Findings</h2>${this.findings.show(({ findings }) => this.drawFindings(findings))}</section>
      <section class="section"><h2>Skills</h2>${this.skills.show(({ skills }) => this.drawSkills(skills))}</section>`;
  }

  private drawFindings(findings: Finding[]): unknown {
    if (findings.length === 0) return html`<p class="notice good">Nothing is wrong.</p>`;
    return html`<ul class="cards">${findings.map((finding) => html`<li class="card finding" data-severity=${finding.severity}>
      <p><span class="tag" data-severity=${finding.severity}>${finding.severity}</span> <strong>${sentence(finding.message)}</strong></p>
      <p class="quiet small">${finding.path ? html`<a href=${routeTo("files", this.agent, ...finding.path.split("/"))}>${finding.path}${finding.line ? `:${finding.line}` : ""}</a> · ` : nothing}<code>${finding.code}</code></p>
      ${finding.remedy ? html`<p class="small">${sentence(finding.remedy)}</p>` : nothing}</li>`)}</ul>`;
  }

  private drawSkills(skills: Skill[]): unknown {
    if (skills.length === 0) return empty("No skills.", "A skill is a directory below `skills/` with a `SKILL.md` in it.");
    const usable = skills.filter((skill) => skill.eligible !== false).length;
    return html`<p class="quiet">${many(skills.length, "skill")}, ${count(usable)} usable here</p>
      <ul class="cards">${skills.map((skill) => html`<li class="card" data-off=${skill.eligible === false || nothing}>
        <p><strong>${skill.name}</strong> ${skill.eligible === false ? html`<span class="tag">not usable</span>` : nothing} ${skill.inPrompt === false && skill.eligible !== false ? html`<span class="tag">not in the prompt</span>` : nothing}</p>
        ${skill.description ? html`<p>${skill.description}</p>` : nothing}
        ${(skill.why ?? []).map((why) => html`<p class="small warn-text">${sentence(why)}</p>`)}
        <p class="quiet small">${skill.source ?? ""}${skill.path ? html` · ${this.place(skill.path)}` : nothing}</p></li>`)}</ul>`;
  }

  /** A path below the workspace can be opened; others are only named. */
  private place(name: string): unknown {
    return name.startsWith("/") ? html`<code>${name}</code>` : html`<a href=${routeTo("files", this.agent, ...name.split("/"))}>${name}</a>`;
  }
}
customElements.define("chitin-skills", Skills);
