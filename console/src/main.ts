import './app.css';
import './tables.css';
import { mount } from 'svelte';
import { addFonts } from './lib/loading/fonts';
import { watchTexts } from './lib/text/plain';
import App from './App.svelte';

const target = document.getElementById('app');
if (target === null) throw new Error('the page has no #app');
// Before the first render. Dialogs and toasts are inside the body as well.
watchTexts(document.body);
mount(App, { target });
// After the page has sent its requests.
void addFonts();
void import('./controls.css');
