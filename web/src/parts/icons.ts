// Small pictures, drawn here so that none is fetched. Screen readers pass over them: words stand beside each.

import { svg, html, type TemplateResult } from "lit";

const SHAPES = {
  chat: svg`<path d="M3 4.5h14v9H9l-4 3v-3H3z"/>`,
  sessions: svg`<path d="M5 4v12M5 7h5M5 13h5"/><circle cx="13" cy="7" r="2"/><circle cx="13" cy="13" r="2"/>`,
  lens: svg`<path d="M3 3h8v8H3zM11 3h6v5h-6zM11 8h6v9h-6zM3 11h8v6H3z"/>`,
  files: svg`<path d="M5 2.5h7l3.5 3.5v11.500H5zM12 2.500V6h3.500M7.500 10h5.500M7.500 13h5.500"/>`,
  changes: svg`<path d="M4 8h9a3.500 3.500 0 0 1 0 7H8M7 5L4 8l3 3"/>`,
  skills: svg`<path d="M10 3l2 4.500 5 .500-3.700 3.300 1 4.900L10 13.700 5.700 16.200l1-4.900L3 8l5-.500z"/>`,
  memory: svg`<circle cx="9" cy="9" r="5"/><path d="M13 13l4 4"/>`,
  traces: svg`<path d="M3 15l4-5 3 3 4-7 3 4"/>`,
  agents: svg`<circle cx="10" cy="7" r="3"/><path d="M4 17c.500-4 3-5.500 6-5.500s5.500 1.500 6 5.500"/>`,
  menu: svg`<path d="M3 6h14M3 10h14M3 14h14"/>`,
  system: svg`<circle cx="10" cy="10" r="6.500"/><path d="M10 3.500v13a6.500 6.500 0 0 0 0-13" fill="currentColor"/>`,
  light: svg`<circle cx="10" cy="10" r="3.500"/><path d="M10 2v2M10 16v2M2 10h2M16 10h2M4.500 4.500l1.400 1.400M14.100 14.100l1.400 1.400M4.500 15.500l1.400-1.400M14.100 5.900l1.400-1.400"/>`,
  dark: svg`<path d="M15.500 12.500A6.500 6.500 0 0 1 7.500 4.500a6.500 6.500 0 1 0 8 8z"/>`,
  help: svg`<circle cx="10" cy="10" r="7"/><path d="M8 8a2 2 0 1 1 2.800 1.800c-.600.300-.800.700-.800 1.400M10 13.800v.200"/>`,
  leave: svg`<path d="M8 3.500H4v13h4M12 6.500l3.500 3.500-3.500 3.500M15 10H8"/>`,
} as const;

export type Icon = keyof typeof SHAPES;

export function icon(name: Icon): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">${SHAPES[name]}</svg>`;
}
