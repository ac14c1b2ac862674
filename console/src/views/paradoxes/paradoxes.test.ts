import { describe, expect, it } from 'vitest';
import { format, parse } from '../../lib/time/instant';
import type { Span } from '../../lib/events/known-spans';
import { xOf } from '../../lib/chart/scale';
import {
  BACK_PATH_WIDTH,
  axisScale,
  chainPoints,
  chainPath,
  drawnExtent,
  elide,
  linesAt,
  logShare,
  labelPosition,
  labelBoxAt,
  ringPoints,
  ringPath,
  shorten,
} from './picture/layout';
import { causesText, differences, effectWords, statusWords, conditionalText } from './lab/lab';
import { append, follow } from './list/following';
import { countOf, eventsOf, kindOf, timerOf, type Paradox, type ParadoxesBody } from './paradox';
import { named } from '../../lib/events/names.svelte';
import { gapWords, pictureOf } from './picture/picture';
import { rowText } from './texts';

describe('a row of the list', () => {
  const flights = {
    code: 'P08',
    explanation: '`flies as` of `N713TW` is "DL 120" by `a` and "DL 2126" by `b`.',
    events: ['a', 'b'],
    witness: {
      pair: ['a', 'b'],
      subject: 'N713TW',
      predicate: 'flies as',
      values: ['DL 120', 'DL 2126'],
      from: '2013-01-08T19:28:00Z',
      until: '2013-01-08T19:43:00Z',
    },
  } as unknown as Paradox;

  it('describes a contradiction and its time without repetition', () => {
    const when = '8 January 2013, 19:28 – 19:43 (15 minutes)';
    expect(rowText(flights, new Map())).toBe(`N713TW, flies as: DL 120 and DL 2126, ${when}`);
    expect(
      rowText(
        flights,
        new Map([
          ['a', 'DL 120'],
          ['b', 'The last flight'],
        ]),
      ),
    ).toBe(`N713TW, flies as: DL 120 and DL 2126 by “The last flight”, ${when}`);
  });

  it('has a diagram with the full duration of both events, or open ends until it is known', () => {
    const span = (from: string, to: string): Span => ({ from: parse(from)!, to: parse(to)! });
    const spans = new Map([
      ['a', span('2013-01-08T17:00:00Z', '2013-01-08T19:43:00Z')],
      ['b', span('2013-01-08T19:28:00Z', '2013-01-08T22:00:00Z')],
    ]);
    const drawn = (known: ReadonlyMap<string, Span>): unknown => {
      const picture = pictureOf(flights, new Map(), known);
      return (
        picture?.shape === 'axis' && picture.bars.map(({ from, to, isOpen }) => [format(from), format(to), isOpen])
      );
    };
    const [both, until] = ['2013-01-08T19:28:00Z', '2013-01-08T19:43:00Z'];
    expect(drawn(new Map())).toEqual([
      [both, until, true],
      [both, until, true],
    ]);
    expect(drawn(spans)).toEqual([
      ['2013-01-08T17:00:00Z', until, false],
      [both, '2013-01-08T22:00:00Z', false],
    ]);
  });

  it('uses the sentence of the service for all other kinds', () => {
    const other = { ...flights, code: 'P09', explanation: '`a` and `b` say the same.' };
    expect(rowText(other, new Map([['a', 'DL 120']]))).toBe('“DL 120” and b say the same.');
  });
});

