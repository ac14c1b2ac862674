/** Resolved theme colors for canvas drawing: a canvas cannot resolve custom properties with `light-dark()`. */
const TOKENS = [
  'ground',
  'surface',
  'raised',
  'sunken',
  'ink',
  'muted',
  'faint',
  'line',
  'line-strong',
  'land',
  'coast',
  'accent',
  'accent-wash',
  'now',
  'now-wash',
  'warn',
  'bad',
  'good',
  'hue-1',
  'hue-2',
  'hue-3',
  'hue-4',
  'hue-5',
  'hue-6',
  'hue-7',
  'hue-8',
] as const;
export type Palette = Record<(typeof TOKENS)[number], string> & { sans: string };

export function readPalette(host: HTMLElement): Palette {
  const probe = document.createElement('span');
  probe.hidden = true;
  // In forced-colors mode, every color would otherwise resolve to the text color.
  probe.style.setProperty('forced-color-adjust', 'none');
  host.append(probe);
  const found: Record<string, string> = {};
  for (const token of TOKENS) {
    probe.style.setProperty('color', `var(--${token})`);
    found[token] = getComputedStyle(probe).color;
  }
  probe.remove();
  return { ...found, sans: getComputedStyle(host).fontFamily } as Palette;
}

/** Returns the color of a group. The largest groups have their own, the others share one. */
export function hue(palette: Palette, index: number, groups: number): string {
  return index < groups ? palette[`hue-${index + 1}` as 'hue-1'] : palette.faint;
}

/**
 * Returns the color of events without a known group: gray if groups are colored, since the accent color would suggest
 * the first group.
 */
export function ungrouped(palette: Palette, isColored: boolean): string {
  return isColored ? palette.faint : palette.accent;
}

/** Calls `changed` when the theme changes or a font loads. Returns a function that unsubscribes. */
export function onTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'data-ramp'] });
  const system = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query));
  for (const query of system) query.addEventListener('change', changed);
  document.fonts.addEventListener('loadingdone', changed);
  return () => {
    observer.disconnect();
    for (const query of system) query.removeEventListener('change', changed);
    document.fonts.removeEventListener('loadingdone', changed);
  };
}

/** Passes the colors of an element to `set`, now and when they change. Returns a function that unsubscribes. */
export function watchPalette(host: HTMLElement, set: (palette: Palette) => void): () => void {
  const read = (): void => set(readPalette(host));
  read();
  return onTheme(read);
}
