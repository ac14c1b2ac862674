var e=class{#e=``;lastId=``;push(e){this.#e+=e;let t=[],n=this.#e.replace(/\r\n/g,`
`),r=n.lastIndexOf(`

`);if(r<0)return t;this.#e=n.slice(r+2);for(let e of n.slice(0,r).split(`

`)){let n={event:`message`,id:``,data:``},r=[];for(let t of e.split(`
`)){let[,e=``,i=``]=/^([^:]*):? ?(.*)$/.exec(t)??[];e===`event`&&(n.event=i),e===`id`&&(n.id=i),e===`data`&&r.push(i)}n.id!==``&&(this.lastId=n.id),n.data=r.join(`
`),r.length>0&&t.push(n)}return t}};async function*t(t,n=new e){let r=t.body?.getReader();if(!r)return;let i=new TextDecoder;for(;;){let{done:e,value:t}=await r.read();if(e)return;yield*n.push(i.decode(t,{stream:!0}))}}export{t as n,e as t};