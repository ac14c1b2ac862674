import { describe, expect, it } from 'vitest';
import { parse } from '../../lib/time/instant';
import { commands, type Command, type Sources } from './commands';

const sources: Sources = {
  timeline: 'demo',
  now: parse('2005-08-29T00:00:00Z'),
  views: [
    { id: 'clock', title: 'Clock', icon: 'clock' },
    { id: 'paradoxes', title: 'Paradoxes', icon: 'paradox' },
  ],
  timelines: [
    { timeline_id: 'demo', events: 5 },
    { timeline_id: 'storms', events: 1 },
    { timeline_id: 'my.storms+', events: 2 },
  ],
  saved: [{ name: 'My view', hash: '#/timeline?timeline=demo&text=moon' }],
  anchors: [
    {
      anchor_id: 'a1',
      timestamp: '2005-08-29T11:10:00Z',
      description: 'before the levees fail',
      fixed: true,
      position: 1,
      timeline_id: 'demo',
      set_at: '2026-01-01T00:00:00Z',
    },
  ],
  hasDemo: true,
  isOperator: true,
  events: [],
  hasMoreEvents: false,
  isPaused: false,
  may: { move: true, rate: true, record: true },
  href: (view, params = {}) => `#/${view}?${new URLSearchParams(params).toString()}`,
};
const titles = (typed: string, more: Partial<Sources> = {}): string[] =>
  commands(typed, { ...sources, ...more }).map(({ title }) => title);

describe('command palette', () => {
  it('finds views, timelines, anchors and actions by words of their names', () => {
    expect(titles('par')).toEqual(['Paradoxes', 'Compare with a fork']);
    expect(titles('storms')).toEqual(['storms', 'my.storms+']);
    expect(titles('levee')).toEqual(['before the levees fail']);
    expect(titles('file import')).toEqual(['Import a file…']);
    expect(titles('storms+')).toEqual(['my.storms+']);
    expect(commands('my view', sources).map(({ to }) => to)).toEqual(['#/timeline?timeline=demo&text=moon']);
    expect(titles('nothing like this')).toEqual([]);
  });

  it('offers a typed moment, on the axis and for the clock', () => {
    const [center, travel] = commands('1969-07-20', sources);
    expect(center?.to).toContain('center=1969-07-20T00%3A00%3A00Z');
    expect(travel?.to).toContain('to=1969-07-20T00%3A00%3A00Z');
    expect(commands('+90m', sources)[0]?.hint).toBe('29 August 2005, 01:30');
    expect(titles('+90m', { now: null })).toEqual([]);
  });

  it('omits commands without permission', () => {
    expect(titles('travel')).toEqual(['Travel…']);
    expect(titles('travel', { may: { move: false, rate: false, record: false } })).toEqual([]);
    expect(titles('1969-07-20', { may: { move: false, rate: false, record: false } })).toEqual(['Show on the axis']);
    expect(titles('', { may: { move: false, rate: false, record: false } })).not.toContain('Record an event…');
  });

  it('pauses and resumes, sets a typed rate, and changes the theme', () => {
    const to = (typed: string, more: Partial<Sources> = {}): Command['to'][] =>
      commands(typed, { ...sources, ...more }).map((command) => command.to);
    expect(to('pause')).toEqual([{ pause: true }]);
    expect(to('resume', { isPaused: true })).toEqual([{ pause: false }]);
    expect(to('pause', { isPaused: null })).toEqual([]);
    expect(to('60x')).toEqual([{ rate: 60 }]);
    expect(to('rate 0.5')).toEqual([{ rate: 0.5 }]);
    expect(to('60x', { may: { move: true, rate: false, record: true } })).toEqual([]);
    expect(to('rate 0')).toEqual([]);
    expect(to('dark')).toEqual([{ theme: 'dark' }]);
    expect(to('time zone')).toEqual([{ zone: true }]);
    // Works in every view.
    expect(to('save this view')).toEqual([{ make: 'view' }]);
  });

  it('follows, plays, copies a link, and creates timelines and forks', () => {
    const to = (typed: string, more: Partial<Sources> = {}): Command['to'][] =>
      commands(typed, { ...sources, ...more }).map((command) => command.to);
    expect(to('follow')).toEqual(['#/timeline?follow=1']);
    expect(to('follow', { isPaused: null })).toEqual([]);
    expect(to('play')).toEqual(['#/timeline?play=all']);
    expect(to('permanent link')).toEqual([{ copy: 'link' }]);
    expect(to('new timeline')).toEqual([{ make: 'timeline' }]);
    expect(to('fork demo')).toEqual([{ make: 'fork' }]);
  });

  it('links to each part of Access', () => {
    const to = (typed: string, more: Partial<Sources> = {}): Command['to'][] =>
      commands(typed, { ...sources, ...more }).map((command) => command.to);
    expect(to('user')).toEqual(['#/access?tab=users']);
    expect(to('user', { isOperator: false })).toEqual([]);
    expect(to('permission')).toEqual(['#/access?tab=permissions']);
    expect(to('keys')).toContain('#/access?tab=keys');
    expect(to('access log')).toEqual(['#/access?tab=log']);
    expect(to('retention')).toEqual(['#/access?tab=retention']);
    expect(to('settings')).toEqual(['#/access?tab=settings']);
    expect(to('help')).toEqual([{ help: 'keys' }]);
  });

  it('offers events found by the service, whatever their names', () => {
    const events = [{ id: 'e1', title: 'First landing', when: '1969', href: '#/timeline?event=e1' }];
    expect(titles('moon', { events })).toEqual(['First landing']);
    expect(titles('', { events })).not.toContain('First landing');
    const more = commands('moon', { ...sources, events, hasMoreEvents: true });
    expect(more.map(({ title }) => title)).toEqual(['First landing', 'All events with “moon”']);
    expect(more.at(-1)?.to).toBe('#/timeline?text=moon');
  });
});
