/** Schedule texts of timers. */
import { cronText, ruleText } from './schedule';
import type { Timer } from './timers';

/** A schedule, with its zone unless that is UTC. */
interface Schedule {
  /** A sentence if one describes the schedule exactly; otherwise the rule or expression. */
  text: string;
  /** The rule or expression of the timer; null if it fires once. */
  written: string | null;
  isSentence: boolean;
}

export function scheduleOf({ every, cron }: Timer): Schedule {
  const [written, zone] = every ? [every.rule, every.zone] : cron ? [cron.expression, cron.zone] : [null, 'UTC'];
  if (written === null) return { text: 'once', written, isSentence: true };
  const sentence = every ? ruleText(written) : cronText(written);
  const text = sentence ?? written;
  return { text: zone === 'UTC' ? text : `${text} · ${zone}`, written, isSentence: sentence !== null };
}
