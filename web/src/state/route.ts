// Where one is: `#/view/first/second`. Nothing else of the address is used, and nothing secret stands in it.

export const VIEWS = ["chat", "sessions", "lens", "files", "changes", "skills", "memory", "traces", "agents"] as const;
export type ViewName = (typeof VIEWS)[number];

export interface Route {
  view: ViewName;
  /** What stands behind the view, decoded. */
  rest: string[];
}

export function readRoute(hash: string): Route {
  const parts = hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decode);
  const view = VIEWS.find((name) => name === parts[0]);
  return view ? { view, rest: parts.slice(1) } : { view: "chat", rest: [] };
}

export function routeTo(view: ViewName, ...rest: string[]): string {
  return `#/${[view, ...rest].map(encodeURIComponent).join("/")}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
