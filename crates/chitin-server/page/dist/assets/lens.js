
import{E as e,F as t,G as n,K as r,N as i,O as a,T as o,U as s,W as c,a as l,c as u,f as d,g as f,h as p,k as m,l as h,m as g,n as _,o as v,r as y,s as b,v as x,x as S,y as C,z as w}from"./app.js";var T={ours:`written by the runtime`,value:`filled in`,file:`from a file`,"cut-marker":`says that something was cut`};function E(e){let t=[...new Set((e.pieces??[]).map(e=>e.kind))];return r`<section class="fragment" aria-label="Fragment">
    <h2>${e.name}</h2>
    <dl class="facts">
      ${D(`Origin`,e.origin)}${D(`Role`,e.role)}${D(`Cache`,e.cache)}
      ${D(`Sent`,`${f(e.chars,`character`)}, ${f(e.tokens,`token`)}`)}
      ${e.rawChars!==void 0&&e.rawChars!==e.chars?D(`On disk`,f(e.rawChars,`character`)):n}
      ${D(`Fate`,e.decision)}${e.cause?D(`Why`,d(e.cause)):n}
    </dl>
    ${t.length>1?r`<p class="legend small quiet">${t.map(e=>r`<span class="piece" data-kind=${e}>${T[e]??e}</span> `)}</p>`:n}
    <div class="fragment-text" tabindex="0" role="group" aria-label="Text that is sent">${(e.pieces??[]).map(O)}${e.pieces?.length?n:r`<span class="quiet">The text is not recorded.</span>`}</div>
    ${(e.cutText??[]).filter(e=>e.text?.trim()).map(e=>r`<div class="cut"><p class="label">Cut: lines ${p(e.fromLine)} to ${p(e.toLine)}${e.why?r`; ${d(e.why)}`:n}${e.shortened?` (the beginning of it)`:``}</p><pre role="group" tabindex="0" aria-label="Text that was cut">${e.text}</pre></div>`)}
  </section>`}function D(e,t){return t?r`<div><dt>${e}</dt><dd>${t}</dd></div>`:n}function O(e){return r`<span class="piece" data-kind=${e.kind}>${e.text}</span>`}function k(e,t){let n=e.map(()=>({x:t.x,y:t.y,width:0,height:0})),r=e.map((e,t)=>({weight:e,index:t})).filter(e=>e.weight>0).sort((e,t)=>t.weight-e.weight||e.index-t.index),i=r.reduce((e,t)=>e+t.weight,0);if(i===0||t.width<=0||t.height<=0)return n;let a=t.width*t.height/i,o={...t},s=[],c=0,l=(e,t,n,r)=>Math.max(r*r*n/(e*e),e*e/(r*r*t)),u=()=>{let e=o.width>=o.height,t=c/(e?o.height:o.width),r=0;for(let i of s){let a=i.size/t;n[i.index]=e?{x:o.x,y:o.y+r,width:t,height:a}:{x:o.x+r,y:o.y,width:a,height:t},r+=a}e?(o.x+=t,o.width=Math.max(0,o.width-t)):(o.y+=t,o.height=Math.max(0,o.height-t)),s=[],c=0};for(let{weight:e,index:t}of r){let n=e*a,r=Math.min(o.width,o.height),i=s[0],d=s.at(-1);if(i&&d){let e=l(c,d.size,i.size,r);l(c+n,n,i.size,r)>e&&u()}s.push({size:n,index:t}),c+=n}return u(),n}var A=class extends v{static properties={lens:{},chosen:{}};choose=()=>{};width=640;height=360;constructor(){super(),this.while(()=>{let e=new ResizeObserver(()=>{Math.floor(this.clientWidth)!==this.width&&this.requestUpdate()});return e.observe(this),()=>e.disconnect()})}willUpdate(){this.width=Math.floor(this.clientWidth)||this.width,this.height=Math.round(Math.max(240,Math.min(420,this.width*.56)))}render(){let e=k(this.lens.fragments.map(e=>Math.max(e.tokens,0)),{x:0,y:0,width:this.width,height:this.height}),t=this.lens.totals.tokens;return r`<div class="treemap" role="group" aria-label="Fragments by size" .style=${`height:${this.height}px`} @keydown=${this.press}>
        ${this.lens.fragments.map((n,r)=>this.tile(n,r,e[r],t))}
      </div>
      <p class="legend small quiet" aria-hidden="true">${[...new Set(this.lens.fragments.map(e=>e.cache).filter(Boolean))].map(e=>r`<span><span class="swatch" data-cache=${e}></span>${e}</span>`)}</p>`}tile(e,t,i,a){if(!i||i.width<1||i.height<1)return n;let o=`${C(e.tokens,a)}, ${e.decision??`kept`}`,s=f(e.tokens,`token`),c=i.width>40&&i.height>26,l=`left:${i.x}px;top:${i.y}px;width:${Math.max(1,i.width-2)}px;height:${Math.max(1,i.height-2)}px`;return r`<button class="tile" ?data-small=${!c} .style=${l} data-index=${t} data-cache=${e.cache??``} data-fate=${e.decision??`kept`} title=${`${e.name}: ${s}, ${o}`}
      aria-pressed=${t===this.chosen} tabindex=${t===this.stop()?0:-1} @click=${()=>this.choose(t)}>
      <span class=${c?`tile-name`:`hidden`}>${e.name}</span>
      <span class=${c&&i.height>48?`tile-size`:`hidden`}>${s}</span> <span class="hidden">${o}</span>
    </button>`}stop(){return(this.lens.fragments[this.chosen]?.tokens??0)>0?this.chosen:this.lens.fragments.findIndex(e=>e.tokens>0)}press=e=>{let t=[...this.querySelectorAll(`.tile`)],n=t.indexOf(document.activeElement),r={ArrowRight:n+1,ArrowDown:n+1,ArrowLeft:n-1,ArrowUp:n-1,Home:0,End:t.length-1}[e.key],i=r===void 0||n<0?void 0:t[Math.max(0,Math.min(t.length-1,r))];i&&(e.preventDefault(),i.focus(),this.choose(Number(i.dataset.index)))};updated(e){let t=document.activeElement;t?.classList.contains(`tile`)&&this.contains(t)&&this.querySelector(`.tile[tabindex="0"]`)?.focus()}};customElements.define(`chitin-treemap`,A);var j=[[`map`,`Fragments`],[`files`,`Files and budget`],[`before`,`Against the turn before`]];function M(e){return e.fragments.reduce((t,n,r)=>n.tokens>(e.fragments[t]?.tokens??-1)?r:t,0)}function N(e){return e.state===`new`?`no history`:e.state===`expired`?`the session expired`:e.state===`unknown`?`it could not be read`:f(e.messages,`message`)+(e.compactionDue?`, compacted before the next turn`:``)}var P=class extends v{key=``;turn=`next`;tab=`map`;chosen=null;turns=new l(this);lens=new l(this);soon=b(()=>this.load(),400);constructor(){super(),this.watch(t),this.while(()=>i.subscribe(()=>this.choose())),this.while(()=>a.subscribe(()=>this.load())),this.while(()=>m(e=>{e.sessionKey===this.key&&e.kind===`finished`&&this.soon.call()}))}connectedCallback(){super.connectedCallback(),this.choose()}choose(){if(i.value.view!==`lens`)return;let[e,t]=[o(),i.value.rest[1]??`next`];e===this.key&&t===this.turn&&this.lens.value||(e!==this.key&&this.turns.forget(),this.lens.forget(),this.key=e,this.turn=t,this.chosen=null,this.load())}load(){let[t,n]=[this.key,this.turn];this.turns.ask(()=>e.get(s`/api/sessions/${t}/turns`)),this.lens.ask(()=>e.get(c(s`/api/sessions/${t}/lens`,{turn:n})))}render(){return r`
      ${h(`Context lens`,`What the model gets, fragment by fragment`,r`
        ${_(this.key,e=>location.hash=w(`lens`,e))}
        ${this.pickTurn()}`)}
      ${this.turns.value?.hint?r`<p class="quiet small">${this.turns.value.hint}</p>`:n}
      ${this.lens.show(e=>this.draw(e))}`}pickTurn(){let e=this.turns.value?.turns??[],t=e=>[g(e.at),e.trigger??``,e.status&&![`ok`,`success`].includes(e.status)?e.status:``,e.costUsd?x(e.costUsd):``].filter(Boolean).join(` · `)||S(e.id,12);return r`<label class="field inline"><span>Turn</span>
      <select @change=${e=>location.hash=w(`lens`,this.key,e.target.value)}>
        <option value="next" ?selected=${this.turn===`next`}>the next one</option>
        ${e.map(e=>r`<option value=${e.id} ?selected=${e.id===this.turn}>${t(e)}</option>`)}
      </select></label>`}draw(e){return r`
      ${this.totals(e)}
      ${this.origins(e)}
      ${this.broken(e)}
      <div class="tabs" role="tablist" aria-label="Ways to look at it" @keydown=${this.tabKey}>
        ${j.map(([e,t])=>r`<button role="tab" id=${`tab-${e}`} aria-controls="lens-panel" aria-selected=${e===this.tab}
          tabindex=${e===this.tab?0:-1} @click=${()=>this.show(e)}>${t}</button>`)}
      </div>
      <div id="lens-panel" role="tabpanel" aria-labelledby=${`tab-${this.tab}`}>${this.panel(e)}</div>`}panel(e){if(this.tab===`files`)return this.files(e);if(this.tab===`before`)return this.against(e);let t=this.chosen??M(e),i=e.fragments[t];return r`
      <div class="lens-grid">
        <div class="lens-map">
          <chitin-treemap .lens=${e} .chosen=${t} .choose=${this.pick}></chitin-treemap>
          ${this.list(e,t)}
        </div>
        ${i?E(i):n}
      </div>`}totals(e){let{totals:t,window:i,budget:a}=e,o=(e,t)=>r`<div class="figure"><strong>${e}</strong><span>${t}</span></div>`;return r`<div class="figures">
      ${o(`${t.complete===!1?`≥ `:``}${p(t.tokens)}`,i?`tokens, ${C(t.tokens,i)} of ${p(i)}`:`tokens, window unknown`)}
      ${t.system?o(p(t.system.tokens),`tokens of system prompt`):n}
      ${e.toolDefinitions?o(p(e.toolDefinitions.tokens),`tokens of ${f(e.toolDefinitions.count,`tool definition`)}`):n}
      ${e.history?o(e.history.tokens===null?`unknown`:p(e.history.tokens),`tokens of history (${N(e.history)})`):n}
      ${o(t.costUsd===void 0?`unknown`:x(t.costUsd),`to send it once, uncached`)}
      ${o(p(e.fragments.length),`fragments`)}
      ${a?.total?o(C(a.used??0,a.total),`of the budget for files (${p(a.total)})`):n}
    </div>`}origins(e){let t=e.origins;return!t||t.untrusted.length===0?n:r`<details class="notice" role="note"><summary><strong>${f(t.untrusted.length,`text`)} in this context ${t.untrusted.length===1?`is`:`are`} not the owner's.</strong></summary>
      <ul>${t.untrusted.map(e=>r`<li>${e.text}</li>`)}</ul>
      ${t.takenAway.length===0?n:r`<p>Because of that, the agent needs the owner to</p>
      <ul>${t.takenAway.map(e=>r`<li>${e.what} (<code>access.untrusted.allow</code>: <code>${e.allow}</code>)</li>`)}</ul>`}</details>`}broken(e){let t=e.before;if(!t)return n;if(t.same)return r`<p class="notice good">The same as in the turn before, as far as that went: the cache holds.</p>`;let i=t.firstDifference,a=r`<button class="link" @click=${()=>this.show(`before`)}>Show the difference</button>`;return t.lostTokens?r`<div class="notice warn" role="note"><strong>The cache breaks${i?r` in <code>${i.fragment}</code>, line ${p(i.line)} of the prompt`:n}.</strong>
      ${f(t.lostTokens,`token`)} behind it must be read again${t.lostCostUsd?r`, which costs ${x(t.lostCostUsd)}`:n}.
      ${t.cause?r` ${d(t.cause)}`:n}
      ${a}</div>`:r`<p class="notice">Other than in the turn before${i?r` from <code>${i.fragment}</code> on, line ${p(i.line)} of the prompt`:n}; nothing that was cached is lost.
        ${t.cause?d(t.cause):n} ${a}</p>`}list(e,t){let i=e.totals.tokens;return r`<table class="list"><caption class="hidden">Fragments in their order</caption>
      <thead><tr><th scope="col">Fragment</th><th scope="col">Fate</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Share</th></tr></thead>
      <tbody>${e.fragments.map((a,o)=>r`
        <tr ?data-chosen=${o===t}>
          <th scope="row"><span class="swatch" data-cache=${a.cache??``} aria-hidden="true"></span><button class="link" aria-pressed=${o===t} @click=${()=>this.pick(o)}>${a.name}</button></th>
          <td><span class="fate" data-fate=${a.decision??`kept`}>${a.decision??`kept`}</span></td>
          <td class="number">${p(a.tokens)}</td>
          <td class="number">${C(a.tokens,i)}</td>
        </tr>
        ${e.boundary?.afterFragment===o?r`<tr class="boundary"><td colspan="4">Cache boundary: what stands above is cached, what stands below is read anew</td></tr>`:n}`)}
        ${this.beside(e,i)}
      </tbody></table>`}beside(e,t){let i=(e,n,i)=>r`<tr>
      <th scope="row"><span class="swatch" aria-hidden="true"></span>${e}</th><td>${n}</td>
      <td class="number">${i===null?`unknown`:p(i)}</td>
      <td class="number">${i===null?``:C(i,t)}</td></tr>`,{toolDefinitions:a,history:o,message:s}=e;return r`
      ${a?i(`tool definitions`,f(a.count,`tool`)+(a.mcpServers?`, without those of ${f(a.mcpServers,`MCP server`)}`:``),a.tokens):n}
      ${o?i(`history`,N(o),o.tokens):n}
      ${s?i(`message`,``,s.tokens):n}`}files(e){let t=e.files??[];return t.length===0?u(`No files.`,`This turn has no files of the workspace in its context, or they were not recorded.`):r`<div class="table-scroll" role="group" tabindex="0" aria-label="Files"><table class="list wide"><thead><tr><th scope="col">File</th><th scope="col">State</th><th scope="col" class="number">On disk</th>
      <th scope="col" class="number">Sent</th><th scope="col" class="number">Limit</th><th scope="col" class="number">Tokens</th><th scope="col">Why</th></tr></thead>
      <tbody>${t.map(e=>r`<tr>
        <th scope="row"><a href=${w(`files`,this.key.split(`:`)[1]??`main`,e.path)}>${e.path}</a></th>
        <td><span class="fate" data-fate=${e.state}>${e.state}</span></td><td class="number">${p(e.rawChars)}</td><td class="number">${p(e.chars)}</td>
        <td class="number">${p(e.limit)}</td><td class="number">${p(e.tokens)}</td><td>${d(e.cause??``)}</td></tr>`)}</tbody></table></div>`}against(e){let t=e.before;return t?t.same&&!t.diff?.some(e=>e.op===`add`||e.op===`remove`)?u(`Nothing changed.`,`What was sent before is sent again, byte by byte.`):r`${y(t.diff??[],`Difference with the turn before`)}
      ${t.shortened?r`<p class="quiet small">There are more differences than are shown here.</p>`:n}`:u(`There is no turn before.`,`The first turn of a session has nothing to be compared with, or the turn before it was not recorded.`)}pick=e=>{this.chosen=e,this.requestUpdate()};show(e){this.tab=e,this.requestUpdate()}tabKey=async e=>{let t=e.key===`ArrowRight`?1:e.key===`ArrowLeft`?-1:0;if(!t)return;let n=j.findIndex(([e])=>e===this.tab);this.show(j[(n+t+j.length)%j.length]?.[0]??`map`),await this.updateComplete,this.querySelector(`#tab-${this.tab}`)?.focus()}};customElements.define(`chitin-lens`,P);