/** The views and states of the console, and how to detect that each is ready. */

/** Returns the views, each with a check for its main content. */
export const viewsOf = (against) => [
  {
    name: 'Timeline',
    at: 'timeline',
    ready: (page) => page.getByText(/[\d,]+ events$/).first(),
    axis: '.axis canvas',
    map: '#map canvas',
  },
  { name: 'Timeline, list', at: 'timeline', params: '&view=list', ready: (page) => page.locator('tbody tr').nth(3) },
  { name: 'Clock', at: 'clock', ready: (page) => page.getByRole('timer') },
  { name: 'Timers', at: 'timers', ready: (page) => page.getByRole('main').getByRole('heading').first() },
  ...(against
    ? [
        {
          name: 'Compare',
          at: 'compare',
          params: `&with=${against}`,
          ready: (page) => page.getByText(/Both share/),
          axis: 'canvas',
        },
      ]
    : []),
  {
    name: 'Paradoxes',
    at: 'paradoxes',
    // The navigation and the heading appear before the search starts.
    ready: (page) => page.getByRole('region', { name: 'Paradoxes' }).getByText(/^(No|[\d,]+) paradox/),
  },
  { name: 'What if', at: 'paradoxes', params: '&tab=lab', ready: (page) => page.getByLabel('Event', { exact: true }) },
  { name: 'Integrity', at: 'integrity', ready: (page) => page.getByText(/under one signature/) },
  { name: 'Access', at: 'access', ready: (page) => page.getByRole('main').locator('h1, h2').first() },
  { name: 'Timelines', at: 'timelines', ready: (page) => page.locator('tbody tr').first() },
  { name: 'Explorer', at: 'explorer', ready: (page) => page.getByRole('button', { name: 'Send' }).first() },
];

/** Events with many details: causes, attributes, places. */
const EVENTS = {
  demo: 'fall-of-constantinople-1453',
  hurricanes: 'AL122005:2005-08-28T18:00:00Z',
  made: 'reading-00500000',
};
/** Attributes for grouping and for values of either history. */
const KEYS = {
  demo: ['attribute.topic', null],
  hurricanes: ['attribute.status', 'max_wind_kt'],
  flights: ['attribute.carrier', 'dep_delay'],
};
const TABS = ['log', 'retention', 'settings', 'users', 'restrictions', 'keys', 'sessions'];

/** Returns the states within views to capture as well. `first` is an event of the timeline. */
export const statesOf = (timeline, first) => {
  const event = EVENTS[timeline] ?? first;
  const [by, value] = KEYS[timeline] ?? ['source', null];
  const bars = (page) => page.getByText(/[\d,]+ events$/).first();
  const dialog = (page) => page.getByRole('dialog');
  const at = (view, name, params, ready) => ({ name, at: view, params, ready });
  return [
    at('timeline', 'Timeline, event', `&event=${encodeURIComponent(event)}`, (page) => page.getByRole('article')),
    at('timeline', 'Timeline, lanes', `&by=${by}&lanes=1`, bars),
    ...(value === null ? [] : [at('timeline', 'Timeline, values', `&by=${by}&value=${value}`, bars)]),
    at('timeline', 'Timeline, heat', '&heat=events', (page) => page.getByText(/^events per [\d,]+ km²/)),
    at('timeline', 'Timeline, record', '&do=record', dialog),
    at('timeline', 'Timeline, import', '&do=import', dialog),
    at('timeline', 'Timeline, export', '&do=export', dialog),
    at('timeline', 'Timeline, as of', '&do=as-of', (page) => page.getByText('As known at')),
    at('clock', 'Clock, travel', '&do=travel', dialog),
    at('timers', 'Timers, set', '&do=set', dialog),
    at('integrity', 'Integrity, entry', '&position=3', (page) => page.getByText('This browser verified it.')),
    // On a phone, the tabs are a select field.
    ...TABS.map((tab) => at('access', `Access, ${tab}`, `&tab=${tab}`, (page) => page.locator('main .panel').first())),
  ];
};
