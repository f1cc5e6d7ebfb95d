// A file that is being edited: what is on the disk, what is in the editor, and what to do when both changed.

import type { OpenFile } from "../api/types.ts";

export interface Editing {
  path: string;
  /** What the disk had when it was read; the version that a save names. */
  base: string;
  version: string | null;
  text: string;
  editable: boolean;
  reason: string;
  /** What the disk has now, when a save found it changed. */
  conflict: { text: string; version: string | null } | null;
}

/** Opens a file; a draft that was kept goes on where it was left. */
export function open(file: OpenFile, draft: string | null): Editing {
  const editable = file.editable !== false;
  const kept = editable ? readDraft(draft) : null;
  return {
    path: file.path,
    base: file.text,
    // A draft knows which text it began with: when the disk has another one now, saving must say so.
    version: kept ? kept.version : file.version,
    text: kept ? kept.text : file.text,
    editable,
    reason: file.reason ?? "",
    conflict: null,
  };
}

export function isDirty(editing: Editing): boolean {
  return editing.text !== editing.base;
}

/** What is kept of it for the tab; empty when there is nothing to keep. */
export function draftOf(editing: Editing): string {
  return isDirty(editing) ? JSON.stringify({ version: editing.version, text: editing.text }) : "";
}

function readDraft(draft: string | null): { version: string | null; text: string } | null {
  if (!draft) return null;
  try {
    const value = JSON.parse(draft) as { version?: unknown; text?: unknown };
    if (typeof value.text !== "string") return null;
    return { text: value.text, version: typeof value.version === "string" ? value.version : null };
  } catch {
    return null;
  }
}

export function typed(editing: Editing, text: string): Editing {
  return { ...editing, text };
}

/** The text that was sent is on the disk; what was typed meanwhile is not. */
export function saved(editing: Editing, text: string, version: string): Editing {
  return { ...editing, base: text, version, conflict: null };
}

export function conflicted(editing: Editing, current: { text?: string | null; version?: string | null } | undefined): Editing {
  return { ...editing, conflict: { text: current?.text ?? "", version: current?.version ?? null } };
}

/** Ends a conflict: with the disk's text, or with ours, which the next save puts over the disk's. */
export function settle(editing: Editing, whose: "disk" | "ours"): Editing {
  if (!editing.conflict) return editing;
  const { text, version } = editing.conflict;
  return { ...editing, base: text, version, text: whose === "disk" ? text : editing.text, conflict: null };
}
