
import{B as e,C as t,F as n,H as r,V as i,_ as a,a as o,h as s,k as c,m as l,o as u,r as d,t as f,v as p,w as m,z as h}from"./app.js";var g={overlap:`same words`,text:`text rank`,vector:`meaning`,decay:`age`,recency:`age`,source:`where it stands`},_=class extends s{agent=``;sought=``;status=new l(this);found=new l(this);constructor(){super(),this.while(()=>c.subscribe(()=>this.choose()))}connectedCallback(){super.connectedCallback(),this.choose()}choose(){if(c.value.view!==`memory`)return;let e=c.value.rest[0]??m();e!==this.agent&&(this.agent=e,this.found.forget(),this.status.ask(()=>t.get(h`/api/agents/${e}/memory`)))}render(){return r`
      ${p(`Memory`,this.status.value?this.about(this.status.value):`What the agent can find again`,f(this.agent,e=>location.hash=n(`memory`,e)))}
      <form class="search-row" role="search" @submit=${this.search}>
        <label class="field grow"><span>Question</span><input type="search" data-search name="q" maxlength="400" required .value=${this.sought} placeholder="larch for hull 43" /></label>
        <button class="button primary">Search</button>
      </form>
      ${this.status.error?this.status.show(()=>i):i}
      ${this.found.show(({results:e,mode:t})=>e.length===0?a(`Nothing is remembered of that.`,`Other words may find it.`):r`<p class="quiet" role="status">${u(e.length,`piece`)} found${t?`, ${t} search`:``}</p>
            <ol class="cards">${e.map(t=>this.piece(t,Math.max(...e.map(e=>e.score))))}</ol>`)}`}about(e){if(e.enabled===!1)return`Memory is switched off.`;let t=e.index?.figures;return`${u(e.files??0,`file`)}, ${d(e.bytes??0)}, ${u(e.conversations??0,`conversation`)}${t?`; ${o(t.pieces)} pieces in the index`:``}`}piece(e,t){let a=Object.entries(e.parts??{}).sort((e,t)=>Math.abs(t[1])-Math.abs(e[1])),o=r`${e.path}:${e.startLine}–${e.endLine}`;return r`<li class="card">
      <p class="found-head">${e.source===`sessions`?r`<strong>${o}</strong>`:r`<a href=${n(`files`,this.agent,...e.path.split(`/`))}><strong>${o}</strong></a>`}
        <span class="quiet small">${e.source??``}</span>
        <meter min="0" max=${Math.max(t,.001)} .value=${e.score} aria-label=${`Score ${e.score.toFixed(3)}`}></meter><span class="number">${e.score.toFixed(3)}</span></p>
      <pre class="snippet" role="group" tabindex="0" aria-label="Text">${e.snippet.trimEnd()}</pre>
      ${a.length?r`<p class="small quiet">Score: ${a.map(([e,t],n)=>r`${n?` `:i}<span class="score-part">${t<0?`− `:n?`+ `:``}${Math.abs(t).toFixed(3)} ${g[e]??e}</span>`)}</p>`:i}
    </li>`}search=n=>{n.preventDefault(),this.sought=String(new FormData(n.target).get(`q`)??``).trim();let{agent:r,sought:i}=this;i&&this.found.ask(()=>t.get(e(h`/api/agents/${r}/memory`,{q:i,limit:20})))}};customElements.define(`chitin-memory`,_);