var e=class{#e=``;push(e){this.#e+=e;let t=[],n=this.#e.replace(/\r\n/g,`
`),r=n.lastIndexOf(`

`);if(r<0)return t;this.#e=n.slice(r+2);for(let e of n.slice(0,r).split(`

`)){let n={event:`message`,id:``,data:``},r=[];for(let t of e.split(`
`)){let[,e=``,i=``]=/^([^:]*):? ?(.*)$/.exec(t)??[];e===`event`&&(n.event=i),e===`id`&&(n.id=i),e===`data`&&r.push(i)}n.data=r.join(`
`),r.length>0&&t.push(n)}return t}};async function*t(t){let n=t.body?.getReader();if(!n)return;let r=new TextDecoder,i=new e;for(;;){let{done:e,value:t}=await n.read();if(e)return;yield*i.push(r.decode(t,{stream:!0}))}}export{t as n,e as t};