describe('event names', () => {
  it('replace ids if known', () => {
    const names = new Map([['donation-315', 'Donation of Constantine']]);
    expect(named('`donation-315` lies before its cause `city-330`.', names)).toBe(
      '“Donation of Constantine” lies before its cause `city-330`.',
    );
  });

  it('come with formatted dates and without generated ids', () => {
    const say = (text: string): string => named(text, new Map([['a', 'The vote']]));
    expect(
      say('`a` (0315-01-01T00:00:00Z) lies before `b` (0330-05-12T23:59:59.999999Z), by 5610 d as recorded.'),
    ).toBe('“The vote” (1 January 315) lies before `b` (12 May 330), by 15 years as recorded.');
    const known = new Map([
      ['a', 'year'],
      ['b', 'month'],
    ]);
    expect(named('`a` (0315-01-01T00:00:00Z) lies before `b` (0330-05-31T23:59:59.999999Z).', new Map(), known)).toBe(
      '`a` (315) lies before `b` (May 330).',
    );
    expect(say('`intervention_01m8` removed `a`, 3 d 2 h later and 12 d early.')).toBe(
      'The intervention removed “The vote”, 3 d 2 h later and 12 days early.',
    );
    expect(say('`a` was changed after the anchor `anchor_01m8` (1914-06-27T08:30:00Z) was set.')).toBe(
      '“The vote” was changed after the anchor (27 June 1914, 08:30) was set.',
    );
    // An id may contain a timestamp.
    expect(say('`AL12:2005-08-29T11:10:00Z` names itself as its cause.')).toBe(
      '`AL12:2005-08-29T11:10:00Z` names itself as its cause.',
    );
  });

  it('label the events of a diagram', () => {
    const witness = {
      cause: 'a',
      effect: 'b',
      cause_time: '0330-01-01T00:00:00Z',
      effect_time: '0315-01-01T00:00:00Z',
    };
    const picture = pictureOf(paradoxOf('P01', witness), new Map([['a', 'The vote']]));
    expect(picture?.shape === 'axis' && picture.bars.map((bar) => bar.label)).toEqual(['The vote', 'b']);
  });
});

const paradoxOf = (code: string, witness: Record<string, unknown>): Paradox => ({
  code,
  kind: 'x',
  grade: 'definite',
  severity: 'high',
  is_observation: false,
  events: [],
  explanation: '',
  first: 0,
  since: 0,
  key: code,
  witness,
});

describe('a firing as a cause', () => {
  const timer = { timer_id: 'trial', due: '2027-01-31T09:00:00Z', taken_back: 'comes_again' };
  const witness = { cause: 'firing_1', effect: 'firing_1', intervention: null, impact: 0, timer };

  it('is drawn as its timer, next to the event that it recorded', () => {
    const picture = pictureOf(paradoxOf('P05', witness), new Map([['firing_1', 'Trial ends']]));
    expect(picture?.shape === 'chain' && picture.nodes.map((node) => [node.label, node.event])).toEqual([
      ['timer trial', null],
      ['Trial ends', 'firing_1'],
    ]);
  });

  it('has a page only as an event', () => {
    const paradox = { ...paradoxOf('P05', witness), events: ['firing_1'] };
    expect([timerOf(paradox), eventsOf(paradox)]).toEqual(['trial', ['firing_1']]);
    const other = { ...paradoxOf('P05', { ...witness, effect: 'e' }), events: ['firing_1', 'e'] };
    expect(eventsOf(other)).toEqual(['e']);
  });
});

describe('paradox texts', () => {
  it('match the documentation', () => {
    expect(kindOf({ code: 'P04', kind: 'grandfather' }).title).toBe('Grandfather');
    expect(kindOf({ code: 'P99', kind: 'some_new_kind' }).title).toBe('some new kind');
    expect(countOf({ kind: 'x', grades: { definite: 2, possible: 3 } })).toBe(5);
    expect(countOf(undefined)).toBe(0);
  });

  it('contain the direction of a gap', () => {
    expect(gapWords(3_600_000_000)).toBe('1 hour later');
    expect(gapWords(-60_000_000)).toBe('1 minute earlier');
    expect(gapWords(0)).toBe('at the same time');
  });
});

