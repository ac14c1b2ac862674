import { describe, expect, it } from 'vitest';
import { format, parse, type Micros } from '../../lib/instant';
import { actionText, csv, kindOf, withNewer, type LogEntry } from './log';

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
  it('takes newer entries once', () => {
    const there = [entry(5, START), entry(4, START)];
    expect(withNewer(there, [entry(4, START), entry(6, START), entry(7, START)]).map((one) => one.position)).toEqual([
      7, 6, 5, 4,
    ]);
    expect(withNewer([], [entry(0, START)]).map((one) => one.position)).toEqual([0]);
  });
});

describe('an entry', () => {
  it('is a change, a look or a refusal', () => {
    expect(['travel', 'read', 'unauthorized_access_attempt'].map((action) => kindOf({ action }))).toEqual([
      'change',
      'look',
      'refused',
    ]);
    expect(['set_access_control', 'fast_forward', 'create_api_key'].map(actionText)).toEqual([
      'Set access control',
      'Fast-forward',
      'Create API key',
    ]);
  });

  it('is written for spreadsheets as text that they do not run', () => {
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
