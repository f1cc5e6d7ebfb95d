
import{E as e,F as t,G as n,H as r,I as i,K as a,L as o,M as s,R as c,U as l,_ as u,b as d,c as f,h as p,j as m,l as h,m as g,o as _,w as v,z as y}from"./app.js";var b={idle:`at rest`,running:`running`,waiting:`waiting`},x=class extends _{sought=``;constructor(){super(),this.watch(t),this.watch(v),this.while(()=>(s(),()=>{}))}render(){let e=t.value.filter(e=>e.state!==`idle`).length,r=t.value.filter(e=>`${e.key} ${e.label??``} ${e.title??``}`.toLowerCase().includes(this.sought.toLowerCase())),i=this.sought?r.map(e=>({session:e,depth:0,children:[]})):c(o(t.value));return a`
      ${h(`Sessions`,`${p(Math.max(v.value.total,t.value.length))} in all, ${e?`${p(e)} busy`:`none busy`}`,a`
        <label class="field inline"><span>Find</span><input type="search" data-search .value=${this.sought} @input=${this.seek} /></label>`)}
      ${i.length===0?f(this.sought?`No session is called so.`:`There are no sessions yet.`,a`One begins with the first message: <a href=${y(`chat`)}>say something</a>.`):a`<ul class="tree" aria-label="Sessions">${i.map(e=>this.row(e))}</ul>`}
      ${v.value.next?a`<p class="quiet">These are the ${p(t.value.length)} that were used last${this.sought?`, and only they are looked through`:``}.
            <button class="button small" data-more @click=${()=>void m()}>Show more</button></p>`:n}`}row({session:e,depth:t,children:r}){return a`<li class="tree-row" data-depth=${Math.min(t,6)} data-state=${e.state} data-key=${e.key}>
      <span class="tree-state"><span class="dot" aria-hidden="true"></span><span class="hidden">${t>0?`Begun by ${e.parent}; `:``}</span>${b[e.state]??e.state}</span>
      <a class="tree-name" href=${y(`chat`,e.key)}>${d(e)}</a>
      <span class="tree-about quiet small">${this.about(e,r.length)}</span>
      <span class="tree-tools">
        ${e.state===`idle`?n:a`<button class="button small" @click=${()=>void this.stop(e)}>Stop<span class="hidden"> ${d(e)}</span></button>`}
        <a class="button small" href=${y(`lens`,e.key)}>Context<span class="hidden"> of ${d(e)}</span></a>
      </span>
    </li>`}about(e,t){let r=[];e.kind&&r.push(e.kind),e.channel&&r.push(e.channel),e.status&&e.state===`idle`&&r.push(a`<span class="outcome" data-status=${e.status}>${e.status}</span>`),e.tokens&&r.push(`${p(e.tokens)} tokens`),t&&r.push(`${p(t)} begun here`);let i=u(e.updatedAt);return i&&r.push(a`<time datetime=${i.toISOString()}>${g(e.updatedAt)}</time>`),r.push(a`<code>${e.key}</code>`),r.map((e,t)=>a`${t?` · `:n}${e}`)}seek=e=>{this.sought=e.target.value,this.requestUpdate()};async stop(t){try{await e.send(`POST`,l`/api/sessions/${t.key}/stop`,{})}catch(e){i.value=r(e)}}};customElements.define(`chitin-sessions`,x);