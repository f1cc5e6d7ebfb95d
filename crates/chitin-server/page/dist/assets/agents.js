import{C as e,D as t,F as n,L as r,M as i,R as a,_ as o,f as s,g as c,i as l,m as u,o as d,p as f,v as p,x as m,y as h,z as g}from"./app.js";var _={idle:`not tried yet`,connecting:`connecting`,connected:`connected`,failed:`failed`};function v({channels:e=[]}){return e.length===0?g`<p class="quiet">No chat networks are configured. This page and the HTTP interface are always there.</p>`:g`<ul class="cards">${e.map(e=>g`<li class="card">
    <p><strong>${e.channel}</strong> ${e.accountId?g`<code>${e.accountId}</code>`:a} <span class="tag" data-standing=${e.connection??``}>${_[e.connection??``]??e.connection??`unknown`}</span></p>
    ${e.name?g`<p class="small">as ${e.name}</p>`:a}
    ${e.reason?g`<p class="small warn-text">${e.reason}</p>`:a}${e.hint?g`<p class="small">${e.hint}</p>`:a}</li>`)}</ul>`}function y({turnedAway:e=[]}){return e.length===0?g`<p class="quiet">Nobody.</p>`:g`<div class="table-scroll" role="group" tabindex="0" aria-label="Turned away"><table class="list wide"><thead><tr><th scope="col">Who</th><th scope="col">Where</th><th scope="col">Why</th><th scope="col">How often</th><th scope="col">Last</th></tr></thead>
    <tbody>${e.map(e=>g`<tr><th scope="row">${e.senderName??e.sender} <code class="quiet small">${e.sender}</code></th><td>${e.room??e.place}</td><td>${e.reason}</td>
      <td>${d(e.count??1,`message`)}</td><td>${l(e.lastAt)}</td></tr>`)}</tbody></table></div>`}var b={chosen:`chosen`,outranked:`holds, another is stronger`,no:`does not hold`};function x(e){let{route:t,bindings:n=[]}=e,r=e.key??t?.sessionKey;return g`<div class="answer">
    ${t?g`<p>Agent <strong>${t.agentId}</strong>, session ${r?g`<a href=${i(`chat`,r)}><code>${r}</code></a>`:`unknown`}, by ${e.choice?.matchedBy??t.matchedBy??`default`}.</p>`:g`<p>Nobody would get it.</p>`}
    ${n.length?g`<div class="table-scroll" role="group" tabindex="0" aria-label="Each binding and its fate"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Fate</th></tr></thead>
      <tbody>${n.map(e=>g`<tr><th scope="row"><code>${e.path}</code></th><td>${e.agentId}</td><td>${e.asks}</td>
        <td>${b[e.verdict??``]??e.verdict}${e.mismatch?g` <span class="quiet small">${Object.values(e.mismatch).map(String).join(` `)}</span>`:a}</td></tr>`)}</tbody></table></div>`:a}
  </div>`}var S=[[`channel`,`Channel`,`discord`],[`account`,`Account`,`default`],[`peer`,`Place`,`channel:123`],[`parent`,`Parent place`,`channel:42`],[`guild`,`Guild`,`42`],[`team`,`Team`,`T1`],[`role`,`Role`,`admin`],[`thread`,`Thread`,`7`],[`sender`,`Sender`,`ada`]],C=class extends u{routes=new f(this);channels=new f(this);pairing=new f(this);explanation=new f(this);error=null;constructor(){super(),this.watch(h),this.while(()=>e.subscribe(()=>this.load())),this.while(()=>{let e=setInterval(()=>document.visibilityState===`visible`&&this.load(),15e3);return()=>clearInterval(e)})}connectedCallback(){super.connectedCallback(),this.load()}load(){this.routes.ask(()=>m.get(`/api/routes`)),this.channels.ask(()=>m.get(`/api/channels`)),this.pairing.ask(()=>m.get(`/api/pairing`))}render(){return g`
      ${o(`Agents & routes`,`Who gets a message, and who may send one`)}
      ${this.error?p(this.error):a}
      <section class="section"><h2>Agents</h2><ul class="cards">${h.value.map(e=>g`<li class="card">
        <p><strong>${e.name??e.id}</strong> ${e.isDefault?g`<span class="tag">default</span>`:a}</p>
        <p class="quiet small"><code>${e.workspace??``}</code></p>
        <p class="small"><a href=${i(`files`,e.id)}>Files</a> · <a href=${i(`skills`,e.id)}>Skills</a> · <a href=${i(`memory`,e.id)}>Memory</a></p></li>`)}</ul></section>
      <section class="section"><h2>Who asks to talk</h2>${this.pairing.show(e=>this.drawPairing(e))}</section>
      <section class="section"><h2>Channels</h2>${this.channels.show(v)}</section>
      <section class="section"><h2>Bindings</h2>${this.routes.show(({bindings:e})=>this.drawBindings(e??[]))}${this.form()}</section>
      <section class="section"><h2>Turned away</h2>${this.channels.show(y)}</section>`}drawPairing({pending:e=[],paired:t=[]}){let n=e=>g`<strong>${e.senderName??e.senderId}</strong> <code class="quiet small">${e.channel}:${e.senderId}</code>`,r=e=>typeof e.expiresAt==`number`?`, for another ${s(e.expiresAt-Date.now())}`:``;return g`
      ${e.length===0?g`<p class="quiet">Nobody waits.</p>`:g`<ul class="cards">${e.map(e=>g`<li class="card pairing">
        <p>${n(e)}</p><p class="small">The code that they were told: <code class="pair-code">${e.code}</code>${r(e)}. Let them in only if they say the same.</p>
        <p class="buttons"><button class="button small primary" @click=${()=>this.decide(`approve`,e,!1)}>Let in<span class="hidden"> ${e.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`approve`,e,!0)}>As owner<span class="hidden">: ${e.senderId}</span></button>
          <button class="button small" @click=${()=>this.decide(`reject`,e,!1)}>Refuse<span class="hidden"> ${e.senderId}</span></button></p></li>`)}</ul>`}
      ${t.length===0?a:g`<h3>Let in</h3><ul class="cards">${t.map(e=>g`<li class="card pairing">
        <p>${n(e)} ${e.owner?g`<span class="tag">owner</span>`:a}</p><p class="quiet small">since ${l(e.since)}</p>
        <p class="buttons"><button class="button small" @click=${()=>this.revoke(e)}>Take back<span class="hidden"> ${e.senderId}</span></button></p></li>`)}</ul>`}`}drawBindings(e){return e.length===0?g`<p class="quiet">None: everything goes to the default agent.</p>`:g`<ol class="cards">${e.map(e=>g`<li class="card"><pre class="snippet" tabindex="0" aria-label="Binding">${JSON.stringify(e,null,2)}</pre></li>`)}</ol>`}form(){return g`<form class="explain" @submit=${this.ask}>
      <h3>Who would get a message?</h3>
      <div class="fields">${S.map(([e,t,n])=>g`<label class="field"><span>${t}</span><input name=${e} placeholder=${n} autocomplete="off" maxlength="200" /></label>`)}</div>
      <button class="button">Explain</button>
      <div role="status">${this.explanation.show(x)}</div>
    </form>
    ${h.value.length===0?c(`No agents.`,``):a}`}ask=e=>{e.preventDefault();let t=Object.fromEntries([...new FormData(e.target)].map(([e,t])=>[e,String(t).trim()]));this.explanation.ask(()=>m.get(r(`/api/route`,t)))};async decide(e,n,r){await this.change(`/api/pairing/${e}`,{channel:n.channel,code:n.code,...e===`approve`?{owner:r}:{}}),t.value=e===`approve`?`${n.senderId} is let in.`:`${n.senderId} is refused.`}async revoke(e){await this.change(`/api/pairing/revoke`,{channel:e.channel,senderId:e.senderId}),t.value=`${e.senderId} is no longer let in.`}async change(e,r){this.error=null;try{await m.send(`POST`,e,r)}catch(e){this.error=e,t.value=n(e).message}this.load()}};customElements.define(`chitin-agents`,C);