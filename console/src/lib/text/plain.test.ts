import { describe, expect, it } from 'vitest';
import { plain } from './plain';

describe('plain()', () => {
  it('makes hidden characters visible', () => {
    for (const [text, expected] of [
      ['user \u202Egnp.exe', 'user ⟨U+202E⟩gnp.exe'],
      ['a\u2066b\u2069c', 'a⟨U+2066⟩b⟨U+2069⟩c'],
      ['zero\u200Bwidth\uFEFF', 'zero⟨U+200B⟩width⟨U+FEFF⟩'],
      ['bell\u0007 esc\u001b', 'bell⟨U+0007⟩ esc⟨U+001B⟩'],
      ['two\nlines\tand a tab', 'two\nlines\tand a tab'],
      ['مرحبا שלום 日本 é 👩‍🚀', 'مرحبا שלום 日本 é 👩‍🚀'],
    ] as const)
      expect(plain(text)).toBe(expected);
  });
});
