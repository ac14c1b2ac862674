/** The views of the console, and when each of them is ready. */

/** Returns the views, each with what is there once it shows what it is for. */
export const viewsOf = (against) => [
  { name: 'Timeline', at: 'timeline', ready: (page) => page.getByText(/[\d,]+ events$/).first(), axis: '.axis canvas' },
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
    // The words in the navigation and above the view are there before anything was looked for.
    ready: (page) => page.getByRole('region', { name: 'Paradoxes' }).getByText(/^(No|[\d,]+) paradox/),
  },
  { name: 'What if', at: 'paradoxes', params: '&tab=lab', ready: (page) => page.getByLabel('Event', { exact: true }) },
  { name: 'Integrity', at: 'integrity', ready: (page) => page.getByText(/under one signature/) },
  { name: 'Access', at: 'access', ready: (page) => page.getByRole('main').locator('h1, h2').first() },
  { name: 'Timelines', at: 'timelines', ready: (page) => page.locator('tbody tr').first() },
  { name: 'Explorer', at: 'explorer', ready: (page) => page.getByRole('button', { name: 'Send' }).first() },
];
