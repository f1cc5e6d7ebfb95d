import{C as e,E as t,I as n,L as r,M as i,O as a,R as o,_ as s,a as c,b as l,c as u,d,g as f,h as p,i as m,l as h,m as g,n as _,o as v,p as y,w as b,x,z as S}from"./app.js";import{t as C}from"./compare.js";var w={ours:`written by the runtime`,value:`filled in`,file:`from a file`,"cut-marker":`says that something was cut`};function T(e){let t=[...new Set((e.pieces??[]).map(e=>e.kind))];return S`<section class="fragment" aria-label="Fragment">
    <h2>${e.name}</h2>
    <dl class="facts">
      ${E(`Origin`,e.origin)}${E(`Role`,e.role)}${E(`Cache`,e.cache)}
      ${E(`Sent`,`${v(e.chars,`character`)}, ${v(e.tokens,`token`)}`)}
      ${e.rawChars!==void 0&&e.rawChars!==e.chars?E(`On disk`,v(e.rawChars,`character`)):o}
      ${E(`Decision`,e.decision)}${E(`Why`,e.cause)}
    </dl>
    ${t.length>1?S`<p class="legend small quiet">${t.map(e=>S`<span class="piece" data-kind=${e}>${w[e]??e}</span> `)}</p>`:o}
    <div class="fragment-text" tabindex="0" role="group" aria-label="Text that is sent">${(e.pieces??[]).map(D)}${e.pieces?.length?o:S`<span class="quiet">The text is not recorded.</span>`}</div>
    ${(e.cutText??[]).map(e=>S`<div class="cut"><p class="label">Cut: lines ${c(e.fromLine)} to ${c(e.toLine)}</p><pre tabindex="0" aria-label="Text that was cut">${e.text}</pre></div>`)}
  </section>`}function E(e,t){return t?S`<div><dt>${e}</dt><dd>${t}</dd></div>`:o}function D(e){return S`<span class="piece" data-kind=${e.kind}>${e.text}</span>`}function O(e,t){let n=e.map(()=>({x:t.x,y:t.y,width:0,height:0})),r=e.map((e,t)=>({weight:e,index:t})).filter(e=>e.weight>0).sort((e,t)=>t.weight-e.weight||e.index-t.index),i=r.reduce((e,t)=>e+t.weight,0);if(i===0||t.width<=0||t.height<=0)return n;let a=t.width*t.height/i,o={...t},s=[],c=0,l=(e,t,n,r)=>Math.max(r*r*n/(e*e),e*e/(r*r*t)),u=()=>{let e=o.width>=o.height,t=c/(e?o.height:o.width),r=0;for(let i of s){let a=i.size/t;n[i.index]=e?{x:o.x,y:o.y+r,width:t,height:a}:{x:o.x+r,y:o.y,width:a,height:t},r+=a}e?(o.x+=t,o.width=Math.max(0,o.width-t)):(o.y+=t,o.height=Math.max(0,o.height-t)),s=[],c=0};for(let{weight:e,index:t}of r){let n=e*a,r=Math.min(o.width,o.height),i=s[0],d=s.at(-1);if(i&&d){let e=l(c,d.size,i.size,r);l(c+n,n,i.size,r)>e&&u()}s.push({size:n,index:t}),c+=n}return u(),n}var k=class extends g{static properties={lens:{},chosen:{}};choose=()=>{};width=640;height=360;constructor(){super(),this.while(()=>{let e=new ResizeObserver(()=>{let e=Math.floor(this.clientWidth);e!==0&&e!==this.width&&(this.width=e,this.height=Math.round(Math.max(240,Math.min(420,e*.56))),this.requestUpdate())});return e.observe(this),()=>e.disconnect()})}render(){let e=O(this.lens.fragments.map(e=>Math.max(e.tokens,0)),{x:0,y:0,width:this.width,height:this.height}),t=this.lens.totals.tokens;return S`<div class="treemap" role="group" aria-label="Fragments by size" .style=${`height:${this.height}px`} @keydown=${this.press}>
        ${this.lens.fragments.map((n,r)=>this.tile(n,r,e[r],t))}
      </div>
      <p class="legend small quiet" aria-hidden="true">${[...new Set(this.lens.fragments.map(e=>e.cache).filter(Boolean))].map(e=>S`<span><span class="swatch" data-cache=${e}></span>${e}</span>`)}</p>`}tile(e,t,n,r){if(!n||n.width<1||n.height<1)return o;let i=`${e.name}; ${v(e.tokens,`token`)}, ${h(e.tokens,r)}; ${e.decision??`kept`}`,a=n.width>64&&n.height>30,s=`left:${n.x}px;top:${n.y}px;width:${Math.max(1,n.width-2)}px;height:${Math.max(1,n.height-2)}px`;return S`<button class="tile" .style=${s} data-index=${t} data-cache=${e.cache??``} data-fate=${e.decision??`kept`} aria-label=${i} title=${i}
      aria-pressed=${t===this.chosen} tabindex=${t===this.stop()?0:-1} @click=${()=>this.choose(t)}>
      ${a?S`<span class="tile-name">${e.name}</span>${n.height>48?S`<span class="tile-size">${v(e.tokens,`token`)}</span>`:o}`:o}
    </button>`}stop(){return(this.lens.fragments[this.chosen]?.tokens??0)>0?this.chosen:this.lens.fragments.findIndex(e=>e.tokens>0)}press=e=>{let t=[...this.querySelectorAll(`.tile`)],n=t.indexOf(document.activeElement),r={ArrowRight:n+1,ArrowDown:n+1,ArrowLeft:n-1,ArrowUp:n-1,Home:0,End:t.length-1}[e.key],i=r===void 0||n<0?void 0:t[Math.max(0,Math.min(t.length-1,r))];i&&(e.preventDefault(),i.focus(),this.choose(Number(i.dataset.index)))};updated(e){let t=document.activeElement;t?.classList.contains(`tile`)&&this.contains(t)&&this.querySelector(`.tile[tabindex="0"]`)?.focus()}};customElements.define(`chitin-treemap`,k);var A=[[`map`,`Fragments`],[`files`,`Files and budget`],[`before`,`Against the turn before`]],j=class extends g{key=``;turn=`next`;tab=`map`;chosen=0;turns=new y(this);lens=new y(this);soon=p(()=>this.load(),400);constructor(){super(),this.watch(a),this.while(()=>t.subscribe(()=>this.choose())),this.while(()=>e.subscribe(()=>this.load())),this.while(()=>b(e=>{e.sessionKey===this.key&&e.kind===`finished`&&this.soon.call()}))}connectedCallback(){super.connectedCallback(),this.choose()}choose(){if(t.value.view!==`lens`)return;let[e,n]=[l(),t.value.rest[1]??`next`];e===this.key&&n===this.turn&&this.lens.value||(e!==this.key&&this.turns.forget(),this.lens.forget(),this.key=e,this.turn=n,this.chosen=0,this.load())}load(){let[e,t]=[this.key,this.turn];this.turns.ask(()=>x.get(n`/api/sessions/${e}/turns`)),this.lens.ask(()=>x.get(r(n`/api/sessions/${e}/lens`,{turn:t})))}render(){return S`
      ${s(`Context lens`,`What the model gets, fragment by fragment`,S`
        ${_(this.key,e=>location.hash=i(`lens`,e))}
        ${this.pickTurn()}`)}
      ${this.turns.value?.hint?S`<p class="quiet small">${this.turns.value.hint}</p>`:o}
      ${this.lens.show(e=>this.draw(e))}`}pickTurn(){let e=this.turns.value?.turns??[],t=e=>[m(e.at),e.trigger??``,e.status&&e.status!==`ok`?e.status:``,e.costUsd?u(e.costUsd):``].filter(Boolean).join(` · `)||d(e.id,12);return S`<label class="field inline"><span>Turn</span>
      <select @change=${e=>location.hash=i(`lens`,this.key,e.target.value)}>
        <option value="next" ?selected=${this.turn===`next`}>the next one</option>
        ${e.map(e=>S`<option value=${e.id} ?selected=${e.id===this.turn}>${t(e)}</option>`)}
      </select></label>`}draw(e){return S`
      ${this.totals(e)}
      ${this.broken(e)}
      <div class="tabs" role="tablist" aria-label="Ways to look at it" @keydown=${this.tabKey}>
        ${A.map(([e,t])=>S`<button role="tab" id=${`tab-${e}`} aria-controls="lens-panel" aria-selected=${e===this.tab}
          tabindex=${e===this.tab?0:-1} @click=${()=>this.show(e)}>${t}</button>`)}
      </div>
      <div id="lens-panel" role="tabpanel" aria-labelledby=${`tab-${this.tab}`}>${this.panel(e)}</div>`}panel(e){if(this.tab===`files`)return this.files(e);if(this.tab===`before`)return this.against(e);let t=e.fragments[this.chosen];return S`
      <div class="lens-grid">
        <div class="lens-map">
          <chitin-treemap .lens=${e} .chosen=${this.chosen} .choose=${this.pick}></chitin-treemap>
          ${this.list(e)}
        </div>
        ${t?T(t):o}
      </div>`}totals(e){let{totals:t,window:n,budget:r}=e,i=(e,t)=>S`<div class="figure"><strong>${e}</strong><span>${t}</span></div>`;return S`<div class="figures">
      ${i(c(t.tokens),n?`tokens, ${h(t.tokens,n)} of ${c(n)}`:`tokens`)}
      ${i(c(t.chars),`characters`)}
      ${t.costUsd===void 0?o:i(u(t.costUsd),`to send it once`)}
      ${i(c(e.fragments.length),`fragments`)}
      ${r?.total?i(h(r.used??0,r.total),`of the budget for files (${c(r.total)})`):o}
    </div>`}broken(e){let t=e.before;if(!t)return o;if(t.same)return S`<p class="notice good">The same as in the turn before, as far as that went: the cache holds.</p>`;let n=t.firstDifference;return S`<div class="notice warn" role="note"><strong>The cache breaks${n?S` in <code>${n.fragment}</code>, line ${c(n.line)}`:o}.</strong>
      ${t.lostTokens?S` ${v(t.lostTokens,`token`)} behind it must be read again${t.lostCostUsd?S`, which costs ${u(t.lostCostUsd)}`:o}.`:o}
      ${t.cause?S` ${t.cause}`:o}
      <button class="link" @click=${()=>this.show(`before`)}>Show the difference</button></div>`}list(e){let t=e.totals.tokens;return S`<table class="list"><caption class="hidden">Fragments in their order</caption>
      <thead><tr><th scope="col">Fragment</th><th scope="col">Kept</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Share</th></tr></thead>
      <tbody>${e.fragments.map((n,r)=>S`
        <tr ?data-chosen=${r===this.chosen}>
          <th scope="row"><span class="swatch" data-cache=${n.cache??``} aria-hidden="true"></span><button class="link" aria-pressed=${r===this.chosen} @click=${()=>this.pick(r)}>${n.name}</button></th>
          <td><span class="fate" data-fate=${n.decision??`kept`}>${n.decision??`kept`}</span></td>
          <td class="number">${c(n.tokens)}</td>
          <td class="number">${h(n.tokens,t)}</td>
        </tr>
        ${e.boundary?.afterFragment===r?S`<tr class="boundary"><td colspan="4">Cache boundary: what stands above is cached, what stands below is read anew</td></tr>`:o}`)}
      </tbody></table>`}files(e){let t=e.files??[];return t.length===0?f(`No files.`,`This turn has no files of the workspace in its context, or they were not recorded.`):S`<div class="table-scroll" role="group" tabindex="0" aria-label="Files"><table class="list wide"><thead><tr><th scope="col">File</th><th scope="col">State</th><th scope="col" class="number">On disk</th>
      <th scope="col" class="number">Sent</th><th scope="col" class="number">Limit</th><th scope="col" class="number">Tokens</th><th scope="col">Why</th></tr></thead>
      <tbody>${t.map(e=>S`<tr>
        <th scope="row"><a href=${i(`files`,this.key.split(`:`)[1]??`main`,e.path)}>${e.path}</a></th>
        <td><span class="fate" data-fate=${e.state}>${e.state}</span></td><td class="number">${c(e.rawChars)}</td><td class="number">${c(e.chars)}</td>
        <td class="number">${c(e.limit)}</td><td class="number">${c(e.tokens)}</td><td>${e.cause??``}</td></tr>`)}</tbody></table></div>`}against(e){let t=e.before;return t?t.same&&!t.diff?.some(e=>e.op===`add`||e.op===`remove`)?f(`Nothing changed.`,`What was sent before is sent again, byte by byte.`):C(t.diff??[],`Difference with the turn before`):f(`There is no turn before.`,`The first turn of a session has nothing to be compared with, or the turn before it was not recorded.`)}pick=e=>{this.chosen=e,this.requestUpdate()};show(e){this.tab=e,this.requestUpdate()}tabKey=async e=>{let t=e.key===`ArrowRight`?1:e.key===`ArrowLeft`?-1:0;if(!t)return;let n=A.findIndex(([e])=>e===this.tab);this.show(A[(n+t+A.length)%A.length]?.[0]??`map`),await this.updateComplete,this.querySelector(`#tab-${this.tab}`)?.focus()}};customElements.define(`chitin-lens`,j);