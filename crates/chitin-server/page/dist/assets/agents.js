
import{B as e,C as t,L as n,P as r,T as i,V as a,_ as o,b as s,f as c,h as l,i as u,k as d,m as f,o as p,v as m,x as h,y as g,z as _}from"./app.js";var v={idle:`not tried yet`,connecting:`connecting`,connected:`connected`,failed:`failed`};function y({channels:t=[]}){return t.length===0?a`<p class="quiet">No chat networks are configured. This page and the HTTP interface are always there.</p>`:a`<ul class="cards">${t.map(t=>a`<li class="card">
    <p><strong>${t.channel}</strong> ${t.accountId?a`<code>${t.accountId}</code>`:e} <span class="tag" data-standing=${t.connection??``}>${v[t.connection??``]??t.connection??`unknown`}</span></p>
    ${t.name?a`<p class="small">as ${t.name}</p>`:e}
    ${t.reason?a`<p class="small warn-text">${s(t.reason)}</p>`:e}${t.hint?a`<p class="small">${s(t.hint)}</p>`:e}</li>`)}</ul>`}function b({turnedAway:e=[]}){return e.length===0?a`<p class="quiet">Nobody.</p>`:a`<div class="table-scroll" role="group" tabindex="0" aria-label="Turned away"><table class="list wide"><thead><tr><th scope="col">Who</th><th scope="col">Where</th><th scope="col">Why</th><th scope="col">How often</th><th scope="col">Last</th></tr></thead>
    <tbody>${e.map(e=>a`<tr><th scope="row">${e.senderName??e.sender} <code class="quiet small">${e.sender}</code></th><td>${e.room??e.place}</td><td>${s(e.reason??``)}</td>
      <td>${p(e.count??1,`message`)}</td><td>${u(e.lastAt)}</td></tr>`)}</tbody></table></div>`}var x={chosen:`chosen`,outranked:`holds, another is stronger`,no:`does not hold`};function S(t){let{route:n,bindings:i=[]}=t,o=t.key??n?.sessionKey;return a`<div class="answer">
    ${n?a`<p>Agent <strong>${n.agentId}</strong>, session ${o?a`<a href=${r(`chat`,o)}><code>${o}</code></a>`:`unknown`}, by ${t.choice?.matchedBy??n.matchedBy??`default`}.</p>`:a`<p>Nobody would get it.</p>`}
    ${i.length?a`<div class="table-scroll" role="group" tabindex="0" aria-label="Each binding and its fate"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Fate</th></tr></thead>
      <tbody>${i.map(t=>a`<tr><th scope="row"><code>${t.path}</code></th><td>${t.agentId}</td><td>${t.asks}</td>
        <td>${x[t.verdict??``]??t.verdict}${t.mismatch?a` <span class="quiet small">${Object.values(t.mismatch).map(String).join(` `)}</span>`:e}</td></tr>`)}</tbody></table></div>`:e}
  </div>`}var C=[[`channel`,`Channel`,`discord`],[`account`,`Account`,`default`],[`peer`,`Place`,`channel:123`],[`parent`,`Parent place`,`channel:42`],[`guild`,`Guild`,`42`],[`team`,`Team`,`T1`],[`role`,`Role`,`admin`],[`thread`,`Thread`,`7`],[`sender`,`Sender`,`ada`]],w=class extends l{routes=new f(this);channels=new f(this);pairing=new f(this);explanation=new f(this);error=null;constructor(){super(),this.watch(h),this.while(()=>i.subscribe(()=>this.load())),this.while(()=>{let e=setInterval(()=>document.visibilityState===`visible`&&this.load(),15e3);return()=>clearInterval(e)})}connectedCallback(){super.connectedCallback(),this.load()}load(){this.routes.ask(()=>t.get(`/api/routes`)),this.channels.ask(()=>t.get(`/api/channels`)),this.pairing.ask(()=>t.get(`/api/pairing`))}render(){return a`
      ${m(`Agents & routes`,`Who gets a message, and who may send one`)}
      ${this.error?g(this.error):e}
      <section class="section"><h2>Agents</h2><ul class="cards">${h.value.map(t=>a`<li class="card">
        <p><strong>${t.name??t.id}</strong> ${t.isDefault?a`<span class="tag">default</span>`:e}</p>
        <p class="quiet small"><code>${t.workspace??``}</code></p>
        <p class="small"><a href=${r(`files`,t.id)}>Files</a> · <a href=${r(`skills`,t.id)}>Skills</a> · <a href=${r(`memory`,t.id)}>Memory</a></p></li>`)}</ul></section>
      <section class="section"><h2>Who asks to talk</h2>${this.pairing.show(e=>this.drawPairing(e))}</section>
      <section class="section"><h2>Channels</h2>${this.channels.show(y)}</section>
      <section class="section"><h2>Bindings</h2>${this.routes.show(({bindings:e})=>this.drawBindings(e??[]))}${this.form()}</section>
      <section class="section"><h2>Turned away</h2>${this.channels.show(b)}</section>`}drawPairing({pending:t=[],paired:n=[]}){let r=e=>a`<strong>${e.senderName??e.senderId}</strong> <code class="quiet small">${e.channel}:${e.senderId}</code>`,i=e=>typeof e.expiresAt==`number`?`, for another ${c(e.expiresAt-Date.now())}`:``;return a`
      ${t.length===0?a`<p class="quiet">Nobody waits.</p>`:a`<ul class="cards">${t.map(e=>a`<li class="card pairing">
        <p>${r(e)}</p><p class="small">The code that they were told: <code class="pair-code">${e.code}</code>${i(e)}. Let them in only if they say the same.</p>
        <p class="buttons"><button class="button small primary" @click=${()=>this.decide(`approve`,e,!1)}>Let in<span class="hidden"> ${e.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`approve`,e,!0)}>As owner<span class="hidden">: ${e.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`reject`,e,!1)}>Refuse<span class="hidden"> ${e.senderId}</span></button></p></li>`)}</ul>`}
      ${n.length===0?e:a`<h3>Let in</h3><ul class="cards">${n.map(t=>a`<li class="card pairing">
        <p>${r(t)} ${t.owner?a`<span class="tag">owner</span>`:e}</p><p class="quiet small">since ${u(t.since)}</p>
        <p class="buttons"><button class="button small" @click=${()=>this.revoke(t)}>Take back<span class="hidden"> ${t.senderId}</span></button></p></li>`)}</ul>`}`}drawBindings(e){return e.length===0?a`<p class="quiet">None: everything goes to the default agent.</p>`:a`<div class="table-scroll" role="group" tabindex="0" aria-label="Bindings"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Rank</th></tr></thead>
      <tbody>${e.map(e=>a`<tr><th scope="row"><code>${e.path}</code></th><td>${e.agentId}</td><td>${e.asks}</td><td>${e.tier}</td></tr>`)}</tbody></table></div>`}form(){return a`<form class="explain" @submit=${this.ask}>
      <h3>Who would get a message?</h3>
      <div class="fields">${C.map(([e,t,n])=>a`<label class="field"><span>${t}</span><input name=${e} placeholder=${n} autocomplete="off" maxlength="200" /></label>`)}</div>
      <button class="button">Explain</button>
      <div role="status">${this.explanation.show(S)}</div>
    </form>
    ${h.value.length===0?o(`No agents.`,``):e}`}ask=e=>{e.preventDefault();let n=Object.fromEntries([...new FormData(e.target)].map(([e,t])=>[e,String(t).trim()]));this.explanation.ask(()=>t.get(_(`/api/route`,n)))};async decide(e,t,n){await this.change(`/api/pairing/${e}`,{channel:t.channel,code:t.code,...e===`approve`?{owner:n}:{}}),d.value=e===`approve`?`${t.senderId} is let in.`:`${t.senderId} is refused.`}async revoke(e){await this.change(`/api/pairing/revoke`,{channel:e.channel,senderId:e.senderId}),d.value=`${e.senderId} is no longer let in.`}async change(e,r){this.error=null;try{await t.send(`POST`,e,r)}catch(e){this.error=e,d.value=n(e).message}this.load()}};customElements.define(`chitin-agents`,w);