
import{B as e,C as t,D as n,H as r,L as i,M as a,S as o,T as s,U as c,W as l,a as u,c as d,d as f,f as p,g as m,l as h,m as g,o as _,u as v}from"./app.js";var y={idle:`not tried yet`,connecting:`connecting`,connected:`connected`,failed:`failed`};function b({channels:e=[]}){return e.length===0?l`<p class="quiet">No chat networks are configured. This page and the HTTP interface are always there.</p>`:l`<ul class="cards">${e.map(e=>l`<li class="card">
    <p><strong>${e.channel}</strong> ${e.accountId?l`<code>${e.accountId}</code>`:c} <span class="tag" data-standing=${e.connection??``}>${y[e.connection??``]??e.connection??`unknown`}</span></p>
    ${e.name?l`<p class="small">as ${e.name}</p>`:c}
    ${e.reason?l`<p class="small warn-text">${p(e.reason)}</p>`:c}${e.hint?l`<p class="small">${p(e.hint)}</p>`:c}</li>`)}</ul>`}function x({turnedAway:e=[]}){return e.length===0?l`<p class="quiet">Nobody.</p>`:l`<div class="table-scroll" role="group" tabindex="0" aria-label="Turned away"><table class="list wide"><thead><tr><th scope="col">Who</th><th scope="col">Where</th><th scope="col">Why</th><th scope="col">How often</th><th scope="col">Last</th></tr></thead>
    <tbody>${e.map(e=>l`<tr><th scope="row">${e.senderName??e.sender} <code class="quiet small">${e.sender}</code></th><td>${e.room??e.place}</td><td>${p(e.reason??``)}</td>
      <td>${m(e.count??1,`message`)}</td><td>${g(e.lastAt)}</td></tr>`)}</tbody></table></div>`}var S={chosen:`chosen`,outranked:`holds, another is stronger`,no:`does not hold`};function C(e){let{route:t,bindings:n=[]}=e,r=e.key??t?.sessionKey;return l`<div class="answer">
    ${t?l`<p>Agent <strong>${t.agentId}</strong>, session ${r?l`<a href=${i(`chat`,r)}><code>${r}</code></a>`:`unknown`}, by ${e.choice?.matchedBy??t.matchedBy??`default`}.</p>`:l`<p>Nobody would get it.</p>`}
    ${n.length?l`<div class="table-scroll" role="group" tabindex="0" aria-label="Each binding and its fate"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Fate</th></tr></thead>
      <tbody>${n.map(e=>l`<tr><th scope="row"><code>${e.path}</code></th><td>${e.agentId}</td><td>${e.asks}</td>
        <td>${S[e.verdict??``]??e.verdict}${e.mismatch?l` <span class="quiet small">${Object.values(e.mismatch).map(String).join(` `)}</span>`:c}</td></tr>`)}</tbody></table></div>`:c}
  </div>`}var w=[[`channel`,`Channel`,`discord`],[`account`,`Account`,`default`],[`peer`,`Place`,`channel:123`],[`parent`,`Parent place`,`channel:42`],[`guild`,`Guild`,`42`],[`team`,`Team`,`T1`],[`role`,`Role`,`admin`],[`thread`,`Thread`,`7`],[`sender`,`Sender`,`ada`]],T=class extends _{routes=new u(this);channels=new u(this);pairing=new u(this);approvals=new u(this);explanation=new u(this);error=null;constructor(){super(),this.watch(t),this.while(()=>n.subscribe(()=>this.load())),this.while(()=>{let e=setInterval(()=>document.visibilityState===`visible`&&this.load(),15e3);return()=>clearInterval(e)})}connectedCallback(){super.connectedCallback(),this.load()}load(){this.routes.ask(()=>s.get(`/api/routes`)),this.channels.ask(()=>s.get(`/api/channels`)),this.pairing.ask(()=>s.get(`/api/pairing`)),this.approvals.ask(()=>s.get(`/api/approvals`))}render(){return l`
      ${h(`Agents & routes`,`Who gets a message, and who may send one`)}
      ${this.error?f(this.error):c}
      <section class="section"><h2>Agents</h2><ul class="cards">${t.value.map(e=>l`<li class="card">
        <p><strong>${e.name??e.id}</strong> ${e.isDefault?l`<span class="tag">default</span>`:c}</p>
        <p class="quiet small"><code>${e.workspace??``}</code></p>
        <p class="small"><a href=${i(`files`,e.id)}>Files</a> · <a href=${i(`skills`,e.id)}>Skills</a> · <a href=${i(`memory`,e.id)}>Memory</a></p></li>`)}</ul></section>
      <section class="section"><h2>Who asks to talk</h2>${this.pairing.show(e=>this.drawPairing(e))}</section>
      <section class="section"><h2>Allowed always</h2>${this.approvals.show(({remembered:e})=>this.drawRemembered(e))}</section>
      <section class="section"><h2>Channels</h2>${this.channels.show(b)}</section>
      <section class="section"><h2>Bindings</h2>${this.routes.show(({bindings:e})=>this.drawBindings(e??[]))}${this.form()}</section>
      <section class="section"><h2>Turned away</h2>${this.channels.show(x)}</section>`}drawPairing({pending:e=[],paired:t=[]}){let n=e=>l`<strong>${e.senderName??e.senderId}</strong> <code class="quiet small">${e.channel}:${e.senderId}</code>`,r=e=>typeof e.expiresAt==`number`?`, for another ${o(e.expiresAt-Date.now())}`:``;return l`
      ${e.length===0?l`<p class="quiet">Nobody waits.</p>`:l`<ul class="cards">${e.map(e=>l`<li class="card pairing">
        <p>${n(e)}</p><p class="small">The code that they were told: <code class="pair-code">${e.code}</code>${r(e)}. Let them in only if they say the same.</p>
        <p class="buttons"><button class="button small primary" @click=${()=>this.decide(`approve`,e,!1)}>Let in<span class="hidden"> ${e.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`approve`,e,!0)}>As owner<span class="hidden">: ${e.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`reject`,e,!1)}>Refuse<span class="hidden"> ${e.senderId}</span></button></p></li>`)}</ul>`}
      ${t.length===0?c:l`<h3>Let in</h3><ul class="cards">${t.map(e=>l`<li class="card pairing">
        <p>${n(e)} ${e.owner?l`<span class="tag">owner</span>`:c}</p><p class="quiet small">since ${g(e.since)}</p>
        <p class="buttons"><button class="button small" @click=${()=>this.revoke(e)}>Take back<span class="hidden"> ${e.senderId}</span></button></p></li>`)}</ul>`}`}drawRemembered(e){return e.length===0?l`<p class="quiet">Nothing. What you answer with <em>Always</em> is listed here.</p>`:l`<ul class="cards">${e.map(e=>l`<li class="card approval-kept" data-approval=${e.id}>
      <p><strong>${e.tool}</strong> ${v(e.pattern)}${e.exact?l` <span class="tag">exactly this</span>`:c}</p>
      <p class="quiet small">for <code>${e.agentId}</code> since ${g(e.allowedAt)}</p>
      <p class="buttons"><button class="button small" @click=${()=>this.forget(e)}>Revoke<span class="hidden"> ${e.pattern}</span></button></p></li>`)}</ul>`}async forget(e){await this.change(`/api/approvals/revoke`,{id:e.id}),a.value=`${e.pattern} is asked about again.`}drawBindings(e){return e.length===0?l`<p class="quiet">None: everything goes to the default agent.</p>`:l`<div class="table-scroll" role="group" tabindex="0" aria-label="Bindings"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Rank</th></tr></thead>
      <tbody>${e.map(e=>l`<tr><th scope="row"><code>${e.path}</code></th><td>${e.agentId}</td><td>${e.asks}</td><td>${e.tier}</td></tr>`)}</tbody></table></div>`}form(){return l`<form class="explain" @submit=${this.ask}>
      <h3>Who would get a message?</h3>
      <div class="fields">${w.map(([e,t,n])=>l`<label class="field"><span>${t}</span><input name=${e} placeholder=${n} autocomplete="off" maxlength="200" /></label>`)}</div>
      <button class="button">Explain</button>
      <div role="status">${this.explanation.show(C)}</div>
    </form>
    ${t.value.length===0?d(`No agents.`,``):c}`}ask=e=>{e.preventDefault();let t=Object.fromEntries([...new FormData(e.target)].map(([e,t])=>[e,String(t).trim()]));this.explanation.ask(()=>s.get(r(`/api/route`,t)))};async decide(e,t,n){await this.change(`/api/pairing/${e}`,{channel:t.channel,code:t.code,...e===`approve`?{owner:n}:{}}),a.value=e===`approve`?`${t.senderId} is let in.`:`${t.senderId} is refused.`}async revoke(e){await this.change(`/api/pairing/revoke`,{channel:e.channel,senderId:e.senderId}),a.value=`${e.senderId} is no longer let in.`}async change(t,n){this.error=null;try{await s.send(`POST`,t,n)}catch(t){this.error=t,a.value=e(t).message}this.load()}};customElements.define(`chitin-agents`,T);