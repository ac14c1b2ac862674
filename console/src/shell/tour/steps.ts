/** The steps of the tour: a text and the view it describes. */
interface Step {
  title: string;
  text: string;
  view: string;
  params: Record<string, string>;
  /** Whether the step needs the demo fork, which may have been deleted. */
  isFork?: boolean;
}

const DEMO = { timeline: 'demo' };
/** The demo fork, in which one event is canceled. */
export const FORK = 'demo-no-sarajevo';
const LANDING = 'moon-landing-1969';
const SHOT = 'sarajevo-assassination-1914';

const STEPS: readonly Step[] = [
  {
    title: 'History on an axis',
    text: 'Each bar counts events. Drag to move, use the wheel to zoom, and click a bar to see its events.',
    view: 'timeline',
    params: DEMO,
  },
  {
    title: 'One event, with its causes',
    text: 'The card shows its causes, its effects, and who changed it when. The ledger proves it.',
    view: 'timeline',
    params: { ...DEMO, event: LANDING, center: '1969-07-20T20:17:40Z', zoom: '2000000000' },
  },
  {
    title: 'A paradox',
    text: 'A decree dated 315 names a city that was founded in 330. The service noticed; Lorenzo Valla did in 1440.',
    view: 'paradoxes',
    params: { ...DEMO, paradox: 'P01/definite/constantinople-dedicated-330/donation-of-constantine-315' },
  },
  {
    title: 'An anchor and a fork',
    text: 'The flag is an anchor: a moment to return to. Below the axis is a timeline that was forked there.',
    view: 'timeline',
    params: { ...DEMO, center: '1914-06-27T00:00:00Z', zoom: '20000000000' },
  },
  {
    title: 'What the fork changed',
    text: 'On the fork, the shooting in Sarajevo did not happen. One axis shows both timelines and how they differ.',
    view: 'compare',
    params: { timeline: FORK, with: 'demo' },
    isFork: true,
  },
  {
    title: 'An intervention has consequences',
    text: 'The war still begins on the fork, without its cause. Events that depend on it are counted.',
    view: 'paradoxes',
    params: { timeline: FORK, paradox: `P05/definite/${SHOT}/first-world-war-begins-1914` },
    isFork: true,
  },
  {
    title: 'What if?',
    text: 'Cancel or delay an event, and see which effects lose their cause. Nothing is changed until you apply it.',
    view: 'paradoxes',
    params: { ...DEMO, tab: 'lab', event: LANDING, action: 'cancel' },
  },
  {
    title: 'A clock of its own',
    text: 'Pause it, move it, or run it faster. Before each move, you see which events and timers it would pass.',
    view: 'clock',
    params: DEMO,
  },
  {
    title: 'Timers',
    text: 'They fire when the clock reaches their moment, also when you move it. Move it a year ahead and see.',
    view: 'timers',
    params: { ...DEMO, timer: 'moon-landing-anniversary' },
  },
  {
    title: 'Verify it yourself',
    text: 'Your browser checks the proofs. Keep a checkpoint: it reveals later changes to the history before it.',
    view: 'integrity',
    params: DEMO,
  },
];

/** Returns the steps whose subject exists. */
export function stepsFor(hasFork: boolean): readonly Step[] {
  return hasFork ? STEPS : STEPS.filter((step) => !step.isFork);
}

/** Returns the step number in the URL, from 1; null if it is invalid. */
export function stepOf(text: string | null, count: number): number | null {
  const step = Number(text ?? NaN);
  return Number.isInteger(step) && step >= 1 && step <= count ? step : null;
}
