
import{B as e,C as t,O as n,P as r,R as i,V as a,_ as o,a as s,h as c,m as l,o as u,r as d,t as f,v as p,w as m,z as h}from"./app.js";var g={overlap:`same words`,text:`text rank`,vector:`meaning`,decay:`age`,recency:`age`,source:`where it stands`},_=class extends c{agent=``;sought=``;status=new l(this);found=new l(this);constructor(){super(),this.while(()=>n.subscribe(()=>this.choose()))}connectedCallback(){super.connectedCallback(),this.choose()}choose(){if(n.value.view!==`memory`)return;let e=n.value.rest[0]??m();e!==this.agent&&(this.agent=e,this.found.forget(),this.status.ask(()=>t.get(i`/api/agents/${e}/memory`)))}render(){return a`
      ${p(`Memory`,this.status.value?this.about(this.status.value):`What the agent can find again`,f(this.agent,e=>location.hash=r(`memory`,e)))}
      <form class="search-row" role="search" @submit=${this.search}>
        <label class="field grow"><span>Question</span><input type="search" data-search name="q" maxlength="400" required .value=${this.sought} placeholder="larch for hull 43" /></label>
        <button class="button primary">Search</button>
      </form>
      ${this.status.error?this.status.show(()=>e):e}
      ${this.found.show(({results:e,mode:t})=>e.length===0?o(`Nothing is remembered of that.`,`Other words may find it.`):a`<p class="quiet" role="status">${u(e.length,`piece`)} found${t?`, ${t} search`:``}</p>
            <ol class="cards">${e.map(t=>this.piece(t,Math.max(...e.map(e=>e.score))))}</ol>`)}`}about(e){if(e.enabled===!1)return`Memory is switched off.`;let t=e.index?.figures;return`${u(e.files??0,`file`)}, ${d(e.bytes??0)}, ${u(e.conversations??0,`conversation`)}${t?`; ${s(t.pieces)} pieces in the index`:``}`}piece(t,n){let i=Object.entries(t.parts??{}).sort((e,t)=>Math.abs(t[1])-Math.abs(e[1])),o=a`${t.path}:${t.startLine}–${t.endLine}`;return a`<li class="card">
      <p class="found-head">${t.source===`sessions`?a`<strong>${o}</strong>`:a`<a href=${r(`files`,this.agent,...t.path.split(`/`))}><strong>${o}</strong></a>`}
        <span class="quiet small">${t.source??``}</span>
        <meter min="0" max=${Math.max(n,.001)} .value=${t.score} aria-label=${`Score ${t.score.toFixed(3)}`}></meter><span class="number">${t.score.toFixed(3)}</span></p>
      <pre class="snippet" role="group" tabindex="0" aria-label="Text">${t.snippet.trimEnd()}</pre>
      ${i.length?a`<p class="small quiet">Score: ${i.map(([t,n],r)=>a`${r?` `:e}<span class="score-part">${n<0?`− `:r?`+ `:``}${Math.abs(n).toFixed(3)} ${g[t]??t}</span>`)}</p>`:e}
    </li>`}search=e=>{e.preventDefault(),this.sought=String(new FormData(e.target).get(`q`)??``).trim();let{agent:n,sought:r}=this;r&&this.found.ask(()=>t.get(h(i`/api/agents/${n}/memory`,{q:r,limit:20})))}};customElements.define(`chitin-memory`,_);