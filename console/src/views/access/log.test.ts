import { describe, expect, it } from 'vitest';
import { format, parse, type Micros } from '../../lib/instant';
import { Backward, PAGE_MAX, actionText, csv, kindOf, withNewer, type LogEntry, type LogPage } from './log';

const START = parse('2026-01-01T00:00:00Z')!;

const entry = (position: number, at: Micros, more: Partial<LogEntry> = {}): LogEntry => ({
  user_id: 'alice', action: 'travel', timestamp: format(at), subject: 'clock', clock_time: format(at), position, ...more,
});

/** A service with a log, which counts what it is asked. */
function service(log: LogEntry[], perPage = PAGE_MAX): { ask: (range: string, cursor: string | null) => Promise<LogPage>; asked: () => number } {
  let asked = 0;
  const times = log.map((one) => parse(one.timestamp)!);
  return {
    asked: () => asked,
    ask(range, cursor) {
      asked++;
      const [from, to] = range.split('/').map((end) => parse(end)!);
      const inside = log.filter((_, index) => times[index]! >= from! && times[index]! <= to!);
      const begin = Number(cursor ?? 0);
      const logs = inside.slice(begin, begin + perPage);
      const has_more = begin + perPage < inside.length;
      return Promise.resolve({ logs, has_more, next_cursor: has_more ? String(begin + perPage) : null });
    },
  };
}

async function all(reader: Backward, least: number): Promise<number[][]> {
  const pages: number[][] = [];
  for (let turn = 0; turn < 1_000 && !reader.isDone; turn++) pages.push((await reader.older(least)).map((one) => one.position));
  return pages;
}

describe('the log from its newest entry back', () => {
  it('is read in one request where it is short', async () => {
    const log = Array.from({ length: 30 }, (_, index) => entry(index, START + BigInt(index) * 60_000_000n));
    const told = service(log);
    const last = START + 86_400_000_000n;
    const reader = new Backward({ ask: told.ask, first: START, last, width: last - START });
    expect(await all(reader, 100)).toEqual([log.map((one) => one.position).reverse()]);
    expect(told.asked()).toBe(1);
  });

  it('leaves nothing out and repeats nothing, whatever the pace', async () => {
    // A burst at one moment, a long silence, then one a second.
    const burst = Array.from({ length: 2_500 }, (_, index) => entry(index, START));
    const later = START + 300n * 86_400_000_000n;
    const steady = Array.from({ length: 5_000 }, (_, index) => entry(2_500 + index, later + BigInt(index) * 1_000_000n));
    const log = [...burst, ...steady];
    const last = later + 6_000n * 1_000_000n;
    for (const width of [1n, 1_000_000n, 3_600_000_000n, last - START]) {
      const told = service(log);
      const pages = await all(new Backward({ ask: told.ask, first: START, last, width }), 100);
      expect(pages.flat()).toEqual(log.map((one) => one.position).reverse());
      expect(told.asked()).toBeLessThan(60);
    }
  });

  it('follows pages that are short because of a filter', async () => {
    const log = Array.from({ length: 40 }, (_, index) => entry(index, START + BigInt(index)));
    const told = service(log, 3);
    const reader = new Backward({ ask: told.ask, first: START, last: START + 1_000_000n, width: 1_000_000n });
    expect((await reader.older(10)).map((one) => one.position)).toEqual(log.map((one) => one.position).reverse());
    expect(reader.isDone).toBe(true);
  });

  it('takes newer entries once', () => {
    const there = [entry(5, START), entry(4, START)];
    expect(withNewer(there, [entry(4, START), entry(6, START), entry(7, START)]).map((one) => one.position)).toEqual([7, 6, 5, 4]);
    expect(withNewer([], [entry(0, START)]).map((one) => one.position)).toEqual([0]);
  });
});

describe('an entry', () => {
  it('is a change, a look or a refusal', () => {
    expect(['travel', 'read', 'unauthorized_access_attempt'].map((action) => kindOf({ action }))).toEqual(['change', 'look', 'refused']);
    expect(['set_access_control', 'fast_forward', 'create_api_key'].map(actionText)).toEqual(['Set access control', 'Fast-forward', 'Create API key']);
  });

  it('is written for spreadsheets as text that they do not run', () => {
    const hostile = entry(7, START, { subject: '=HYPERLINK("http://x","y"),\n', user_id: '@SUM(1)', clock_time: '-000044-03-15T12:00:00Z' });
    expect(csv([hostile])).toBe(
      'host_time,user_id,action,subject,clock_time,position\r\n' +
        '2026-01-01T00:00:00Z,\'@SUM(1),travel,"\'=HYPERLINK(""http://x"",""y""),\n",\'-000044-03-15T12:00:00Z,7\r\n',
    );
  });
});
