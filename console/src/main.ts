import './app.css';
import './tables.css';
import { mount } from 'svelte';
import { addFonts } from './lib/loading/fonts';
import { watchTexts } from './lib/text/plain';
import App from './App.svelte';

const target = document.getElementById('app');
if (target === null) throw new Error('the page has no #app');
// Before anything is shown. Dialogs and messages are below the body as well.
watchTexts(document.body);
mount(App, { target });
// Once the page has asked for what it shows.
void addFonts();
void import('./boxes.css');
