
import{C as e,E as t,G as n,H as r,K as i,O as a,P as o,S as s,W as c,a as l,c as u,d,f,g as p,l as m,m as h,o as g,u as _,z as v}from"./app.js";var y={idle:`not tried yet`,connecting:`connecting`,connected:`connected`,failed:`failed`};function b({channels:e=[]}){return e.length===0?i`<p class="quiet">No chat networks are configured. This page and the HTTP interface are always there.</p>`:i`<ul class="cards">${e.map(e=>i`<li class="card">
    <p><strong>${e.channel}</strong> ${e.accountId?i`<code>${e.accountId}</code>`:n} <span class="tag" data-standing=${e.connection??``}>${y[e.connection??``]??e.connection??`unknown`}</span></p>
    ${e.name?i`<p class="small">as ${e.name}</p>`:n}
    ${e.reason?i`<p class="small warn-text">${f(e.reason)}</p>`:n}${e.hint?i`<p class="small">${f(e.hint)}</p>`:n}</li>`)}</ul>`}function x({turnedAway:e=[]}){return e.length===0?i`<p class="quiet">Nobody.</p>`:i`<div class="table-scroll" role="group" tabindex="0" aria-label="Turned away"><table class="list wide"><thead><tr><th scope="col">Who</th><th scope="col">Where</th><th scope="col">Why</th><th scope="col">How often</th><th scope="col">Last</th></tr></thead>
    <tbody>${e.map(e=>i`<tr><th scope="row">${e.senderName??e.sender} <code class="quiet small">${e.sender}</code></th><td>${e.room??e.place}</td><td>${f(e.reason??``)}</td>
      <td>${p(e.count??1,`message`)}</td><td>${h(e.lastAt)}</td></tr>`)}</tbody></table></div>`}var S={chosen:`chosen`,outranked:`holds, another is stronger`,no:`does not hold`};function C(e){let{route:t,bindings:r=[]}=e,a=e.key??t?.sessionKey;return i`<div class="answer">
    ${t?i`<p>Agent <strong>${t.agentId}</strong>, session ${a?i`<a href=${v(`chat`,a)}><code>${a}</code></a>`:`unknown`}, by ${e.choice?.matchedBy??t.matchedBy??`default`}.</p>`:i`<p>Nobody would get it.</p>`}
    ${r.length?i`<div class="table-scroll" role="group" tabindex="0" aria-label="Each binding and its fate"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Fate</th></tr></thead>
      <tbody>${r.map(e=>i`<tr><th scope="row"><code>${e.path}</code></th><td>${e.agentId}</td><td>${e.asks}</td>
        <td>${S[e.verdict??``]??e.verdict}${e.mismatch?i` <span class="quiet small">${Object.values(e.mismatch).map(String).join(` `)}</span>`:n}</td></tr>`)}</tbody></table></div>`:n}
  </div>`}var w=[[`channel`,`Channel`,`discord`],[`account`,`Account`,`default`],[`peer`,`Place`,`channel:123`],[`parent`,`Parent place`,`channel:42`],[`guild`,`Guild`,`42`],[`team`,`Team`,`T1`],[`role`,`Role`,`admin`],[`thread`,`Thread`,`7`],[`sender`,`Sender`,`ada`]],T=class extends g{routes=new l(this);channels=new l(this);pairing=new l(this);approvals=new l(this);explanation=new l(this);error=null;constructor(){super(),this.watch(e),this.while(()=>a.subscribe(()=>this.load())),this.while(()=>{let e=setInterval(()=>document.visibilityState===`visible`&&this.load(),15e3);return()=>clearInterval(e)})}connectedCallback(){super.connectedCallback(),this.load()}load(){this.routes.ask(()=>t.get(`/api/routes`)),this.channels.ask(()=>t.get(`/api/channels`)),this.pairing.ask(()=>t.get(`/api/pairing`)),this.approvals.ask(()=>t.get(`/api/approvals`))}render(){return i`
      ${m(`Agents & routes`,`Who gets a message, and who may send one`)}
      ${this.error?d(this.error):n}
      <section class="section"><h2>Agents</h2><ul class="cards">${e.value.map(e=>i`<li class="card">
        <p><strong>${e.name??e.id}</strong> ${e.isDefault?i`<span class="tag">default</span>`:n}</p>
        <p class="quiet small"><code>${e.workspace??``}</code></p>
        <p class="small"><a href=${v(`files`,e.id)}>Files</a> · <a href=${v(`skills`,e.id)}>Skills</a> · <a href=${v(`memory`,e.id)}>Memory</a></p></li>`)}</ul></section>
      <section class="section"><h2>Who asks to talk</h2>${this.pairing.show(e=>this.drawPairing(e))}</section>
      <section class="section"><h2>Allowed always</h2>${this.approvals.show(({remembered:e})=>this.drawRemembered(e))}</section>
      <section class="section"><h2>Channels</h2>${this.channels.show(b)}</section>
      <section class="section"><h2>Bindings</h2>${this.routes.show(({bindings:e})=>this.drawBindings(e??[]))}${this.form()}</section>
      <section class="section"><h2>Turned away</h2>${this.channels.show(x)}</section>`}drawPairing({pending:e=[],paired:t=[]}){let r=e=>i`<strong>${e.senderName??e.senderId}</strong> <code class="quiet small">${e.channel}:${e.senderId}</code>`,a=e=>typeof e.expiresAt==`number`?`, for another ${s(e.expiresAt-Date.now())}`:``;return i`
      ${e.length===0?i`<p class="quiet">Nobody waits.</p>`:i`<ul class="cards">${e.map(e=>i`<li class="card pairing">
        <p>${r(e)}</p><p class="small">The code that they were told: <code class="pair-code">${e.code}</code>${a(e)}. Let them in only if they say the same.</p>
        <p class="buttons"><button class="button small primary" @click=${()=>this.decide(`approve`,e,!1)}>Let in<span class="hidden"> ${e.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`approve`,e,!0)}>As owner<span class="hidden">: ${e.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`reject`,e,!1)}>Refuse<span class="hidden"> ${e.senderId}</span></button></p></li>`)}</ul>`}
      ${t.length===0?n:i`<h3>Let in</h3><ul class="cards">${t.map(e=>i`<li class="card pairing">
        <p>${r(e)} ${e.owner?i`<span class="tag">owner</span>`:n}</p><p class="quiet small">since ${h(e.since)}</p>
        <p class="buttons"><button class="button small" @click=${()=>this.revoke(e)}>Take back<span class="hidden"> ${e.senderId}</span></button></p></li>`)}</ul>`}`}drawRemembered(e){return e.length===0?i`<p class="quiet">Nothing. What you answer with <em>Always</em> is listed here.</p>`:i`<ul class="cards">${e.map(e=>i`<li class="card approval-kept" data-approval=${e.id}>
      <p><strong>${e.tool}</strong> ${_(e.pattern)}${e.exact?i` <span class="tag">exactly this</span>`:n}</p>
      <p class="quiet small">for <code>${e.agentId}</code> since ${h(e.allowedAt)}</p>
      <p class="buttons"><button class="button small" @click=${()=>this.forget(e)}>Revoke<span class="hidden"> ${e.pattern}</span></button></p></li>`)}</ul>`}async forget(e){await this.change(`/api/approvals/revoke`,{id:e.id}),o.value=`${e.pattern} is asked about again.`}drawBindings(e){return e.length===0?i`<p class="quiet">None: everything goes to the default agent.</p>`:i`<div class="table-scroll" role="group" tabindex="0" aria-label="Bindings"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Rank</th></tr></thead>
      <tbody>${e.map(e=>i`<tr><th scope="row"><code>${e.path}</code></th><td>${e.agentId}</td><td>${e.asks}</td><td>${e.tier}</td></tr>`)}</tbody></table></div>`}form(){return i`<form class="explain" @submit=${this.ask}>
      <h3>Who would get a message?</h3>
      <div class="fields">${w.map(([e,t,n])=>i`<label class="field"><span>${t}</span><input name=${e} placeholder=${n} autocomplete="off" maxlength="200" /></label>`)}</div>
      <button class="button">Explain</button>
      <div role="status">${this.explanation.show(C)}</div>
    </form>
    ${e.value.length===0?u(`No agents.`,``):n}`}ask=e=>{e.preventDefault();let n=Object.fromEntries([...new FormData(e.target)].map(([e,t])=>[e,String(t).trim()]));this.explanation.ask(()=>t.get(c(`/api/route`,n)))};async decide(e,t,n){await this.change(`/api/pairing/${e}`,{channel:t.channel,code:t.code,...e===`approve`?{owner:n}:{}}),o.value=e===`approve`?`${t.senderId} is let in.`:`${t.senderId} is refused.`}async revoke(e){await this.change(`/api/pairing/revoke`,{channel:e.channel,senderId:e.senderId}),o.value=`${e.senderId} is no longer let in.`}async change(e,n){this.error=null;try{await t.send(`POST`,e,n)}catch(e){this.error=e,o.value=r(e).message}this.load()}};customElements.define(`chitin-agents`,T);