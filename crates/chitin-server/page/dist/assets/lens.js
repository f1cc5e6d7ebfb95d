
import{A as e,B as t,C as n,E as r,O as i,P as a,R as o,S as s,T as c,V as l,_ as u,a as d,b as f,c as p,d as m,g as h,h as g,i as _,l as v,m as y,n as b,o as x,v as S,z as C}from"./app.js";import{t as w}from"./compare.js";var T={ours:`written by the runtime`,value:`filled in`,file:`from a file`,"cut-marker":`says that something was cut`};function E(e){let n=[...new Set((e.pieces??[]).map(e=>e.kind))];return l`<section class="fragment" aria-label="Fragment">
    <h2>${e.name}</h2>
    <dl class="facts">
      ${D(`Origin`,e.origin)}${D(`Role`,e.role)}${D(`Cache`,e.cache)}
      ${D(`Sent`,`${x(e.chars,`character`)}, ${x(e.tokens,`token`)}`)}
      ${e.rawChars!==void 0&&e.rawChars!==e.chars?D(`On disk`,x(e.rawChars,`character`)):t}
      ${D(`Fate`,e.decision)}${e.cause?D(`Why`,f(e.cause)):t}
    </dl>
    ${n.length>1?l`<p class="legend small quiet">${n.map(e=>l`<span class="piece" data-kind=${e}>${T[e]??e}</span> `)}</p>`:t}
    <div class="fragment-text" tabindex="0" role="group" aria-label="Text that is sent">${(e.pieces??[]).map(O)}${e.pieces?.length?t:l`<span class="quiet">The text is not recorded.</span>`}</div>
    ${(e.cutText??[]).filter(e=>e.text?.trim()).map(e=>l`<div class="cut"><p class="label">Cut: lines ${d(e.fromLine)} to ${d(e.toLine)}${e.why?l`; ${f(e.why)}`:t}${e.shortened?` (the beginning of it)`:``}</p><pre role="group" tabindex="0" aria-label="Text that was cut">${e.text}</pre></div>`)}
  </section>`}function D(e,n){return n?l`<div><dt>${e}</dt><dd>${n}</dd></div>`:t}function O(e){return l`<span class="piece" data-kind=${e.kind}>${e.text}</span>`}function k(e,t){let n=e.map(()=>({x:t.x,y:t.y,width:0,height:0})),r=e.map((e,t)=>({weight:e,index:t})).filter(e=>e.weight>0).sort((e,t)=>t.weight-e.weight||e.index-t.index),i=r.reduce((e,t)=>e+t.weight,0);if(i===0||t.width<=0||t.height<=0)return n;let a=t.width*t.height/i,o={...t},s=[],c=0,l=(e,t,n,r)=>Math.max(r*r*n/(e*e),e*e/(r*r*t)),u=()=>{let e=o.width>=o.height,t=c/(e?o.height:o.width),r=0;for(let i of s){let a=i.size/t;n[i.index]=e?{x:o.x,y:o.y+r,width:t,height:a}:{x:o.x+r,y:o.y,width:a,height:t},r+=a}e?(o.x+=t,o.width=Math.max(0,o.width-t)):(o.y+=t,o.height=Math.max(0,o.height-t)),s=[],c=0};for(let{weight:e,index:t}of r){let n=e*a,r=Math.min(o.width,o.height),i=s[0],d=s.at(-1);if(i&&d){let e=l(c,d.size,i.size,r);l(c+n,n,i.size,r)>e&&u()}s.push({size:n,index:t}),c+=n}return u(),n}var A=class extends g{static properties={lens:{},chosen:{}};choose=()=>{};width=640;height=360;constructor(){super(),this.while(()=>{let e=new ResizeObserver(()=>{Math.floor(this.clientWidth)!==this.width&&this.requestUpdate()});return e.observe(this),()=>e.disconnect()})}willUpdate(){this.width=Math.floor(this.clientWidth)||this.width,this.height=Math.round(Math.max(240,Math.min(420,this.width*.56)))}render(){let e=k(this.lens.fragments.map(e=>Math.max(e.tokens,0)),{x:0,y:0,width:this.width,height:this.height}),t=this.lens.totals.tokens;return l`<div class="treemap" role="group" aria-label="Fragments by size" .style=${`height:${this.height}px`} @keydown=${this.press}>
        ${this.lens.fragments.map((n,r)=>this.tile(n,r,e[r],t))}
      </div>
      <p class="legend small quiet" aria-hidden="true">${[...new Set(this.lens.fragments.map(e=>e.cache).filter(Boolean))].map(e=>l`<span><span class="swatch" data-cache=${e}></span>${e}</span>`)}</p>`}tile(e,n,r,i){if(!r||r.width<1||r.height<1)return t;let a=`${v(e.tokens,i)}, ${e.decision??`kept`}`,o=x(e.tokens,`token`),s=r.width>40&&r.height>26,c=`left:${r.x}px;top:${r.y}px;width:${Math.max(1,r.width-2)}px;height:${Math.max(1,r.height-2)}px`;return l`<button class="tile" ?data-small=${!s} .style=${c} data-index=${n} data-cache=${e.cache??``} data-fate=${e.decision??`kept`} title=${`${e.name}: ${o}, ${a}`}
      aria-pressed=${n===this.chosen} tabindex=${n===this.stop()?0:-1} @click=${()=>this.choose(n)}>
      <span class=${s?`tile-name`:`hidden`}>${e.name}</span>
      <span class=${s&&r.height>48?`tile-size`:`hidden`}>${o}</span> <span class="hidden">${a}</span>
    </button>`}stop(){return(this.lens.fragments[this.chosen]?.tokens??0)>0?this.chosen:this.lens.fragments.findIndex(e=>e.tokens>0)}press=e=>{let t=[...this.querySelectorAll(`.tile`)],n=t.indexOf(document.activeElement),r={ArrowRight:n+1,ArrowDown:n+1,ArrowLeft:n-1,ArrowUp:n-1,Home:0,End:t.length-1}[e.key],i=r===void 0||n<0?void 0:t[Math.max(0,Math.min(t.length-1,r))];i&&(e.preventDefault(),i.focus(),this.choose(Number(i.dataset.index)))};updated(e){let t=document.activeElement;t?.classList.contains(`tile`)&&this.contains(t)&&this.querySelector(`.tile[tabindex="0"]`)?.focus()}};customElements.define(`chitin-treemap`,A);var j=[[`map`,`Fragments`],[`files`,`Files and budget`],[`before`,`Against the turn before`]];function M(e){return e.fragments.reduce((t,n,r)=>n.tokens>(e.fragments[t]?.tokens??-1)?r:t,0)}function N(e){return e.state===`new`?`no history`:e.state===`expired`?`the session expired`:e.state===`unknown`?`it could not be read`:x(e.messages,`message`)+(e.compactionDue?`, compacted before the next turn`:``)}var P=class extends g{key=``;turn=`next`;tab=`map`;chosen=null;turns=new y(this);lens=new y(this);soon=h(()=>this.load(),400);constructor(){super(),this.watch(e),this.while(()=>i.subscribe(()=>this.choose())),this.while(()=>c.subscribe(()=>this.load())),this.while(()=>r(e=>{e.sessionKey===this.key&&e.kind===`finished`&&this.soon.call()}))}connectedCallback(){super.connectedCallback(),this.choose()}choose(){if(i.value.view!==`lens`)return;let[e,t]=[s(),i.value.rest[1]??`next`];e===this.key&&t===this.turn&&this.lens.value||(e!==this.key&&this.turns.forget(),this.lens.forget(),this.key=e,this.turn=t,this.chosen=null,this.load())}load(){let[e,t]=[this.key,this.turn];this.turns.ask(()=>n.get(o`/api/sessions/${e}/turns`)),this.lens.ask(()=>n.get(C(o`/api/sessions/${e}/lens`,{turn:t})))}render(){return l`
      ${S(`Context lens`,`What the model gets, fragment by fragment`,l`
        ${b(this.key,e=>location.hash=a(`lens`,e))}
        ${this.pickTurn()}`)}
      ${this.turns.value?.hint?l`<p class="quiet small">${this.turns.value.hint}</p>`:t}
      ${this.lens.show(e=>this.draw(e))}`}pickTurn(){let e=this.turns.value?.turns??[],t=e=>[_(e.at),e.trigger??``,e.status&&![`ok`,`success`].includes(e.status)?e.status:``,e.costUsd?p(e.costUsd):``].filter(Boolean).join(` · `)||m(e.id,12);return l`<label class="field inline"><span>Turn</span>
      <select @change=${e=>location.hash=a(`lens`,this.key,e.target.value)}>
        <option value="next" ?selected=${this.turn===`next`}>the next one</option>
        ${e.map(e=>l`<option value=${e.id} ?selected=${e.id===this.turn}>${t(e)}</option>`)}
      </select></label>`}draw(e){return l`
      ${this.totals(e)}
      ${this.broken(e)}
      <div class="tabs" role="tablist" aria-label="Ways to look at it" @keydown=${this.tabKey}>
        ${j.map(([e,t])=>l`<button role="tab" id=${`tab-${e}`} aria-controls="lens-panel" aria-selected=${e===this.tab}
          tabindex=${e===this.tab?0:-1} @click=${()=>this.show(e)}>${t}</button>`)}
      </div>
      <div id="lens-panel" role="tabpanel" aria-labelledby=${`tab-${this.tab}`}>${this.panel(e)}</div>`}panel(e){if(this.tab===`files`)return this.files(e);if(this.tab===`before`)return this.against(e);let n=this.chosen??M(e),r=e.fragments[n];return l`
      <div class="lens-grid">
        <div class="lens-map">
          <chitin-treemap .lens=${e} .chosen=${n} .choose=${this.pick}></chitin-treemap>
          ${this.list(e,n)}
        </div>
        ${r?E(r):t}
      </div>`}totals(e){let{totals:n,window:r,budget:i}=e,a=(e,t)=>l`<div class="figure"><strong>${e}</strong><span>${t}</span></div>`;return l`<div class="figures">
      ${a(`${n.complete===!1?`≥ `:``}${d(n.tokens)}`,r?`tokens, ${v(n.tokens,r)} of ${d(r)}`:`tokens, window unknown`)}
      ${n.system?a(d(n.system.tokens),`tokens of system prompt`):t}
      ${e.toolDefinitions?a(d(e.toolDefinitions.tokens),`tokens of ${x(e.toolDefinitions.count,`tool definition`)}`):t}
      ${e.history?a(e.history.tokens===null?`unknown`:d(e.history.tokens),`tokens of history (${N(e.history)})`):t}
      ${a(n.costUsd===void 0?`unknown`:p(n.costUsd),`to send it once, uncached`)}
      ${a(d(e.fragments.length),`fragments`)}
      ${i?.total?a(v(i.used??0,i.total),`of the budget for files (${d(i.total)})`):t}
    </div>`}broken(e){let n=e.before;if(!n)return t;if(n.same)return l`<p class="notice good">The same as in the turn before, as far as that went: the cache holds.</p>`;let r=n.firstDifference,i=l`<button class="link" @click=${()=>this.show(`before`)}>Show the difference</button>`;return n.lostTokens?l`<div class="notice warn" role="note"><strong>The cache breaks${r?l` in <code>${r.fragment}</code>, line ${d(r.line)} of the prompt`:t}.</strong>
      ${x(n.lostTokens,`token`)} behind it must be read again${n.lostCostUsd?l`, which costs ${p(n.lostCostUsd)}`:t}.
      ${n.cause?l` ${f(n.cause)}`:t}
      ${i}</div>`:l`<p class="notice">Other than in the turn before${r?l` from <code>${r.fragment}</code> on, line ${d(r.line)} of the prompt`:t}; nothing that was cached is lost.
        ${n.cause?f(n.cause):t} ${i}</p>`}list(e,n){let r=e.totals.tokens;return l`<table class="list"><caption class="hidden">Fragments in their order</caption>
      <thead><tr><th scope="col">Fragment</th><th scope="col">Fate</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Share</th></tr></thead>
      <tbody>${e.fragments.map((i,a)=>l`
        <tr ?data-chosen=${a===n}>
          <th scope="row"><span class="swatch" data-cache=${i.cache??``} aria-hidden="true"></span><button class="link" aria-pressed=${a===n} @click=${()=>this.pick(a)}>${i.name}</button></th>
          <td><span class="fate" data-fate=${i.decision??`kept`}>${i.decision??`kept`}</span></td>
          <td class="number">${d(i.tokens)}</td>
          <td class="number">${v(i.tokens,r)}</td>
        </tr>
        ${e.boundary?.afterFragment===a?l`<tr class="boundary"><td colspan="4">Cache boundary: what stands above is cached, what stands below is read anew</td></tr>`:t}`)}
        ${this.beside(e,r)}
      </tbody></table>`}beside(e,n){let r=(e,t,r)=>l`<tr>
      <th scope="row"><span class="swatch" aria-hidden="true"></span>${e}</th><td>${t}</td>
      <td class="number">${r===null?`unknown`:d(r)}</td>
      <td class="number">${r===null?``:v(r,n)}</td></tr>`,{toolDefinitions:i,history:a,message:o}=e;return l`
      ${i?r(`tool definitions`,x(i.count,`tool`)+(i.mcpServers?`, without those of ${x(i.mcpServers,`MCP server`)}`:``),i.tokens):t}
      ${a?r(`history`,N(a),a.tokens):t}
      ${o?r(`message`,``,o.tokens):t}`}files(e){let t=e.files??[];return t.length===0?u(`No files.`,`This turn has no files of the workspace in its context, or they were not recorded.`):l`<div class="table-scroll" role="group" tabindex="0" aria-label="Files"><table class="list wide"><thead><tr><th scope="col">File</th><th scope="col">State</th><th scope="col" class="number">On disk</th>
      <th scope="col" class="number">Sent</th><th scope="col" class="number">Limit</th><th scope="col" class="number">Tokens</th><th scope="col">Why</th></tr></thead>
      <tbody>${t.map(e=>l`<tr>
        <th scope="row"><a href=${a(`files`,this.key.split(`:`)[1]??`main`,e.path)}>${e.path}</a></th>
        <td><span class="fate" data-fate=${e.state}>${e.state}</span></td><td class="number">${d(e.rawChars)}</td><td class="number">${d(e.chars)}</td>
        <td class="number">${d(e.limit)}</td><td class="number">${d(e.tokens)}</td><td>${f(e.cause??``)}</td></tr>`)}</tbody></table></div>`}against(e){let n=e.before;return n?n.same&&!n.diff?.some(e=>e.op===`add`||e.op===`remove`)?u(`Nothing changed.`,`What was sent before is sent again, byte by byte.`):l`${w(n.diff??[],`Difference with the turn before`)}
      ${n.shortened?l`<p class="quiet small">There are more differences than are shown here.</p>`:t}`:u(`There is no turn before.`,`The first turn of a session has nothing to be compared with, or the turn before it was not recorded.`)}pick=e=>{this.chosen=e,this.requestUpdate()};show(e){this.tab=e,this.requestUpdate()}tabKey=async e=>{let t=e.key===`ArrowRight`?1:e.key===`ArrowLeft`?-1:0;if(!t)return;let n=j.findIndex(([e])=>e===this.tab);this.show(j[(n+t+j.length)%j.length]?.[0]??`map`),await this.updateComplete,this.querySelector(`#tab-${this.tab}`)?.focus()}};customElements.define(`chitin-lens`,P);