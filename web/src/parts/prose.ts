// Markdown as elements. Every word goes through a text node; addresses are checked when they are read.

import { html, nothing } from "lit";
import { type Block, type Inline, readMarkdown } from "../text/markdown.ts";

export function prose(text: string): unknown {
  return html`<div class="prose">${readMarkdown(text).map(drawBlock)}</div>`;
}

function drawBlock(block: Block): unknown {
  switch (block.kind) {
    case "paragraph":
      return html`<p>${block.children.map(drawInline)}</p>`;
    case "heading":
      // Headings of a message stand below those of the page.
      return html`<p class="prose-heading" data-level=${block.level}>${block.children.map(drawInline)}</p>`;
    case "code":
      return html`<pre role="group" tabindex="0" aria-label=${block.language ? `Code, ${block.language}` : "Code"}><code>${block.text}</code></pre>`;
    case "quote":
      return html`<blockquote>${block.children.map(drawBlock)}</blockquote>`;
    case "list": {
      const items = block.items.map((item) => html`<li>${item.map((inner) => tight(inner, item.length))}</li>`);
      return block.ordered ? html`<ol start=${block.start}>${items}</ol>` : html`<ul>${items}</ul>`;
    }
    case "table":
      return html`<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table>
        <thead><tr>${block.head.map((cell) => html`<th scope="col">${cell.map(drawInline)}</th>`)}</tr></thead>
        <tbody>${block.rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell.map(drawInline)}</td>`)}</tr>`)}</tbody>
      </table></div>`;
    case "rule":
      return html`<hr />`;
  }
}

/** An item of one line needs no paragraph around it. */
function tight(block: Block, beside: number): unknown {
  return block.kind === "paragraph" && beside === 1 ? block.children.map(drawInline) : drawBlock(block);
}

function drawInline(inline: Inline): unknown {
  switch (inline.kind) {
    case "text":
      return inline.text;
    case "code":
      return html`<code>${inline.text}</code>`;
    case "strong":
      return html`<strong>${inline.children.map(drawInline)}</strong>`;
    case "emphasis":
      return html`<em>${inline.children.map(drawInline)}</em>`;
    case "deleted":
      return html`<del>${inline.children.map(drawInline)}</del>`;
    case "link":
      return html`<a href=${inline.href} target="_blank" rel="noopener noreferrer nofollow">${inline.children.map(drawInline)}</a>`;
    case "break":
      return html`<br />`;
    default:
      return nothing;
  }
}