describe('the diagram of a witness', () => {
  it('is a ring with its backward edge marked, for a cycle', () => {
    const cycle = [
      ['a', 'b', 5],
      ['b', 'c', 5],
      ['c', 'a', -10],
    ].map(([cause, effect, gap_us]) => ({ cause, effect, gap_us, kind: 'requires' }));
    const picture = pictureOf(paradoxOf('P02', { cycle, length: 3 }));
    expect(picture).toMatchObject({ shape: 'ring', more: 0 });
    if (picture?.shape !== 'ring') throw new Error('no ring');
    expect(picture.edges.map((edge) => [edge.from, edge.to, edge.isBad])).toEqual([
      [0, 1, false],
      [1, 2, false],
      [2, 0, true],
    ]);
  });

  it('leads from the removed event to its cause and back, for a grandfather paradox', () => {
    const picture = pictureOf(paradoxOf('P04', { path: ['born', 'built', 'intervention_1'], length: 3 }));
    if (picture?.shape !== 'chain') throw new Error('no chain');
    expect(picture.nodes.map((node) => node.variant)).toEqual(['removed', 'plain', 'intervention']);
    expect(picture.nodes[2]!.event).toBeNull();
    expect(picture.edges.at(-1)).toMatchObject({ from: 2, to: 0, label: 'canceled', isBad: true });
  });

  it('has both events on an axis, for an early effect', () => {
    const picture = pictureOf(
      paradoxOf('P01', {
        cause: 'sent',
        effect: 'paid',
        cause_time: '2028-02-03T08:30:00Z',
        effect_time: ['2028-02-01T00:00:00Z', '2028-02-01T23:59:59Z'],
        gap_us: -5,
      }),
    );
    if (picture?.shape !== 'axis') throw new Error('no axis');
    expect(picture.bars[0]).toMatchObject({ label: 'sent', from: parse('2028-02-03T08:30:00Z') });
    expect(picture.bars[1]!.to > picture.bars[1]!.from).toBe(true);
  });

  it('has a shape for all other known kinds', () => {
    expect(
      pictureOf(
        paradoxOf('P07', {
          actor: 'ada',
          pair: ['a', 'b'],
          km: 5_852.8,
          gap_us: 7_200_000_000,
          needed_kmh: 2_926,
          places: null,
        }),
      ),
    ).toMatchObject({ shape: 'speed', gap: '2 hours' });
    expect(pictureOf(paradoxOf('P14', { source: 'gate', first: 2, last: 4 }))).toMatchObject({ shape: 'numbers' });
    expect(
      pictureOf(paradoxOf('P15', { event: 'm', time: '2028-10-01T12:00:00Z', end_time: '2028-10-01T10:00:00Z' })),
    ).toMatchObject({ shape: 'axis' });
    expect(pictureOf(paradoxOf('P15', { event: 'm' }))).toBeNull();
    expect(pictureOf(paradoxOf('P99', {}))).toBeNull();
  });
});

