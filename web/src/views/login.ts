// Signing in with the server's token.

import { html, nothing } from "lit";
import { ApiError } from "../api/http.ts";
import { problem, View } from "../parts/view.ts";
import { farewell, signIn, trouble } from "../state/app.ts";

class Login extends View {
  private error: unknown = null;
  private busy = false;

  constructor() {
    super();
    this.watch(farewell, trouble);
  }

  protected override render(): unknown {
    return html`<main class="login">
      <form class="card" @submit=${this.submit}>
        <span class="brand"><span class="brand-mark" aria-hidden="true"></span>Chitin</span>
        <h1>Sign in</h1>
        ${farewell.value ? html`<p class="notice">${farewell.value}</p>` : nothing}
        <label class="field"><span>Token of the server</span>
          <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" autocapitalize="off" required
            aria-describedby="token-help" /></label>
        <p id="token-help" class="quiet small"><code>chitin serve</code> says in which file it is when it starts, by itself
          <code>~/.chitin/server-token</code>. The token is sent once and not kept; a cookie that no script can read takes its place.</p>
        ${this.error ? problem(this.error) : trouble.value ? problem(new ApiError(0, "", trouble.value.message, trouble.value.hint)) : nothing}
        <button class="button primary" ?disabled=${this.busy}>${this.busy ? "Signing in …" : "Sign in"}</button>
      </form>
    </main>`;
  }

  protected override firstUpdated(): void {
    this.querySelector<HTMLInputElement>("#token")?.focus();
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const input = this.querySelector<HTMLInputElement>("#token");
    if (!input || this.busy) return;
    this.busy = true;
    this.error = null;
    this.requestUpdate();
    try {
      await signIn(input.value.trim());
    } catch (error) {
      const wrong = error instanceof ApiError && error.status === 401;
      this.error = wrong ? new ApiError(401, error.code, "This is not the token of this server.", "Look into the file that `chitin serve` names.") : error;
      input.select();
    } finally {
      this.busy = false;
      this.requestUpdate();
    }
  };
}
customElements.define("chitin-login", Login);
