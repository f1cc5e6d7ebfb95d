
import{A as e,B as t,C as n,D as r,L as i,M as a,N as o,P as s,R as c,V as l,_ as u,a as d,h as f,i as p,j as m,s as h,u as g,v as _}from"./app.js";var v={idle:`at rest`,running:`running`,waiting:`waiting`},y=class extends f{sought=``;constructor(){super(),this.watch(e),this.while(()=>(r(),()=>{}))}render(){let t=e.value.filter(e=>e.state!==`idle`).length,n=e.value.filter(e=>`${e.key} ${e.label??``} ${e.title??``}`.toLowerCase().includes(this.sought.toLowerCase())),r=this.sought?n.map(e=>({session:e,depth:0,children:[]})):o(a(e.value));return l`
      ${_(`Sessions`,`${d(e.value.length)} in all, ${t?`${d(t)} busy`:`none busy`}`,l`
        <label class="field inline"><span>Find</span><input type="search" data-search .value=${this.sought} @input=${this.seek} /></label>`)}
      ${r.length===0?u(this.sought?`No session is called so.`:`There are no sessions yet.`,l`One begins with the first message: <a href=${s(`chat`)}>say something</a>.`):l`<ul class="tree" aria-label="Sessions">${r.map(e=>this.row(e))}</ul>`}`}row({session:e,depth:n,children:r}){return l`<li class="tree-row" data-depth=${Math.min(n,6)} data-state=${e.state} data-key=${e.key}>
      <span class="tree-state"><span class="dot" aria-hidden="true"></span><span class="hidden">${n>0?`Begun by ${e.parent}; `:``}</span>${v[e.state]??e.state}</span>
      <a class="tree-name" href=${s(`chat`,e.key)}>${g(e)}</a>
      <span class="tree-about quiet small">${this.about(e,r.length)}</span>
      <span class="tree-tools">
        ${e.state===`idle`?t:l`<button class="button small" @click=${()=>void this.stop(e)}>Stop<span class="hidden"> ${g(e)}</span></button>`}
        <a class="button small" href=${s(`lens`,e.key)}>Context<span class="hidden"> of ${g(e)}</span></a>
      </span>
    </li>`}about(e,n){let r=[];e.kind&&r.push(e.kind),e.channel&&r.push(e.channel),e.status&&e.state===`idle`&&r.push(l`<span class="outcome" data-status=${e.status}>${e.status}</span>`),e.tokens&&r.push(`${d(e.tokens)} tokens`),n&&r.push(`${d(n)} begun here`);let i=h(e.updatedAt);return i&&r.push(l`<time datetime=${i.toISOString()}>${p(e.updatedAt)}</time>`),r.push(l`<code>${e.key}</code>`),r.map((e,n)=>l`${n?` · `:t}${e}`)}seek=e=>{this.sought=e.target.value,this.requestUpdate()};async stop(e){try{await n.send(`POST`,c`/api/sessions/${e.key}/stop`,{})}catch(e){m.value=i(e)}}};customElements.define(`chitin-sessions`,y);