
import{A as e,B as t,F as n,I as r,L as i,N as a,P as o,T as s,U as c,V as l,W as u,_ as d,b as f,c as p,h as m,l as h,m as g,o as _}from"./app.js";var v={idle:`at rest`,running:`running`,waiting:`waiting`},y=class extends _{sought=``;constructor(){super(),this.watch(a),this.while(()=>(e(),()=>{}))}render(){let e=a.value.filter(e=>e.state!==`idle`).length,t=a.value.filter(e=>`${e.key} ${e.label??``} ${e.title??``}`.toLowerCase().includes(this.sought.toLowerCase())),o=this.sought?t.map(e=>({session:e,depth:0,children:[]})):r(n(a.value));return u`
      ${h(`Sessions`,`${m(a.value.length)} in all, ${e?`${m(e)} busy`:`none busy`}`,u`
        <label class="field inline"><span>Find</span><input type="search" data-search .value=${this.sought} @input=${this.seek} /></label>`)}
      ${o.length===0?p(this.sought?`No session is called so.`:`There are no sessions yet.`,u`One begins with the first message: <a href=${i(`chat`)}>say something</a>.`):u`<ul class="tree" aria-label="Sessions">${o.map(e=>this.row(e))}</ul>`}`}row({session:e,depth:t,children:n}){return u`<li class="tree-row" data-depth=${Math.min(t,6)} data-state=${e.state} data-key=${e.key}>
      <span class="tree-state"><span class="dot" aria-hidden="true"></span><span class="hidden">${t>0?`Begun by ${e.parent}; `:``}</span>${v[e.state]??e.state}</span>
      <a class="tree-name" href=${i(`chat`,e.key)}>${f(e)}</a>
      <span class="tree-about quiet small">${this.about(e,n.length)}</span>
      <span class="tree-tools">
        ${e.state===`idle`?c:u`<button class="button small" @click=${()=>void this.stop(e)}>Stop<span class="hidden"> ${f(e)}</span></button>`}
        <a class="button small" href=${i(`lens`,e.key)}>Context<span class="hidden"> of ${f(e)}</span></a>
      </span>
    </li>`}about(e,t){let n=[];e.kind&&n.push(e.kind),e.channel&&n.push(e.channel),e.status&&e.state===`idle`&&n.push(u`<span class="outcome" data-status=${e.status}>${e.status}</span>`),e.tokens&&n.push(`${m(e.tokens)} tokens`),t&&n.push(`${m(t)} begun here`);let r=d(e.updatedAt);return r&&n.push(u`<time datetime=${r.toISOString()}>${g(e.updatedAt)}</time>`),n.push(u`<code>${e.key}</code>`),n.map((e,t)=>u`${t?` · `:c}${e}`)}seek=e=>{this.sought=e.target.value,this.requestUpdate()};async stop(e){try{await s.send(`POST`,l`/api/sessions/${e.key}/stop`,{})}catch(e){o.value=t(e)}}};customElements.define(`chitin-sessions`,y);