describe('the diagram layout', () => {
  it('places a ring clockwise from the top, within its bounds', () => {
    const spots = ringPoints(4, 400, 200, { x: 50, y: 20 });
    expect(spots[0]!.x).toBeCloseTo(200);
    expect(spots[0]!.y).toBeCloseTo(20);
    expect(spots[1]!.x).toBeCloseTo(350);
    expect(spots[1]!.y).toBeCloseTo(100);
    for (const way of [0, 1, 2, 3].map((index) => ringPath(index, 4, 400, 200, { x: 50, y: 20 }, 20)))
      expect(way.d).not.toMatch(/NaN/);
  });

  it('turns a chain at the end of a row', () => {
    const box = { width: 100, height: 40, gapX: 50, gapY: 30 };
    const chain = chainPoints(5, 260, box);
    expect(chain.columns).toBe(2);
    expect(chain.spots[1]!.x).toBe(chain.spots[2]!.x);
    expect(chain.spots[3]!.x).toBe(chain.spots[0]!.x);
    expect(chain.height).toBe(3 * 40 + 2 * 30);
    expect(chainPoints(3, 90, box).columns).toBe(1);
    expect(chainPath(chain.spots[0]!, chain.spots[1]!, box, chain.height).d).toMatch(/^M[\d.,]+L/);
    expect(chainPath(chain.spots[1]!, chain.spots[0]!, { ...box, gapX: 0 }, chain.height).d).toMatch(/C/);
  });

  it('leads a backward edge around the boxes', () => {
    const box = { width: 100, height: 40, gapX: 50, gapY: 30 };
    const chain = chainPoints(5, 260, box);
    const { d } = chainPath(chain.spots[4]!, chain.spots[0]!, box, chain.height);
    const left = chain.spots[0]!.x - box.width / 2;
    // Its vertical part is left of every box, and its horizontal part below them.
    const uprights = [...d.matchAll(/Q([\d.-]+),/g)].map((part) => Number(part[1]));
    expect(uprights.at(-1)).toBeLessThan(left);
    expect(uprights.at(-1)).toBeGreaterThan(left - BACK_PATH_WIDTH);
    const levels = [...d.matchAll(/Q[\d.-]+,([\d.-]+)/g)].map((part) => Number(part[1]));
    expect(levels[0]).toBeGreaterThan(chain.height);
  });

  it('aligns a label with its bar: start, end or center', () => {
    expect(labelPosition(drawnExtent(120, 144), 640)).toEqual({ x: 120, anchor: 'start' });
    expect(labelPosition(drawnExtent(520, 521), 640)).toEqual({ x: 526, anchor: 'end' });
    expect(labelPosition(drawnExtent(600, 600), 640)).toEqual({ x: 607, anchor: 'end' });
    expect(labelPosition(drawnExtent(300, 340), 640)).toEqual({ x: 320, anchor: 'middle' });
    expect(labelPosition(drawnExtent(2, 2), 640).x).toBe(4);
  });

  it('centers the label of an arrow within the diagram', () => {
    const plate = labelBoxAt('causes, 15 years earlier', { x: 320, y: 90 }, 640);
    expect([plate.x, plate.y, plate.lines]).toEqual([320, 90, ['causes, 15 years earlier']]);
    expect([plate.left + plate.width / 2, plate.top + plate.height / 2]).toEqual([320, 90]);
    expect(labelBoxAt('causes, 15 years earlier', { x: 10, y: 90 }, 640).left).toBe(0);
    const two = labelBoxAt('recorded as observed before it happened · 3 hours apart', { x: 150, y: 90 }, 300);
    expect(two.lines).toEqual(['recorded as observed before it happened', '3 hours apart']);
    expect(two.left >= 0 && two.left + two.width <= 300).toBe(true);
    expect(linesAt(two).map(({ y }) => y)).toEqual([82, 98]);
  });

  it('scales time', () => {
    const scale = axisScale([10n, 20n], 20, 140);
    expect([10n, 15n, 20n].map((at) => Math.round(xOf(scale, at)))).toEqual([20, 70, 120]);
    expect(xOf(axisScale([10n, 10n], 0, 100), 10n)).toBe(50);
    expect(logShare(1_000, 1_000_000)).toBeCloseTo(0.5);
  });

  it('omits the middle of a long list', () => {
    expect(shorten('intervention_01m7was16se0q94', 12)).toBe('interven…q94');
    expect(shorten('short', 12)).toBe('short');
    expect(elide(20, 9)).toEqual({ indices: [0, 1, 2, 3, 16, 17, 18, 19], left: 12 });
    expect(elide(3, 9).left).toBe(0);
  });
});

describe('an intervention', () => {
  const event = { event_id: 'a', time: '2028-02-29T08:30:00Z', description: 'A', location: 'Paris' };

  it('marks the differing fields', () => {
    const rows = differences(event, { ...event, time: '2028-02-29T10:30:00Z', location: null });
    expect(rows.map((row) => [row.name, row.after, row.isDifferent])).toEqual([
      ['The event', 'occurs', false],
      ['Time', '29 February 2028, 10:30 UTC', true],
      ['Place', null, true],
      ['Description', 'A', false],
    ]);
    expect(differences(event, null)[0]).toEqual({
      name: 'The event',
      before: 'occurs',
      after: 'canceled',
      isDifferent: true,
    });
    expect(differences(null, null)).toHaveLength(1);
  });

  it('is described in words', () => {
    expect(effectWords({ kind: 'delay', duration: 'PT2H' })).toBe('Delay it by PT2H');
    expect(effectWords({ kind: 'move', time: '1969-07-20T20:17:40Z' })).toBe('Move it to 20 July 1969, 20:17:40 UTC');
    expect(effectWords({ kind: 'something_new' })).toBe('something_new');
    expect(statusWords('Dry run: nothing was changed. The intervention cancels the event.')).toBe(
      'The intervention cancels the event.',
    );
  });
});

