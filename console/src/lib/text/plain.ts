/**
 * Makes invisible and bidirectional control characters in user data visible as code points: "user \u202Egnp.exe" must
 * not appear as "user exe.png".
 */

/** Control characters except tab and line breaks, zero-width and bidirectional characters. Emoji need the joiners. */
const HIDDEN_CLASS =
  '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb';
const HIDDEN = new RegExp(`[${HIDDEN_CLASS}]`, 'g');
const HAS_HIDDEN = new RegExp(`[${HIDDEN_CLASS}]`);

/** Returns a text with hidden characters replaced by their code points. */
export function plain(text: string): string {
  if (!HAS_HIDDEN.test(text)) return text;
  return text.replace(HIDDEN, (found) => `⟨U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** Attributes with user-visible text. */
const ATTRIBUTES = ['title', 'aria-label', 'placeholder', 'alt'];

/**
 * Cleans all text below an element, now and after changes, so that views do not have to. Form fields keep their values.
 * Canvas text is cleaned where it is read.
 */
export function watchTexts(root: Node): void {
  const options: MutationObserverInit = {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: ATTRIBUTES,
  };
  // Observers run after the change and before the next paint.
  new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === 'childList') for (const node of change.addedNodes) clean(node);
      else if (change.type === 'attributes') cleanAttributes(change.target as Element);
      else cleanText(change.target);
    }
  }).observe(root, options);
}

function clean(node: Node): void {
  cleanText(node);
  if (!(node instanceof Element)) return;
  cleanAttributes(node);
  for (const child of node.childNodes) clean(child);
}

function cleanText(node: Node): void {
  if (node.nodeType !== Node.TEXT_NODE || node.parentElement instanceof HTMLTextAreaElement) return;
  const text = node.nodeValue ?? '';
  const visible = plain(text);
  if (visible !== text) node.nodeValue = visible;
}

function cleanAttributes(element: Element): void {
  for (const name of ATTRIBUTES) {
    const text = element.getAttribute(name);
    if (text !== null && plain(text) !== text) element.setAttribute(name, plain(text));
  }
}
