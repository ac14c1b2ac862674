/** The steps of the tour: what is told of a place in the console, and where it is. */
interface Step {
  title: string;
  text: string;
  view: string;
  params: Record<string, string>;
}

/** The event of the demo that the tour looks at. */
const EVENT = 'moon-landing-1969';

export const STEPS: readonly [Step, ...Step[]] = [
  {
    title: 'History on an axis',
    text: 'Each bar counts events. Drag to move, use the wheel to zoom, and click a bar to see what it is made of.',
    view: 'timeline',
    params: {},
  },
  {
    title: 'One event, with its causes',
    text: 'The card shows what led to it, what depends on it, and who changed it when. The ledger proves that.',
    view: 'timeline',
    params: { event: EVENT, center: '1969-07-20T20:17:40Z', zoom: '2000000000' },
  },
  {
    title: 'A clock of its own',
    text: 'Pause it, move it, or let it run faster. It tells what a move would pass before you make it.',
    view: 'clock',
    params: {},
  },
  {
    title: 'What if?',
    text: 'Cancel or delay an event, and see which effects lose their cause. Nothing is changed until you apply it.',
    view: 'paradoxes',
    params: { tab: 'lab', event: EVENT, action: 'cancel' },
  },
  {
    title: 'Verify it yourself',
    text: 'Your browser checks the proofs. Keep a checkpoint: nobody can change history before it unnoticed.',
    view: 'integrity',
    params: {},
  },
];

/** Returns which step an address names, from 1; null where it names none. */
export function stepOf(text: string | null): number | null {
  const step = Number(text ?? NaN);
  return Number.isInteger(step) && step >= 1 && step <= STEPS.length ? step : null;
}
