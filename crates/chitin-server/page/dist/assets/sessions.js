
import{C as e,F as t,H as n,M as r,N as i,O as a,P as o,R as s,V as c,_ as l,a as u,h as d,i as f,j as p,s as m,u as h,v as g,z as _}from"./app.js";var v={idle:`at rest`,running:`running`,waiting:`waiting`},y=class extends d{sought=``;constructor(){super(),this.watch(p),this.while(()=>(a(),()=>{}))}render(){let e=p.value.filter(e=>e.state!==`idle`).length,r=p.value.filter(e=>`${e.key} ${e.label??``} ${e.title??``}`.toLowerCase().includes(this.sought.toLowerCase())),a=this.sought?r.map(e=>({session:e,depth:0,children:[]})):o(i(p.value));return n`
      ${g(`Sessions`,`${u(p.value.length)} in all, ${e?`${u(e)} busy`:`none busy`}`,n`
        <label class="field inline"><span>Find</span><input type="search" data-search .value=${this.sought} @input=${this.seek} /></label>`)}
      ${a.length===0?l(this.sought?`No session is called so.`:`There are no sessions yet.`,n`One begins with the first message: <a href=${t(`chat`)}>say something</a>.`):n`<ul class="tree" aria-label="Sessions">${a.map(e=>this.row(e))}</ul>`}`}row({session:e,depth:r,children:i}){return n`<li class="tree-row" data-depth=${Math.min(r,6)} data-state=${e.state} data-key=${e.key}>
      <span class="tree-state"><span class="dot" aria-hidden="true"></span><span class="hidden">${r>0?`Begun by ${e.parent}; `:``}</span>${v[e.state]??e.state}</span>
      <a class="tree-name" href=${t(`chat`,e.key)}>${h(e)}</a>
      <span class="tree-about quiet small">${this.about(e,i.length)}</span>
      <span class="tree-tools">
        ${e.state===`idle`?c:n`<button class="button small" @click=${()=>void this.stop(e)}>Stop<span class="hidden"> ${h(e)}</span></button>`}
        <a class="button small" href=${t(`lens`,e.key)}>Context<span class="hidden"> of ${h(e)}</span></a>
      </span>
    </li>`}about(e,t){let r=[];e.kind&&r.push(e.kind),e.channel&&r.push(e.channel),e.status&&e.state===`idle`&&r.push(n`<span class="outcome" data-status=${e.status}>${e.status}</span>`),e.tokens&&r.push(`${u(e.tokens)} tokens`),t&&r.push(`${u(t)} begun here`);let i=m(e.updatedAt);return i&&r.push(n`<time datetime=${i.toISOString()}>${f(e.updatedAt)}</time>`),r.push(n`<code>${e.key}</code>`),r.map((e,t)=>n`${t?` · `:c}${e}`)}seek=e=>{this.sought=e.target.value,this.requestUpdate()};async stop(t){try{await e.send(`POST`,_`/api/sessions/${t.key}/stop`,{})}catch(e){r.value=s(e)}}};customElements.define(`chitin-sessions`,y);