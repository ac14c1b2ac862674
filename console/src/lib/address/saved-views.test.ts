import { describe, expect, it, vi } from 'vitest';

describe('saved views', () => {
  it('are read as stored, without invalid entries', async () => {
    vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {} });
    const { read, savedViews } = await import('./saved-views.svelte');
    const good = { user: 'ada', name: 'Storms', hash: '#/timeline?timeline=storms' };
    expect(read(JSON.stringify([good, { ...good, hash: 'https://elsewhere' }, null, 5]))).toEqual([good]);
    expect([read(null), read('{'), read('{"a":1}')]).toEqual([[], [], []]);
    savedViews.save(good);
    savedViews.save({ ...good, hash: '#/timeline?timeline=other' });
    savedViews.save({ ...good, user: 'bob' });
    expect(savedViews.of('ada').map(({ hash }) => hash)).toEqual(['#/timeline?timeline=other']);
    savedViews.remove(good);
    expect([savedViews.of('ada').length, savedViews.of('bob').length, savedViews.of(null).length]).toEqual([0, 1, 0]);
  });
});
