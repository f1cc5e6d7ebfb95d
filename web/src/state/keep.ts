// What was typed and not sent or saved, kept for this tab. A full or forbidden storage costs the memory, not the page.

export interface Storage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** Keeps texts under names. */
export class Keep {
  private readonly here = new Map<string, string>();

  constructor(
    private readonly kind: string,
    private readonly storage: () => Storage,
  ) {}

  get(name: string): string | null {
    try {
      return this.storage().getItem(`${this.kind}:${name}`) ?? this.here.get(name) ?? null;
    } catch {
      return this.here.get(name) ?? null;
    }
  }

  /** Keeps a text; an empty one is forgotten. */
  set(name: string, text: string): void {
    if (!text) {
      this.forget(name);
      return;
    }
    this.here.set(name, text);
    try {
      this.storage().setItem(`${this.kind}:${name}`, text);
    } catch {
      // It is still here, as long as the page is.
    }
  }

  forget(name: string): void {
    this.here.delete(name);
    try {
      this.storage().removeItem(`${this.kind}:${name}`);
    } catch {
      // Nothing to forget.
    }
  }
}
