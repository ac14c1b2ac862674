/** The zone in which times are displayed: UTC unless the URL names another. Requests and responses always use UTC. */
import { HOUR, MINUTE, type Micros } from './instant';
import { offsetAt, offsetText } from '../places/place';

/** The zone at the location of the timeline's clock. */
export const PLACE = 'place';
export const UTC = 'UTC';

const FIXED = /^([+-])(\d{2}):(\d{2})$/;
const FIXED_HOURS_MAX = 18;

/** The clock's location: its zone, or only its current UTC offset. */
interface Place {
  name: string;
  zone: string | null;
  offset: Micros;
}

export class DisplayZone {
  /** `UTC`, `place`, an offset such as `+05:30`, or a zone name such as `America/New_York`. */
  choice: string;
  place = $state.raw<Place | null>(null);

  constructor(choice = UTC) {
    this.choice = $state(choice);
  }

  /** Returns the UTC offset at an instant. */
  offset(instant: Micros): Micros {
    const { choice, place } = this;
    if (choice === UTC) return 0n;
    if (choice !== PLACE) return fixedOffset(choice) ?? offsetAt(choice, instant);
    if (place === null) return 0n;
    return place.zone === null ? place.offset : offsetAt(place.zone, instant);
  }

  /** Returns an instant shifted to local time, to be formatted as if it were UTC. */
  at(instant: Micros): Micros {
    return this.choice === UTC ? instant : instant + this.offset(instant);
  }

  /** Returns the instant of a local time. A time in the spring gap maps to one after the gap. */
  from(local: Micros): Micros {
    if (this.choice === UTC) return local;
    return local - this.offset(local - this.offset(local));
  }

  /** Returns the UTC offset at an instant in words: `UTC`, `UTC−5`. */
  label(instant: Micros): string {
    return offsetText(this.offset(instant));
  }

  /** Returns the offset label of a range, or the zone name if the offset may change within it. */
  span(from: Micros, to: Micros): string {
    const label = this.label(from);
    // A longer range may contain a switch to daylight saving time and back.
    return to - from < 2_000n * HOUR && label === this.label(to) ? label : this.name;
  }

  /** Display name of the zone. */
  get name(): string {
    if (this.choice === PLACE) return this.place?.name ?? UTC;
    return nameOf(this.choice);
  }
}

export const zone = new DisplayZone();

/** Returns the display name of a zone. */
export function nameOf(choice: string): string {
  return choice === UTC ? UTC : fixedOffset(choice) === null ? choice.replaceAll('_', ' ') : `UTC${choice}`;
}

/** Parses an offset such as `+05:30`; null if invalid. */
export function fixedOffset(text: string): Micros | null {
  const parts = FIXED.exec(text);
  if (parts === null || Number(parts[2]) > FIXED_HOURS_MAX || Number(parts[3]) > 59) return null;
  const size = BigInt(Number(parts[2])) * HOUR + BigInt(Number(parts[3])) * MINUTE;
  return parts[1] === '-' ? -size : size;
}

/** Whether this browser knows the zone. */
export function isZone(text: string): boolean {
  if (text === UTC || text === PLACE || fixedOffset(text) !== null) return true;
  if (FIXED.test(text)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
