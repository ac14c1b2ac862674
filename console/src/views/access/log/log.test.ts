import { describe, expect, it } from 'vitest';
import { format, parse, type Micros } from '../../../lib/time/instant';
import {
  actionText,
  csv,
  gapText,
  kindOf,
  readText,
  rowsOf,
  sharedEntries,
  withNewer,
  type LogEntry,
  type LogGap,
} from './log';

const START = parse('2026-01-01T00:00:00Z')!;

const entry = (position: number, at: Micros, more: Partial<LogEntry> = {}): LogEntry => ({
  user_id: 'alice',
  action: 'travel',
  timestamp: format(at),
  subject: 'clock',
  clock_time: format(at),
  position,
  ...more,
});

describe('the log', () => {
  it('adds newer entries once', () => {
    const there = [entry(5, START), entry(4, START)];
    expect(withNewer(there, [entry(4, START), entry(6, START), entry(7, START)]).map((item) => item.position)).toEqual([
      7, 6, 5, 4,
    ]);
    expect(withNewer([], [entry(0, START)]).map((item) => item.position)).toEqual([0]);
  });
});

describe('a gap', () => {
  const pruned: LogGap = {
    reason: 'pruned',
    entries: 1_200,
    first_position: 3,
    last_position: 1_300,
    from: format(START),
    to: format(START),
    policy: { position: 2, reads: 'P30D' },
  };
  const erased: LogGap = { ...pruned, reason: 'erased', entries: 1, reads: 2, first_position: 5, last_position: 5 };

  it('describes its size, position and policy', () => {
    expect(gapText(pruned)).toBe('1,200 entries, positions 3 to 1300; the policy at 2 kept reads for P30D');
    expect(gapText(erased)).toBe('2 reads of 1 entry, position 5');
    const { policy: _, ...rest } = pruned;
    expect(gapText(rest)).toContain('no policy allows this');
  });

  it('is listed in the order of entries', () => {
    const read = (position: number, index: number): LogEntry => entry(position, START, { action: 'read', index });
    const logs = [entry(2_000, START), read(5, 3), read(5, 0), entry(2, START)];
    const rows = rowsOf({ logs, redacted: [pruned, erased], has_more: false });
    expect(rows.map((row) => [row.position, row.gap?.reason ?? row.index])).toEqual([
      [2_000, undefined],
      [1_300, 'pruned'],
      [5, 3],
      [5, 0],
      [5, 'erased'],
      [2, undefined],
    ]);
  });
});

describe('an entry', () => {
  it('is a change, a read or a refusal', () => {
    expect(['travel', 'read', 'unauthorized_access_attempt'].map((action) => kindOf({ action }))).toEqual([
      'change',
      'read',
      'rejected',
    ]);
    expect(['set_access_control', 'fast_forward', 'create_api_key'].map(actionText)).toEqual([
      'Set access control',
      'Fast-forward',
      'Create API key',
    ]);
  });

  it('is exported as text that spreadsheets do not evaluate', () => {
    const hostile = entry(7, START, {
      subject: '=HYPERLINK("http://x","y"),\n',
      user_id: '@SUM(1)',
      clock_time: '-000044-03-15T12:00:00Z',
    });
    expect(csv([hostile])).toBe(
      'host_time,user_id,action,subject,clock_time,position\r\n' +
        '2026-01-01T00:00:00Z,\'@SUM(1),travel,"\'=HYPERLINK(""http://x"",""y""),\n",\'-000044-03-15T12:00:00Z,7\r\n',
    );
  });
});

it('has numbered reads only if it has several', () => {
  const read = (position: number, index: number): LogEntry => entry(position, START, { action: 'read', index });
  const rows = [read(7, 2), read(7, 1), read(6, 0), entry(5, START), read(4, 3)];
  const shared = sharedEntries(rows);
  expect(rows.map((row) => readText(row, shared))).toEqual(['read 3', 'read 2', '', '', 'read 4']);
});
