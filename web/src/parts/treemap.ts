// Fragments as tiles: the larger, the more tokens. One stop for the Tab key; arrows move between the tiles.

import { html, nothing, type PropertyValues } from "lit";
import type { Fragment, Lens } from "../api/types.ts";
import { many, percent } from "../text/format.ts";
import { type Place, squarify } from "../text/treemap.ts";
import { View } from "./view.ts";

class Treemap extends View {
  static override properties = { lens: {}, chosen: {} };
  declare lens: Lens;
  declare chosen: number;
  choose: (index: number) => void = () => {};
  private width = 640;
  private height = 360;

  constructor() {
    super();
    this.while(() => {
      const observer = new ResizeObserver(() => {
        if (Math.floor(this.clientWidth) !== this.width) this.requestUpdate();
      });
      observer.observe(this);
      return () => observer.disconnect();
    });
  }

  /** Measured before it is drawn, so that no tile jumps. */
  protected override willUpdate(): void {
    this.width = Math.floor(this.clientWidth) || this.width;
    this.height = Math.round(Math.max(240, Math.min(420, this.width * 0.56)));
  }

  protected override render(): unknown {
    const weights = this.lens.fragments.map((fragment) => Math.max(fragment.tokens, 0));
    const places = squarify(weights, { x: 0, y: 0, width: this.width, height: this.height });
    const total = this.lens.totals.tokens;
    return html`<div class="treemap" role="group" aria-label="Fragments by size" .style=${`height:${this.height}px`} @keydown=${this.press}>
        ${this.lens.fragments.map((fragment, index) => this.tile(fragment, index, places[index], total))}
      </div>
      <p class="legend small quiet" aria-hidden="true">${[...new Set(this.lens.fragments.map((fragment) => fragment.cache).filter(Boolean))].map(
        (cache) => html`<span><span class="swatch" data-cache=${cache}></span>${cache}</span>`,
      )}</p>`;
  }

  private tile(fragment: Fragment, index: number, place: Place | undefined, total: number): unknown {
    if (!place || place.width < 1 || place.height < 1) return nothing;
    const share = `${percent(fragment.tokens, total)}, ${fragment.decision ?? "kept"}`;
    const size = many(fragment.tokens, "token");
    const roomy = place.width > 40 && place.height > 26;
    // Set through the object model: the content policy forbids style attributes.
    const style = `left:${place.x}px;top:${place.y}px;width:${Math.max(1, place.width - 2)}px;height:${Math.max(1, place.height - 2)}px`;
    return html`<button class="tile" ?data-small=${!roomy} .style=${style} data-index=${index} data-cache=${fragment.cache ?? ""} data-fate=${fragment.decision ?? "kept"} title=${`${fragment.name}: ${size}, ${share}`}
      aria-pressed=${index === this.chosen} tabindex=${index === this.stop() ? 0 : -1} @click=${() => this.choose(index)}>
      <span class=${roomy ? "tile-name" : "hidden"}>${fragment.name}</span>
      <span class=${roomy && place.height > 48 ? "tile-size" : "hidden"}>${size}</span> <span class="hidden">${share}</span>
    </button>`;
  }

  /** The tile that Tab reaches: the chosen one, or the first that has any size. */
  private stop(): number {
    if ((this.lens.fragments[this.chosen]?.tokens ?? 0) > 0) return this.chosen;
    return this.lens.fragments.findIndex((fragment) => fragment.tokens > 0);
  }

  private readonly press = (event: KeyboardEvent): void => {
    const tiles = [...this.querySelectorAll<HTMLButtonElement>(".tile")];
    const at = tiles.indexOf(document.activeElement as HTMLButtonElement);
    const steps: Record<string, number> = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: tiles.length - 1 };
    const to = steps[event.key];
    const tile = to === undefined || at < 0 ? undefined : tiles[Math.max(0, Math.min(tiles.length - 1, to))];
    if (!tile) return;
    event.preventDefault();
    tile.focus();
    this.choose(Number(tile.dataset["index"]));
  };

  protected override updated(_changed: PropertyValues): void {
    // The chosen tile keeps the keys after it was drawn again.
    const focused = document.activeElement;
    if (focused?.classList.contains("tile") && this.contains(focused)) this.querySelector<HTMLElement>('.tile[tabindex="0"]')?.focus();
  }
}
customElements.define("chitin-treemap", Treemap);
