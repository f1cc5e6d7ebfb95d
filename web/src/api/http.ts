// Asks the server. The token is never kept: a cookie that no script can read stands for it, and a word that only this page
// knows goes with everything that changes something.

import type { ErrorBody, Me } from "./types.ts";

/** The server, or the way to it, said no. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string = "",
    readonly body: unknown = null,
  ) {
    super(message);
  }

  /** Whether nothing was heard of the server at all. */
  get isOffline(): boolean {
    return this.status === 0;
  }
}

/** Words for whatever was thrown. */
export function explain(error: unknown): { message: string; hint: string } {
  if (error instanceof ApiError) return { message: error.message, hint: error.hint };
  return { message: error instanceof Error ? error.message : String(error), hint: "" };
}

type Fetch = (address: string, init: RequestInit) => Promise<Response>;

/** A door to the server. */
export class Client {
  csrf = "";
  /** Called when the server knows us no more. */
  onSignedOut: () => void = () => {};

  constructor(private readonly fetcher: Fetch = (address, init) => fetch(address, init)) {}

  get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return this.ask<T>("GET", path, undefined, {}, signal);
  }

  send<T>(method: "POST" | "PUT", path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
    return this.ask<T>(method, path, body, headers);
  }

  /** Asks. When another tab signed in meanwhile, the cookie is a new one and so is the word: it is asked for, once. */
  private async ask<T>(method: string, path: string, body: unknown, more: Record<string, string>, signal?: AbortSignal): Promise<T> {
    try {
      return await this.askOnce<T>(method, path, body, more, signal);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "bad_csrf")) throw error;
      const before = this.csrf;
      this.csrf = (await this.askOnce<Me>("GET", "/api/me", undefined, {})).csrf ?? "";
      if (this.csrf === before) throw error;
      return this.askOnce<T>(method, path, body, more, signal);
    }
  }

  private async askOnce<T>(method: string, path: string, body: unknown, more: Record<string, string>, signal?: AbortSignal): Promise<T> {
    const headers: Record<string, string> = { accept: "application/json", ...more };
    if (method !== "GET") {
      headers["content-type"] = "application/json";
      if (this.csrf) headers["x-chitin-csrf"] = this.csrf;
    }
    const init: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store", redirect: "error" };
    if (method !== "GET") init.body = JSON.stringify(body ?? {});
    if (signal) init.signal = signal;
    let response: Response;
    try {
      response = await this.fetcher(path, init);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new ApiError(0, "offline", "The server cannot be reached.", "Is `chitin serve` running?");
    }
    const value: unknown = await response.json().catch(() => null);
    if (response.ok) return value as T;
    const problem = (value as Partial<ErrorBody> | null)?.error;
    const message = problem?.message ?? `The server answered with ${response.status}.`;
    const wrong = new ApiError(response.status, problem?.code ?? "unknown", message, problem?.hint ?? "", value);
    if (response.status === 401 && path !== "/api/login") this.onSignedOut();
    throw wrong;
  }
}

/** A path with names in it: `` path`/api/sessions/${key}` ``. */
export function path(parts: TemplateStringsArray, ...names: string[]): string {
  return parts.reduce((all, part, index) => all + encodeURIComponent(names[index - 1] ?? "") + part);
}

/** A path with a question behind it; what is empty is left out. */
export function query(address: string, words: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(words).filter((pair): pair is [string, string | number] => pair[1] !== undefined && pair[1] !== "");
  const text = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return text ? `${address}?${text}` : address;
}
