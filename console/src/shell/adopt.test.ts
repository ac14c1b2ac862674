import { describe, expect, it } from 'vitest';
import type { BundleSummary } from '../lib/timeline-bundle';
import { fileIssue, keyIssue, mapText, noteOf } from './adopt';

const summary: BundleSummary = {
  timeline: 'billing',
  origin: 'time.example/billing',
  createdAt: '2026-11-20T09:00:00Z',
  entries: 2,
  layers: [],
  isHandedOver: true,
  people: [],
};
const KEY = 'time.example/billing+c3476d15+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4';

describe('a bundle', () => {
  it('is refused before it is sent where the service would refuse it', () => {
    expect(fileIssue(1_000, 1_000, summary, false)).toBeNull();
    expect(fileIssue(1_001, 1_000, summary, false)).toContain('at most 1 kB');
    expect(fileIssue(1_001, null, summary, false)).toBeNull();
    // A fork comes with the history that it goes on from.
    expect(fileIssue(1, 1_000, { ...summary, layers: ['main'] }, false)).toBeNull();
    expect(fileIssue(1, 1_000, summary, true)).toContain('There is already a timeline billing here');
  });
});

describe('a public key', () => {
  it('has the form of one, and is of the ledger of the file', () => {
    expect(keyIssue(KEY, null)).toBeNull();
    expect(keyIssue(KEY, summary.origin)).toBeNull();
    for (const text of ['', 'AQOhB7', 'time.example/billing+c3476d15', `${KEY} more`, `a b+c3476d15+AQ`])
      expect(keyIssue(text, null), text).toContain('This is not a public key');
    expect(keyIssue(KEY, 'time.example/main')).toContain('a key of the timeline billing');
    expect(keyIssue(KEY, 'other.example/billing')).toContain('the file says it belongs to other.example/billing');
  });
});

describe('who is who', () => {
  it('leaves out who is nobody', () => {
    expect(mapText({})).toBe('');
    expect(mapText({ ada: ' robert ', bob: '  ', eve: 'eve' })).toBe('ada=robert,eve=eve');
  });
});

describe('the proof of a changed key', () => {
  it('gives its checkpoint, in base64 for addresses', () => {
    const note = 'time.example/billing\n2\nzcif>>>???\n\n— time.example/billing w0dtFSlr\n';
    const sent = noteOf(`c2sp.org/tlog-proof@v1\nextra e30=\nindex 1\n\n${note}`);
    expect(sent).toMatch(/^[\w-]+$/);
    expect(Buffer.from(sent!, 'base64url').toString('utf8')).toBe(note);
    expect(noteOf(note)).toBeNull();
    expect(noteOf('c2sp.org/tlog-proof@v1\nindex 1')).toBeNull();
  });
});
