/** What is said of when a timer fires. */
import { cronText, ruleText } from './schedule';
import type { Timer } from './timers';

/** By what a timer fires, with the zone where that is not UTC. */
interface Schedule {
  /** A sentence where there is one that says it, else the rule or the expression. */
  text: string;
  /** The rule or the expression, as the timer has it; null if it fires once. */
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
