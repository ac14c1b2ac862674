/**
 * In which time zone times are shown: UTC unless the address says otherwise. What the service gets and sends is always
 * UTC; this is for eyes only.
 */
import { HOUR, MINUTE, type Micros } from './instant';
import { offsetAt, offsetText } from '../places/place';

/** The zone of the place that the clock of the timeline is at. */
export const PLACE = 'place';
export const UTC = 'UTC';

const FIXED = /^([+-])(\d{2}):(\d{2})$/;
const FIXED_HOURS_MAX = 18;

/** What is known of the place of the clock: its zone, or only how far it is from UTC now. */
interface Place {
  name: string;
  zone: string | null;
  offset: Micros;
}

export class DisplayZone {
  /** `UTC`, `place`, an offset such as `+05:30`, or a name such as `America/New_York`. */
  choice: string;
  place = $state.raw<Place | null>(null);

  constructor(choice = UTC) {
    this.choice = $state(choice);
  }

  /** How far what is shown is from UTC at a moment. */
  offset(instant: Micros): Micros {
    const { choice, place } = this;
    if (choice === UTC) return 0n;
    if (choice !== PLACE) return fixedOffset(choice) ?? offsetAt(choice, instant);
    if (place === null) return 0n;
    return place.zone === null ? place.offset : offsetAt(place.zone, instant);
  }

  /** A moment as the calendar has it there: what to write out instead of UTC. */
  at(instant: Micros): Micros {
    return this.choice === UTC ? instant : instant + this.offset(instant);
  }

  /** Returns the moment at which the calendar there says so. In the hour that is left out in spring, one after it. */
  from(local: Micros): Micros {
    if (this.choice === UTC) return local;
    return local - this.offset(local - this.offset(local));
  }

  /** Returns how far from UTC it is at a moment, in words: `UTC`, `UTC−5`. */
  label(instant: Micros): string {
    return offsetText(this.offset(instant));
  }

  /** Returns the same for a time from one moment to another; what people call it where that may differ in between. */
  span(from: Micros, to: Micros): string {
    const label = this.label(from);
    // In a longer time clocks may be put forward and back again.
    return to - from < 2_000n * HOUR && label === this.label(to) ? label : this.name;
  }

  /** What people call it. */
  get name(): string {
    if (this.choice === PLACE) return this.place?.name ?? UTC;
    return nameOf(this.choice);
  }
}

export const zone = new DisplayZone();

/** Returns what people call a zone. */
export function nameOf(choice: string): string {
  return choice === UTC ? UTC : fixedOffset(choice) === null ? choice.replaceAll('_', ' ') : `UTC${choice}`;
}

/** Returns the offset that a text such as `+05:30` is, or null. */
export function fixedOffset(text: string): Micros | null {
  const parts = FIXED.exec(text);
  if (parts === null || Number(parts[2]) > FIXED_HOURS_MAX || Number(parts[3]) > 59) return null;
  const size = BigInt(Number(parts[2])) * HOUR + BigInt(Number(parts[3])) * MINUTE;
  return parts[1] === '-' ? -size : size;
}

/** Returns whether this browser knows a zone of that name. */
export function isZone(text: string): boolean {
  if (text === UTC || text === PLACE || fixedOffset(text) !== null) return true;
  if (FIXED.test(text)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
