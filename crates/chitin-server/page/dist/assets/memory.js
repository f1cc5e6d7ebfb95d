import{E as e,I as t,L as n,M as r,R as i,S as a,_ as o,a as s,g as c,m as l,o as u,p as d,r as f,t as p,x as m,z as h}from"./app.js";var g={overlap:`same words`,text:`text rank`,vector:`meaning`,decay:`age`,recency:`age`,source:`where it stands`},_=class extends l{agent=``;sought=``;status=new d(this);found=new d(this);constructor(){super(),this.while(()=>e.subscribe(()=>this.choose()))}connectedCallback(){super.connectedCallback(),this.choose()}choose(){if(e.value.view!==`memory`)return;let n=e.value.rest[0]??a();n!==this.agent&&(this.agent=n,this.found.forget(),this.status.ask(()=>m.get(t`/api/agents/${n}/memory`)))}render(){return h`
      ${o(`Memory`,this.status.value?this.about(this.status.value):`What the agent can find again`,p(this.agent,e=>location.hash=r(`memory`,e)))}
      <form class="search-row" role="search" @submit=${this.search}>
        <label class="field grow"><span>Question</span><input type="search" data-search name="q" maxlength="400" required .value=${this.sought} placeholder="larch for hull 43" /></label>
        <button class="button primary">Search</button>
      </form>
      ${this.status.error?this.status.show(()=>i):i}
      ${this.found.show(({results:e,mode:t})=>e.length===0?c(`Nothing is remembered of that.`,`Other words may find it.`):h`<p class="quiet" role="status">${u(e.length,`piece`)} found${t?`, ${t} search`:``}</p>
            <ol class="cards">${e.map(t=>this.piece(t,e[0]?.score??1))}</ol>`)}`}about(e){if(e.enabled===!1)return`Memory is switched off.`;let t=e.index?.figures;return`${u(e.files??0,`file`)}, ${f(e.bytes??0)}, ${u(e.conversations??0,`conversation`)}${t?`; ${s(t.pieces)} pieces in the index`:``}`}piece(e,t){let n=Object.entries(e.parts??{}).sort((e,t)=>Math.abs(t[1])-Math.abs(e[1])),a=h`${e.path}:${e.startLine}–${e.endLine}`;return h`<li class="card">
      <p class="found-head">${e.source===`sessions`?h`<strong>${a}</strong>`:h`<a href=${r(`files`,this.agent,...e.path.split(`/`))}><strong>${a}</strong></a>`}
        <span class="quiet small">${e.source??``}</span>
        <meter min="0" max=${Math.max(t,.001)} .value=${e.score} aria-label=${`Score ${e.score.toFixed(3)}`}></meter><span class="number">${e.score.toFixed(3)}</span></p>
      <pre class="snippet" tabindex="0" aria-label="Text">${e.snippet.trimEnd()}</pre>
      ${n.length?h`<p class="small quiet">Score: ${n.map(([e,t],n)=>h`${n?` `:i}<span class="score-part">${t<0?`−`:n?`+ `:``}${Math.abs(t).toFixed(3)} ${g[e]??e}</span>`)}</p>`:i}
    </li>`}search=e=>{e.preventDefault(),this.sought=String(new FormData(e.target).get(`q`)??``).trim();let{agent:r,sought:i}=this;i&&this.found.ask(()=>m.get(n(t`/api/agents/${r}/memory`,{q:i,limit:20})))}};customElements.define(`chitin-memory`,_);