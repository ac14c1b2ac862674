/** Texts about a timer on two timelines. */
import { parse } from '../../lib/time/instant';
import { momentText } from '../../lib/time/display';
import type { Timer } from '../../lib/timers/timers';
import { scheduleOf } from '../../lib/timers/schedule-of';
import { isRepeating } from '../../lib/timers/words';

/** Returns when and by which rule a timer fires next, or its final state. */
export function timerText(timer: Timer): string {
  const next = timer.next ? parse(timer.next) : null;
  if (next === null) return timer.state;
  return isRepeating(timer) ? `${momentText(next)}, ${scheduleOf(timer).text}` : momentText(next);
}

/** Returns the fields in which two timers with the same name differ. */
export function timerDifferences(a: Timer, b: Timer): string {
  const parts: [string, (timer: Timer) => unknown][] = [
    ['state', ({ state }) => state],
    // Only compared if the states match, because a finished timer has no next firing.
    ['next firing', ({ next }) => (a.state === b.state ? (next ?? null) : null)],
    ['schedule', ({ at, every, cron, misfire }) => [at ?? null, every ?? null, cron ?? null, misfire ?? null]],
    ['delivery', ({ deliver }) => deliver],
    ['payload', ({ payload }) => payload],
    ['order', ({ order_key }) => order_key ?? null],
  ];
  const apart = parts.filter(([, of]) => JSON.stringify(of(a)) !== JSON.stringify(of(b)));
  return apart.map(([word]) => word).join(', ');
}
