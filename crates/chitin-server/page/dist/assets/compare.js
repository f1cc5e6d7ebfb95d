
import{H as e,o as t}from"./app.js";var n={same:` `,add:`+`,remove:`−`,skip:``},r={add:`Added: `,remove:`Removed: `};function i(i,a){return e`<div class="diff" role="group" tabindex="0" aria-label=${a}>
    ${i.map(i=>i.op===`skip`?e`<div class="diff-skip">${t(i.lines??0,`line`)} the same</div>`:e`<div class="diff-line" data-op=${i.op}><span class="diff-sign" aria-hidden="true">${n[i.op]}</span><span class="diff-text">${i.op===`same`?``:e`<span class="hidden">${r[i.op]}</span>`}${i.text||` `}</span></div>`)}
  </div>`}export{i as t};