describe('a list updated from the stream', () => {
  const one = (code: string, first: number, isObservation = false): Paradox => ({
    ...paradoxOf(code, {}),
    first,
    key: `${code}/${first}`,
    is_observation: isObservation,
  });
  const body = (hasMore = false): ParadoxesBody => ({
    status: '',
    paradoxes: [],
    total: 2,
    counts: { P01: { kind: 'x', grades: { definite: 2 } } },
    observations: {},
    as_of: 10,
    has_more: hasMore,
  });
  const list = [one('P01', 3), one('P01', 7)];
  const all = { kinds: [], observations: false };
  const keys = (paradoxes: Paradox[]): string[] => paradoxes.map((paradox) => paradox.key);

  it('inserts and counts a created paradox in order', () => {
    const created = follow(body(), list, { position: 11, change: 'created', paradox: one('P04', 5) }, all);
    expect(keys(created.list)).toEqual(['P01/3', 'P04/5', 'P01/7']);
    expect(countOf(created.body.counts.P04)).toBe(1);
    expect(keys(follow(body(), list, { position: 11, change: 'created', paradox: one('P04', 9) }, all).list)).toEqual([
      'P01/3',
      'P01/7',
      'P04/9',
    ]);
  });

  it('removes a resolved one', () => {
    const resolved = follow(body(), list, { position: 11, change: 'resolved', paradox: list[0]! }, all);
    expect(keys(resolved.list)).toEqual(['P01/7']);
    expect(countOf(resolved.body.counts.P01)).toBe(1);
  });

  it('lists only the selected kinds, and counts the others', () => {
    const seen = { position: 11, change: 'created', paradox: one('P10', 5, true) } as const;
    expect(follow(body(), list, seen, all).list).toHaveLength(2);
    expect(countOf(follow(body(), list, seen, all).body.observations.P10)).toBe(1);
    expect(follow(body(), list, seen, { ...all, observations: true }).list).toHaveLength(3);
    expect(follow(body(), list, seen, { ...all, kinds: ['P01'] }).list).toHaveLength(2);
    expect(follow(body(), list, seen, { ...all, kinds: ['P10'] }).list).toHaveLength(3);
  });

  it('ignores duplicates, also those of the next page', () => {
    expect(follow(body(), list, { position: 10, change: 'resolved', paradox: list[0]! }, all).list).toHaveLength(2);
    expect(
      follow(body(true), list, { position: 11, change: 'created', paradox: one('P04', 9) }, all).list,
    ).toHaveLength(2);
    expect(keys(append(list, [list[1]!, one('P04', 9)]))).toEqual(['P01/3', 'P01/7', 'P04/9']);
  });
});

it('describes the effect of a preview as conditional', () => {
  expect(conditionalText('`b` requires `a`, which was removed by `intervention_1`.')).toBe(
    '`b` requires `a`, which would be canceled by `intervention_1`.',
  );
  expect(conditionalText('`intervention_1` removed `a`, but happened because of it: `a` → `b`.')).toBe(
    '`intervention_1` would cancel `a`, but happens because of it: `a` → `b`.',
  );
});

it('counts direct and indirect causes', () => {
  const causes = (...distances: number[]): { event_id: string; distance: number }[] =>
    distances.map((distance, index) => ({ event_id: `e${index}`, distance }));
  expect(causesText([])).toBe('No causes');
  expect(causesText(causes(1))).toBe('1 cause');
  expect(causesText(causes(1, 1, 1, 2, 2, 3))).toBe('3 direct causes, 6 in total');
});
