import{B as e,I as t,N as n,O as r,R as i,S as a,_ as o,b as s,f as c,g as l,i as u,m as d,o as f,p,v as m,w as h,y as g,z as _}from"./app.js";var v={idle:`not tried yet`,connecting:`connecting`,connected:`connected`,failed:`failed`};function y({channels:t=[]}){return t.length===0?e`<p class="quiet">No chat networks are configured. This page and the HTTP interface are always there.</p>`:e`<ul class="cards">${t.map(t=>e`<li class="card">
    <p><strong>${t.channel}</strong> ${t.accountId?e`<code>${t.accountId}</code>`:_} <span class="tag" data-standing=${t.connection??``}>${v[t.connection??``]??t.connection??`unknown`}</span></p>
    ${t.name?e`<p class="small">as ${t.name}</p>`:_}
    ${t.reason?e`<p class="small warn-text">${g(t.reason)}</p>`:_}${t.hint?e`<p class="small">${g(t.hint)}</p>`:_}</li>`)}</ul>`}function b({turnedAway:t=[]}){return t.length===0?e`<p class="quiet">Nobody.</p>`:e`<div class="table-scroll" role="group" tabindex="0" aria-label="Turned away"><table class="list wide"><thead><tr><th scope="col">Who</th><th scope="col">Where</th><th scope="col">Why</th><th scope="col">How often</th><th scope="col">Last</th></tr></thead>
    <tbody>${t.map(t=>e`<tr><th scope="row">${t.senderName??t.sender} <code class="quiet small">${t.sender}</code></th><td>${t.room??t.place}</td><td>${g(t.reason??``)}</td>
      <td>${f(t.count??1,`message`)}</td><td>${u(t.lastAt)}</td></tr>`)}</tbody></table></div>`}var x={chosen:`chosen`,outranked:`holds, another is stronger`,no:`does not hold`};function S(t){let{route:r,bindings:i=[]}=t,a=t.key??r?.sessionKey;return e`<div class="answer">
    ${r?e`<p>Agent <strong>${r.agentId}</strong>, session ${a?e`<a href=${n(`chat`,a)}><code>${a}</code></a>`:`unknown`}, by ${t.choice?.matchedBy??r.matchedBy??`default`}.</p>`:e`<p>Nobody would get it.</p>`}
    ${i.length?e`<div class="table-scroll" role="group" tabindex="0" aria-label="Each binding and its fate"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Fate</th></tr></thead>
      <tbody>${i.map(t=>e`<tr><th scope="row"><code>${t.path}</code></th><td>${t.agentId}</td><td>${t.asks}</td>
        <td>${x[t.verdict??``]??t.verdict}${t.mismatch?e` <span class="quiet small">${Object.values(t.mismatch).map(String).join(` `)}</span>`:_}</td></tr>`)}</tbody></table></div>`:_}
  </div>`}var C=[[`channel`,`Channel`,`discord`],[`account`,`Account`,`default`],[`peer`,`Place`,`channel:123`],[`parent`,`Parent place`,`channel:42`],[`guild`,`Guild`,`42`],[`team`,`Team`,`T1`],[`role`,`Role`,`admin`],[`thread`,`Thread`,`7`],[`sender`,`Sender`,`ada`]],w=class extends d{routes=new p(this);channels=new p(this);pairing=new p(this);explanation=new p(this);error=null;constructor(){super(),this.watch(s),this.while(()=>h.subscribe(()=>this.load())),this.while(()=>{let e=setInterval(()=>document.visibilityState===`visible`&&this.load(),15e3);return()=>clearInterval(e)})}connectedCallback(){super.connectedCallback(),this.load()}load(){this.routes.ask(()=>a.get(`/api/routes`)),this.channels.ask(()=>a.get(`/api/channels`)),this.pairing.ask(()=>a.get(`/api/pairing`))}render(){return e`
      ${o(`Agents & routes`,`Who gets a message, and who may send one`)}
      ${this.error?m(this.error):_}
      <section class="section"><h2>Agents</h2><ul class="cards">${s.value.map(t=>e`<li class="card">
        <p><strong>${t.name??t.id}</strong> ${t.isDefault?e`<span class="tag">default</span>`:_}</p>
        <p class="quiet small"><code>${t.workspace??``}</code></p>
        <p class="small"><a href=${n(`files`,t.id)}>Files</a> · <a href=${n(`skills`,t.id)}>Skills</a> · <a href=${n(`memory`,t.id)}>Memory</a></p></li>`)}</ul></section>
      <section class="section"><h2>Who asks to talk</h2>${this.pairing.show(e=>this.drawPairing(e))}</section>
      <section class="section"><h2>Channels</h2>${this.channels.show(y)}</section>
      <section class="section"><h2>Bindings</h2>${this.routes.show(({bindings:e})=>this.drawBindings(e??[]))}${this.form()}</section>
      <section class="section"><h2>Turned away</h2>${this.channels.show(b)}</section>`}drawPairing({pending:t=[],paired:n=[]}){let r=t=>e`<strong>${t.senderName??t.senderId}</strong> <code class="quiet small">${t.channel}:${t.senderId}</code>`,i=e=>typeof e.expiresAt==`number`?`, for another ${c(e.expiresAt-Date.now())}`:``;return e`
      ${t.length===0?e`<p class="quiet">Nobody waits.</p>`:e`<ul class="cards">${t.map(t=>e`<li class="card pairing">
        <p>${r(t)}</p><p class="small">The code that they were told: <code class="pair-code">${t.code}</code>${i(t)}. Let them in only if they say the same.</p>
        <p class="buttons"><button class="button small primary" @click=${()=>this.decide(`approve`,t,!1)}>Let in<span class="hidden"> ${t.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`approve`,t,!0)}>As owner<span class="hidden">: ${t.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`reject`,t,!1)}>Refuse<span class="hidden"> ${t.senderId}</span></button></p></li>`)}</ul>`}
      ${n.length===0?_:e`<h3>Let in</h3><ul class="cards">${n.map(t=>e`<li class="card pairing">
        <p>${r(t)} ${t.owner?e`<span class="tag">owner</span>`:_}</p><p class="quiet small">since ${u(t.since)}</p>
        <p class="buttons"><button class="button small" @click=${()=>this.revoke(t)}>Take back<span class="hidden"> ${t.senderId}</span></button></p></li>`)}</ul>`}`}drawBindings(t){return t.length===0?e`<p class="quiet">None: everything goes to the default agent.</p>`:e`<div class="table-scroll" role="group" tabindex="0" aria-label="Bindings"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Rank</th></tr></thead>
      <tbody>${t.map(t=>e`<tr><th scope="row"><code>${t.path}</code></th><td>${t.agentId}</td><td>${t.asks}</td><td>${t.tier}</td></tr>`)}</tbody></table></div>`}form(){return e`<form class="explain" @submit=${this.ask}>
      <h3>Who would get a message?</h3>
      <div class="fields">${C.map(([t,n,r])=>e`<label class="field"><span>${n}</span><input name=${t} placeholder=${r} autocomplete="off" maxlength="200" /></label>`)}</div>
      <button class="button">Explain</button>
      <div role="status">${this.explanation.show(S)}</div>
    </form>
    ${s.value.length===0?l(`No agents.`,``):_}`}ask=e=>{e.preventDefault();let t=Object.fromEntries([...new FormData(e.target)].map(([e,t])=>[e,String(t).trim()]));this.explanation.ask(()=>a.get(i(`/api/route`,t)))};async decide(e,t,n){await this.change(`/api/pairing/${e}`,{channel:t.channel,code:t.code,...e===`approve`?{owner:n}:{}}),r.value=e===`approve`?`${t.senderId} is let in.`:`${t.senderId} is refused.`}async revoke(e){await this.change(`/api/pairing/revoke`,{channel:e.channel,senderId:e.senderId}),r.value=`${e.senderId} is no longer let in.`}async change(e,n){this.error=null;try{await a.send(`POST`,e,n)}catch(e){this.error=e,r.value=t(e).message}this.load()}};customElements.define(`chitin-agents`,w);