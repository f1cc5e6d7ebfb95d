
import{E as e,H as t,L as n,T as r,U as i,V as a,W as o,a as s,c,g as l,h as u,j as d,l as f,o as p,p as m,t as h}from"./app.js";var g={overlap:`same words`,text:`text rank`,vector:`meaning`,decay:`age`,recency:`age`,source:`where it stands`},_=class extends p{agent=``;sought=``;status=new s(this);found=new s(this);constructor(){super(),this.while(()=>d.subscribe(()=>this.choose()))}connectedCallback(){super.connectedCallback(),this.choose()}choose(){if(d.value.view!==`memory`)return;let t=d.value.rest[0]??e();t!==this.agent&&(this.agent=t,this.found.forget(),this.status.ask(()=>r.get(a`/api/agents/${t}/memory`)))}render(){return o`
      ${f(`Memory`,this.status.value?this.about(this.status.value):`What the agent can find again`,h(this.agent,e=>location.hash=n(`memory`,e)))}
      <form class="search-row" role="search" @submit=${this.search}>
        <label class="field grow"><span>Question</span><input type="search" data-search name="q" maxlength="400" required .value=${this.sought} placeholder="larch for hull 43" /></label>
        <button class="button primary">Search</button>
      </form>
      ${this.status.error?this.status.show(()=>i):i}
      ${this.found.show(({results:e,mode:t})=>e.length===0?c(`Nothing is remembered of that.`,`Other words may find it.`):o`<p class="quiet" role="status">${l(e.length,`piece`)} found${t?`, ${t} search`:``}</p>
            <ol class="cards">${e.map(t=>this.piece(t,Math.max(...e.map(e=>e.score))))}</ol>`)}`}about(e){if(e.enabled===!1)return`Memory is switched off.`;let t=e.index?.figures;return`${l(e.files??0,`file`)}, ${m(e.bytes??0)}, ${l(e.conversations??0,`conversation`)}${t?`; ${u(t.pieces)} pieces in the index`:``}`}piece(e,t){let r=Object.entries(e.parts??{}).sort((e,t)=>Math.abs(t[1])-Math.abs(e[1])),a=o`${e.path}:${e.startLine}–${e.endLine}`;return o`<li class="card">
      <p class="found-head">${e.source===`sessions`?o`<strong>${a}</strong>`:o`<a href=${n(`files`,this.agent,...e.path.split(`/`))}><strong>${a}</strong></a>`}
        <span class="quiet small">${e.source??``}</span>
        <meter min="0" max=${Math.max(t,.001)} .value=${e.score} aria-label=${`Score ${e.score.toFixed(3)}`}></meter><span class="number">${e.score.toFixed(3)}</span></p>
      <pre class="snippet" role="group" tabindex="0" aria-label="Text">${e.snippet.trimEnd()}</pre>
      ${r.length?o`<p class="small quiet">Score: ${r.map(([e,t],n)=>o`${n?` `:i}<span class="score-part">${t<0?`− `:n?`+ `:``}${Math.abs(t).toFixed(3)} ${g[e]??e}</span>`)}</p>`:i}
    </li>`}search=e=>{e.preventDefault(),this.sought=String(new FormData(e.target).get(`q`)??``).trim();let{agent:n,sought:i}=this;i&&this.found.ask(()=>r.get(t(a`/api/agents/${n}/memory`,{q:i,limit:20})))}};customElements.define(`chitin-memory`,_);