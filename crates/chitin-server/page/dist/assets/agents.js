
import{A as e,B as t,C as n,F as r,H as i,R as a,T as o,V as s,_ as c,b as l,f as u,h as d,i as f,m as p,o as m,v as h,x as g,y as _}from"./app.js";var v={idle:`not tried yet`,connecting:`connecting`,connected:`connected`,failed:`failed`};function y({channels:e=[]}){return e.length===0?i`<p class="quiet">No chat networks are configured. This page and the HTTP interface are always there.</p>`:i`<ul class="cards">${e.map(e=>i`<li class="card">
    <p><strong>${e.channel}</strong> ${e.accountId?i`<code>${e.accountId}</code>`:s} <span class="tag" data-standing=${e.connection??``}>${v[e.connection??``]??e.connection??`unknown`}</span></p>
    ${e.name?i`<p class="small">as ${e.name}</p>`:s}
    ${e.reason?i`<p class="small warn-text">${l(e.reason)}</p>`:s}${e.hint?i`<p class="small">${l(e.hint)}</p>`:s}</li>`)}</ul>`}function b({turnedAway:e=[]}){return e.length===0?i`<p class="quiet">Nobody.</p>`:i`<div class="table-scroll" role="group" tabindex="0" aria-label="Turned away"><table class="list wide"><thead><tr><th scope="col">Who</th><th scope="col">Where</th><th scope="col">Why</th><th scope="col">How often</th><th scope="col">Last</th></tr></thead>
    <tbody>${e.map(e=>i`<tr><th scope="row">${e.senderName??e.sender} <code class="quiet small">${e.sender}</code></th><td>${e.room??e.place}</td><td>${l(e.reason??``)}</td>
      <td>${m(e.count??1,`message`)}</td><td>${f(e.lastAt)}</td></tr>`)}</tbody></table></div>`}var x={chosen:`chosen`,outranked:`holds, another is stronger`,no:`does not hold`};function S(e){let{route:t,bindings:n=[]}=e,a=e.key??t?.sessionKey;return i`<div class="answer">
    ${t?i`<p>Agent <strong>${t.agentId}</strong>, session ${a?i`<a href=${r(`chat`,a)}><code>${a}</code></a>`:`unknown`}, by ${e.choice?.matchedBy??t.matchedBy??`default`}.</p>`:i`<p>Nobody would get it.</p>`}
    ${n.length?i`<div class="table-scroll" role="group" tabindex="0" aria-label="Each binding and its fate"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Fate</th></tr></thead>
      <tbody>${n.map(e=>i`<tr><th scope="row"><code>${e.path}</code></th><td>${e.agentId}</td><td>${e.asks}</td>
        <td>${x[e.verdict??``]??e.verdict}${e.mismatch?i` <span class="quiet small">${Object.values(e.mismatch).map(String).join(` `)}</span>`:s}</td></tr>`)}</tbody></table></div>`:s}
  </div>`}var C=[[`channel`,`Channel`,`discord`],[`account`,`Account`,`default`],[`peer`,`Place`,`channel:123`],[`parent`,`Parent place`,`channel:42`],[`guild`,`Guild`,`42`],[`team`,`Team`,`T1`],[`role`,`Role`,`admin`],[`thread`,`Thread`,`7`],[`sender`,`Sender`,`ada`]],w=class extends d{routes=new p(this);channels=new p(this);pairing=new p(this);explanation=new p(this);error=null;constructor(){super(),this.watch(g),this.while(()=>o.subscribe(()=>this.load())),this.while(()=>{let e=setInterval(()=>document.visibilityState===`visible`&&this.load(),15e3);return()=>clearInterval(e)})}connectedCallback(){super.connectedCallback(),this.load()}load(){this.routes.ask(()=>n.get(`/api/routes`)),this.channels.ask(()=>n.get(`/api/channels`)),this.pairing.ask(()=>n.get(`/api/pairing`))}render(){return i`
      ${h(`Agents & routes`,`Who gets a message, and who may send one`)}
      ${this.error?_(this.error):s}
      <section class="section"><h2>Agents</h2><ul class="cards">${g.value.map(e=>i`<li class="card">
        <p><strong>${e.name??e.id}</strong> ${e.isDefault?i`<span class="tag">default</span>`:s}</p>
        <p class="quiet small"><code>${e.workspace??``}</code></p>
        <p class="small"><a href=${r(`files`,e.id)}>Files</a> · <a href=${r(`skills`,e.id)}>Skills</a> · <a href=${r(`memory`,e.id)}>Memory</a></p></li>`)}</ul></section>
      <section class="section"><h2>Who asks to talk</h2>${this.pairing.show(e=>this.drawPairing(e))}</section>
      <section class="section"><h2>Channels</h2>${this.channels.show(y)}</section>
      <section class="section"><h2>Bindings</h2>${this.routes.show(({bindings:e})=>this.drawBindings(e??[]))}${this.form()}</section>
      <section class="section"><h2>Turned away</h2>${this.channels.show(b)}</section>`}drawPairing({pending:e=[],paired:t=[]}){let n=e=>i`<strong>${e.senderName??e.senderId}</strong> <code class="quiet small">${e.channel}:${e.senderId}</code>`,r=e=>typeof e.expiresAt==`number`?`, for another ${u(e.expiresAt-Date.now())}`:``;return i`
      ${e.length===0?i`<p class="quiet">Nobody waits.</p>`:i`<ul class="cards">${e.map(e=>i`<li class="card pairing">
        <p>${n(e)}</p><p class="small">The code that they were told: <code class="pair-code">${e.code}</code>${r(e)}. Let them in only if they say the same.</p>
        <p class="buttons"><button class="button small primary" @click=${()=>this.decide(`approve`,e,!1)}>Let in<span class="hidden"> ${e.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`approve`,e,!0)}>As owner<span class="hidden">: ${e.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`reject`,e,!1)}>Refuse<span class="hidden"> ${e.senderId}</span></button></p></li>`)}</ul>`}
      ${t.length===0?s:i`<h3>Let in</h3><ul class="cards">${t.map(e=>i`<li class="card pairing">
        <p>${n(e)} ${e.owner?i`<span class="tag">owner</span>`:s}</p><p class="quiet small">since ${f(e.since)}</p>
        <p class="buttons"><button class="button small" @click=${()=>this.revoke(e)}>Take back<span class="hidden"> ${e.senderId}</span></button></p></li>`)}</ul>`}`}drawBindings(e){return e.length===0?i`<p class="quiet">None: everything goes to the default agent.</p>`:i`<div class="table-scroll" role="group" tabindex="0" aria-label="Bindings"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Rank</th></tr></thead>
      <tbody>${e.map(e=>i`<tr><th scope="row"><code>${e.path}</code></th><td>${e.agentId}</td><td>${e.asks}</td><td>${e.tier}</td></tr>`)}</tbody></table></div>`}form(){return i`<form class="explain" @submit=${this.ask}>
      <h3>Who would get a message?</h3>
      <div class="fields">${C.map(([e,t,n])=>i`<label class="field"><span>${t}</span><input name=${e} placeholder=${n} autocomplete="off" maxlength="200" /></label>`)}</div>
      <button class="button">Explain</button>
      <div role="status">${this.explanation.show(S)}</div>
    </form>
    ${g.value.length===0?c(`No agents.`,``):s}`}ask=e=>{e.preventDefault();let r=Object.fromEntries([...new FormData(e.target)].map(([e,t])=>[e,String(t).trim()]));this.explanation.ask(()=>n.get(t(`/api/route`,r)))};async decide(t,n,r){await this.change(`/api/pairing/${t}`,{channel:n.channel,code:n.code,...t===`approve`?{owner:r}:{}}),e.value=t===`approve`?`${n.senderId} is let in.`:`${n.senderId} is refused.`}async revoke(t){await this.change(`/api/pairing/revoke`,{channel:t.channel,senderId:t.senderId}),e.value=`${t.senderId} is no longer let in.`}async change(t,r){this.error=null;try{await n.send(`POST`,t,r)}catch(t){this.error=t,e.value=a(t).message}this.load()}};customElements.define(`chitin-agents`,w);