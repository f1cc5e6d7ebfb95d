// Numbers, times and names as people read them.

const whole = new Intl.NumberFormat("en");

export function count(value: number | undefined | null): string {
  return value === undefined || value === null ? "–" : whole.format(Math.round(value));
}

/** `1 token`, `2 tokens`. */
export function many(value: number, one: string, several = `${one}s`): string {
  return `${count(value)} ${Math.round(value) === 1 ? one : several}`;
}

export function bytes(value: number | undefined): string {
  if (value === undefined) return "–";
  if (value < 1024) return `${value} B`;
  if (value < 1024 * 1024) return `${(value / 1024).toFixed(1)} KiB`;
  return `${(value / 1024 / 1024).toFixed(1)} MiB`;
}

/** US dollars; small sums keep their digits. */
export function money(value: number | undefined | null): string {
  if (value === undefined || value === null) return "–";
  if (value === 0) return "$0";
  return value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(value < 1 ? 3 : 2)}`;
}

export function percent(part: number, all: number): string {
  if (all <= 0) return "0 %";
  const value = (100 * part) / all;
  return `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}

/** Reads a time that is milliseconds since 1970 or an ISO text. */
export function moment(value: number | string | undefined | null): Date | null {
  if (value === undefined || value === null || value === "") return null;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** The time of day, with the date when it is not today. */
export function clock(value: number | string | undefined | null, now: Date = new Date()): string {
  const date = moment(value);
  if (!date) return "";
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (date.toDateString() === now.toDateString()) return time;
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: date.getFullYear() === now.getFullYear() ? undefined : "numeric" });
  return `${day}, ${time}`;
}

/** `12 s`, `5 min`, `3 h`, `2 d`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

/** Cuts a text for a place with little room. */
export function short(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`;
}

/** A session as people call it: its label, or its key without the agent. */
export function sessionName(session: { key: string; label?: string | undefined; title?: string | undefined }): string {
  const name = session.label || session.title;
  if (name) return short(name, 60);
  const rest = session.key.split(":").slice(2).join(":") || session.key;
  return rest.replace(/([0-9a-f]{8})-[0-9a-f-]{27}/, "$1");
}
