import{B as e,D as t,L as n,N as r,R as i,S as a,T as o,_ as s,a as c,c as l,d as u,g as d,h as f,i as p,k as m,l as h,m as g,n as _,o as v,p as y,w as b,x,y as S,z as C}from"./app.js";import{t as w}from"./compare.js";var T={ours:`written by the runtime`,value:`filled in`,file:`from a file`,"cut-marker":`says that something was cut`};function E(t){let n=[...new Set((t.pieces??[]).map(e=>e.kind))];return e`<section class="fragment" aria-label="Fragment">
    <h2>${t.name}</h2>
    <dl class="facts">
      ${D(`Origin`,t.origin)}${D(`Role`,t.role)}${D(`Cache`,t.cache)}
      ${D(`Sent`,`${v(t.chars,`character`)}, ${v(t.tokens,`token`)}`)}
      ${t.rawChars!==void 0&&t.rawChars!==t.chars?D(`On disk`,v(t.rawChars,`character`)):C}
      ${D(`Fate`,t.decision)}${t.cause?D(`Why`,S(t.cause)):C}
    </dl>
    ${n.length>1?e`<p class="legend small quiet">${n.map(t=>e`<span class="piece" data-kind=${t}>${T[t]??t}</span> `)}</p>`:C}
    <div class="fragment-text" tabindex="0" role="group" aria-label="Text that is sent">${(t.pieces??[]).map(O)}${t.pieces?.length?C:e`<span class="quiet">The text is not recorded.</span>`}</div>
    ${(t.cutText??[]).map(t=>e`<div class="cut"><p class="label">Cut: lines ${c(t.fromLine)} to ${c(t.toLine)}${t.why?e`; ${S(t.why)}`:C}${t.shortened?` (the beginning of it)`:``}</p><pre role="group" tabindex="0" aria-label="Text that was cut">${t.text}</pre></div>`)}
  </section>`}function D(t,n){return n?e`<div><dt>${t}</dt><dd>${n}</dd></div>`:C}function O(t){return e`<span class="piece" data-kind=${t.kind}>${t.text}</span>`}function k(e,t){let n=e.map(()=>({x:t.x,y:t.y,width:0,height:0})),r=e.map((e,t)=>({weight:e,index:t})).filter(e=>e.weight>0).sort((e,t)=>t.weight-e.weight||e.index-t.index),i=r.reduce((e,t)=>e+t.weight,0);if(i===0||t.width<=0||t.height<=0)return n;let a=t.width*t.height/i,o={...t},s=[],c=0,l=(e,t,n,r)=>Math.max(r*r*n/(e*e),e*e/(r*r*t)),u=()=>{let e=o.width>=o.height,t=c/(e?o.height:o.width),r=0;for(let i of s){let a=i.size/t;n[i.index]=e?{x:o.x,y:o.y+r,width:t,height:a}:{x:o.x+r,y:o.y,width:a,height:t},r+=a}e?(o.x+=t,o.width=Math.max(0,o.width-t)):(o.y+=t,o.height=Math.max(0,o.height-t)),s=[],c=0};for(let{weight:e,index:t}of r){let n=e*a,r=Math.min(o.width,o.height),i=s[0],d=s.at(-1);if(i&&d){let e=l(c,d.size,i.size,r);l(c+n,n,i.size,r)>e&&u()}s.push({size:n,index:t}),c+=n}return u(),n}var A=class extends g{static properties={lens:{},chosen:{}};choose=()=>{};width=640;height=360;constructor(){super(),this.while(()=>{let e=new ResizeObserver(()=>{Math.floor(this.clientWidth)!==this.width&&this.requestUpdate()});return e.observe(this),()=>e.disconnect()})}willUpdate(){this.width=Math.floor(this.clientWidth)||this.width,this.height=Math.round(Math.max(240,Math.min(420,this.width*.56)))}render(){let t=k(this.lens.fragments.map(e=>Math.max(e.tokens,0)),{x:0,y:0,width:this.width,height:this.height}),n=this.lens.totals.tokens;return e`<div class="treemap" role="group" aria-label="Fragments by size" .style=${`height:${this.height}px`} @keydown=${this.press}>
        ${this.lens.fragments.map((e,r)=>this.tile(e,r,t[r],n))}
      </div>
      <p class="legend small quiet" aria-hidden="true">${[...new Set(this.lens.fragments.map(e=>e.cache).filter(Boolean))].map(t=>e`<span><span class="swatch" data-cache=${t}></span>${t}</span>`)}</p>`}tile(t,n,r,i){if(!r||r.width<1||r.height<1)return C;let a=`${h(t.tokens,i)}, ${t.decision??`kept`}`,o=v(t.tokens,`token`),s=r.width>40&&r.height>26,c=`left:${r.x}px;top:${r.y}px;width:${Math.max(1,r.width-2)}px;height:${Math.max(1,r.height-2)}px`;return e`<button class="tile" ?data-small=${!s} .style=${c} data-index=${n} data-cache=${t.cache??``} data-fate=${t.decision??`kept`} title=${`${t.name}: ${o}, ${a}`}
      aria-pressed=${n===this.chosen} tabindex=${n===this.stop()?0:-1} @click=${()=>this.choose(n)}>
      <span class=${s?`tile-name`:`hidden`}>${t.name}</span>
      <span class=${s&&r.height>48?`tile-size`:`hidden`}>${o}</span> <span class="hidden">${a}</span>
    </button>`}stop(){return(this.lens.fragments[this.chosen]?.tokens??0)>0?this.chosen:this.lens.fragments.findIndex(e=>e.tokens>0)}press=e=>{let t=[...this.querySelectorAll(`.tile`)],n=t.indexOf(document.activeElement),r={ArrowRight:n+1,ArrowDown:n+1,ArrowLeft:n-1,ArrowUp:n-1,Home:0,End:t.length-1}[e.key],i=r===void 0||n<0?void 0:t[Math.max(0,Math.min(t.length-1,r))];i&&(e.preventDefault(),i.focus(),this.choose(Number(i.dataset.index)))};updated(e){let t=document.activeElement;t?.classList.contains(`tile`)&&this.contains(t)&&this.querySelector(`.tile[tabindex="0"]`)?.focus()}};customElements.define(`chitin-treemap`,A);var j=[[`map`,`Fragments`],[`files`,`Files and budget`],[`before`,`Against the turn before`]];function M(e){return e.fragments.reduce((t,n,r)=>n.tokens>(e.fragments[t]?.tokens??-1)?r:t,0)}var N=class extends g{key=``;turn=`next`;tab=`map`;chosen=null;turns=new y(this);lens=new y(this);soon=f(()=>this.load(),400);constructor(){super(),this.watch(m),this.while(()=>t.subscribe(()=>this.choose())),this.while(()=>b.subscribe(()=>this.load())),this.while(()=>o(e=>{e.sessionKey===this.key&&e.kind===`finished`&&this.soon.call()}))}connectedCallback(){super.connectedCallback(),this.choose()}choose(){if(t.value.view!==`lens`)return;let[e,n]=[x(),t.value.rest[1]??`next`];e===this.key&&n===this.turn&&this.lens.value||(e!==this.key&&this.turns.forget(),this.lens.forget(),this.key=e,this.turn=n,this.chosen=null,this.load())}load(){let[e,t]=[this.key,this.turn];this.turns.ask(()=>a.get(n`/api/sessions/${e}/turns`)),this.lens.ask(()=>a.get(i(n`/api/sessions/${e}/lens`,{turn:t})))}render(){return e`
      ${s(`Context lens`,`What the model gets, fragment by fragment`,e`
        ${_(this.key,e=>location.hash=r(`lens`,e))}
        ${this.pickTurn()}`)}
      ${this.turns.value?.hint?e`<p class="quiet small">${this.turns.value.hint}</p>`:C}
      ${this.lens.show(e=>this.draw(e))}`}pickTurn(){let t=this.turns.value?.turns??[],n=e=>[p(e.at),e.trigger??``,e.status&&![`ok`,`success`].includes(e.status)?e.status:``,e.costUsd?l(e.costUsd):``].filter(Boolean).join(` · `)||u(e.id,12);return e`<label class="field inline"><span>Turn</span>
      <select @change=${e=>location.hash=r(`lens`,this.key,e.target.value)}>
        <option value="next" ?selected=${this.turn===`next`}>the next one</option>
        ${t.map(t=>e`<option value=${t.id} ?selected=${t.id===this.turn}>${n(t)}</option>`)}
      </select></label>`}draw(t){return e`
      ${this.totals(t)}
      ${this.broken(t)}
      <div class="tabs" role="tablist" aria-label="Ways to look at it" @keydown=${this.tabKey}>
        ${j.map(([t,n])=>e`<button role="tab" id=${`tab-${t}`} aria-controls="lens-panel" aria-selected=${t===this.tab}
          tabindex=${t===this.tab?0:-1} @click=${()=>this.show(t)}>${n}</button>`)}
      </div>
      <div id="lens-panel" role="tabpanel" aria-labelledby=${`tab-${this.tab}`}>${this.panel(t)}</div>`}panel(t){if(this.tab===`files`)return this.files(t);if(this.tab===`before`)return this.against(t);let n=this.chosen??M(t),r=t.fragments[n];return e`
      <div class="lens-grid">
        <div class="lens-map">
          <chitin-treemap .lens=${t} .chosen=${n} .choose=${this.pick}></chitin-treemap>
          ${this.list(t,n)}
        </div>
        ${r?E(r):C}
      </div>`}totals(t){let{totals:n,window:r,budget:i}=t,a=(t,n)=>e`<div class="figure"><strong>${t}</strong><span>${n}</span></div>`;return e`<div class="figures">
      ${a(c(n.tokens),r?`tokens, ${h(n.tokens,r)} of ${c(r)}`:`tokens`)}
      ${a(c(n.chars),`characters`)}
      ${n.costUsd===void 0?C:a(l(n.costUsd),`to send it once`)}
      ${a(c(t.fragments.length),`fragments`)}
      ${i?.total?a(h(i.used??0,i.total),`of the budget for files (${c(i.total)})`):C}
    </div>`}broken(t){let n=t.before;if(!n)return C;if(n.same)return e`<p class="notice good">The same as in the turn before, as far as that went: the cache holds.</p>`;let r=n.firstDifference;return e`<div class="notice warn" role="note"><strong>The cache breaks${r?e` in <code>${r.fragment}</code>, line ${c(r.line)}`:C}.</strong>
      ${n.lostTokens?e` ${v(n.lostTokens,`token`)} behind it must be read again${n.lostCostUsd?e`, which costs ${l(n.lostCostUsd)}`:C}.`:C}
      ${n.cause?e` ${S(n.cause)}`:C}
      <button class="link" @click=${()=>this.show(`before`)}>Show the difference</button></div>`}list(t,n){let r=t.totals.tokens;return e`<table class="list"><caption class="hidden">Fragments in their order</caption>
      <thead><tr><th scope="col">Fragment</th><th scope="col">Fate</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Share</th></tr></thead>
      <tbody>${t.fragments.map((i,a)=>e`
        <tr ?data-chosen=${a===n}>
          <th scope="row"><span class="swatch" data-cache=${i.cache??``} aria-hidden="true"></span><button class="link" aria-pressed=${a===n} @click=${()=>this.pick(a)}>${i.name}</button></th>
          <td><span class="fate" data-fate=${i.decision??`kept`}>${i.decision??`kept`}</span></td>
          <td class="number">${c(i.tokens)}</td>
          <td class="number">${h(i.tokens,r)}</td>
        </tr>
        ${t.boundary?.afterFragment===a?e`<tr class="boundary"><td colspan="4">Cache boundary: what stands above is cached, what stands below is read anew</td></tr>`:C}`)}
      </tbody></table>`}files(t){let n=t.files??[];return n.length===0?d(`No files.`,`This turn has no files of the workspace in its context, or they were not recorded.`):e`<div class="table-scroll" role="group" tabindex="0" aria-label="Files"><table class="list wide"><thead><tr><th scope="col">File</th><th scope="col">State</th><th scope="col" class="number">On disk</th>
      <th scope="col" class="number">Sent</th><th scope="col" class="number">Limit</th><th scope="col" class="number">Tokens</th><th scope="col">Why</th></tr></thead>
      <tbody>${n.map(t=>e`<tr>
        <th scope="row"><a href=${r(`files`,this.key.split(`:`)[1]??`main`,t.path)}>${t.path}</a></th>
        <td><span class="fate" data-fate=${t.state}>${t.state}</span></td><td class="number">${c(t.rawChars)}</td><td class="number">${c(t.chars)}</td>
        <td class="number">${c(t.limit)}</td><td class="number">${c(t.tokens)}</td><td>${S(t.cause??``)}</td></tr>`)}</tbody></table></div>`}against(t){let n=t.before;return n?n.same&&!n.diff?.some(e=>e.op===`add`||e.op===`remove`)?d(`Nothing changed.`,`What was sent before is sent again, byte by byte.`):e`${w(n.diff??[],`Difference with the turn before`)}
      ${n.shortened?e`<p class="quiet small">There are more differences than are shown here.</p>`:C}`:d(`There is no turn before.`,`The first turn of a session has nothing to be compared with, or the turn before it was not recorded.`)}pick=e=>{this.chosen=e,this.requestUpdate()};show(e){this.tab=e,this.requestUpdate()}tabKey=async e=>{let t=e.key===`ArrowRight`?1:e.key===`ArrowLeft`?-1:0;if(!t)return;let n=j.findIndex(([e])=>e===this.tab);this.show(j[(n+t+j.length)%j.length]?.[0]??`map`),await this.updateComplete,this.querySelector(`#tab-${this.tab}`)?.focus()}};customElements.define(`chitin-lens`,N);