
import{D as e,E as t,G as n,K as r,N as i,U as a,W as o,a as s,c,g as l,h as u,l as d,o as f,p,t as m,z as h}from"./app.js";var g={overlap:`same words`,text:`text rank`,vector:`meaning`,decay:`age`,recency:`age`,source:`where it stands`},_=class extends f{agent=``;sought=``;status=new s(this);found=new s(this);constructor(){super(),this.while(()=>i.subscribe(()=>this.choose()))}connectedCallback(){super.connectedCallback(),this.choose()}choose(){if(i.value.view!==`memory`)return;let n=i.value.rest[0]??e();n!==this.agent&&(this.agent=n,this.found.forget(),this.status.ask(()=>t.get(a`/api/agents/${n}/memory`)))}render(){return r`
      ${d(`Memory`,this.status.value?this.about(this.status.value):`What the agent can find again`,m(this.agent,e=>location.hash=h(`memory`,e)))}
      <form class="search-row" role="search" @submit=${this.search}>
        <label class="field grow"><span>Question</span><input type="search" data-search name="q" maxlength="400" required .value=${this.sought} placeholder="larch for hull 43" /></label>
        <button class="button primary">Search</button>
      </form>
      ${this.status.error?this.status.show(()=>n):n}
      ${this.found.show(({results:e,mode:t})=>e.length===0?c(`Nothing is remembered of that.`,`Other words may find it.`):r`<p class="quiet" role="status">${l(e.length,`piece`)} found${t?`, ${t} search`:``}</p>
            <ol class="cards">${e.map(t=>this.piece(t,Math.max(...e.map(e=>e.score))))}</ol>`)}`}about(e){if(e.enabled===!1)return`Memory is switched off.`;let t=e.index?.figures;return`${l(e.files??0,`file`)}, ${p(e.bytes??0)}, ${l(e.conversations??0,`conversation`)}${t?`; ${u(t.pieces)} pieces in the index`:``}`}piece(e,t){let i=Object.entries(e.parts??{}).sort((e,t)=>Math.abs(t[1])-Math.abs(e[1])),a=r`${e.path}:${e.startLine}–${e.endLine}`;return r`<li class="card">
      <p class="found-head">${e.source===`sessions`?r`<strong>${a}</strong>`:r`<a href=${h(`files`,this.agent,...e.path.split(`/`))}><strong>${a}</strong></a>`}
        <span class="quiet small">${e.source??``}</span>
        <meter min="0" max=${Math.max(t,.001)} .value=${e.score} aria-label=${`Score ${e.score.toFixed(3)}`}></meter><span class="number">${e.score.toFixed(3)}</span></p>
      <pre class="snippet" role="group" tabindex="0" aria-label="Text">${e.snippet.trimEnd()}</pre>
      ${i.length?r`<p class="small quiet">Score: ${i.map(([e,t],i)=>r`${i?` `:n}<span class="score-part">${t<0?`− `:i?`+ `:``}${Math.abs(t).toFixed(3)} ${g[e]??e}</span>`)}</p>`:n}
    </li>`}search=e=>{e.preventDefault(),this.sought=String(new FormData(e.target).get(`q`)??``).trim();let{agent:n,sought:r}=this;r&&this.found.ask(()=>t.get(o(a`/api/agents/${n}/memory`,{q:r,limit:20})))}};customElements.define(`chitin-memory`,_);