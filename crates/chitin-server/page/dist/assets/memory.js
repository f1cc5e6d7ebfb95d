import{B as e,C as t,D as n,L as r,N as i,R as a,S as o,_ as s,a as c,g as l,m as u,o as d,p as f,r as p,t as m,z as h}from"./app.js";var g={overlap:`same words`,text:`text rank`,vector:`meaning`,decay:`age`,recency:`age`,source:`where it stands`},_=class extends u{agent=``;sought=``;status=new f(this);found=new f(this);constructor(){super(),this.while(()=>n.subscribe(()=>this.choose()))}connectedCallback(){super.connectedCallback(),this.choose()}choose(){if(n.value.view!==`memory`)return;let e=n.value.rest[0]??t();e!==this.agent&&(this.agent=e,this.found.forget(),this.status.ask(()=>o.get(r`/api/agents/${e}/memory`)))}render(){return e`
      ${s(`Memory`,this.status.value?this.about(this.status.value):`What the agent can find again`,m(this.agent,e=>location.hash=i(`memory`,e)))}
      <form class="search-row" role="search" @submit=${this.search}>
        <label class="field grow"><span>Question</span><input type="search" data-search name="q" maxlength="400" required .value=${this.sought} placeholder="larch for hull 43" /></label>
        <button class="button primary">Search</button>
      </form>
      ${this.status.error?this.status.show(()=>h):h}
      ${this.found.show(({results:t,mode:n})=>t.length===0?l(`Nothing is remembered of that.`,`Other words may find it.`):e`<p class="quiet" role="status">${d(t.length,`piece`)} found${n?`, ${n} search`:``}</p>
            <ol class="cards">${t.map(e=>this.piece(e,Math.max(...t.map(e=>e.score))))}</ol>`)}`}about(e){if(e.enabled===!1)return`Memory is switched off.`;let t=e.index?.figures;return`${d(e.files??0,`file`)}, ${p(e.bytes??0)}, ${d(e.conversations??0,`conversation`)}${t?`; ${c(t.pieces)} pieces in the index`:``}`}piece(t,n){let r=Object.entries(t.parts??{}).sort((e,t)=>Math.abs(t[1])-Math.abs(e[1])),a=e`${t.path}:${t.startLine}–${t.endLine}`;return e`<li class="card">
      <p class="found-head">${t.source===`sessions`?e`<strong>${a}</strong>`:e`<a href=${i(`files`,this.agent,...t.path.split(`/`))}><strong>${a}</strong></a>`}
        <span class="quiet small">${t.source??``}</span>
        <meter min="0" max=${Math.max(n,.001)} .value=${t.score} aria-label=${`Score ${t.score.toFixed(3)}`}></meter><span class="number">${t.score.toFixed(3)}</span></p>
      <pre class="snippet" role="group" tabindex="0" aria-label="Text">${t.snippet.trimEnd()}</pre>
      ${r.length?e`<p class="small quiet">Score: ${r.map(([t,n],r)=>e`${r?` `:h}<span class="score-part">${n<0?`− `:r?`+ `:``}${Math.abs(n).toFixed(3)} ${g[t]??t}</span>`)}</p>`:h}
    </li>`}search=e=>{e.preventDefault(),this.sought=String(new FormData(e.target).get(`q`)??``).trim();let{agent:t,sought:n}=this;n&&this.found.ask(()=>o.get(a(r`/api/agents/${t}/memory`,{q:n,limit:20})))}};customElements.define(`chitin-memory`,_);