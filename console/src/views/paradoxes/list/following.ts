/** Applies updates of the stream to a list of paradoxes, so that it is not read again. */
import type { Count, Paradox, ParadoxesBody } from '../paradox';

/** A stream message about one paradox. */
export interface ParadoxUpdate {
  position: number;
  change: 'created' | 'resolved';
  paradox: Paradox;
}

/** Which paradoxes are listed: selected kinds, or all kinds with or without observations. */
export interface Choice {
  kinds: readonly string[];
  observations: boolean;
}

function isChosen(paradox: Paradox, choice: Choice): boolean {
  if (choice.kinds.length > 0) return choice.kinds.includes(paradox.code) || choice.kinds.includes(paradox.kind);
  return choice.observations || !paradox.is_observation;
}

/** The order of lists: by the first record that shows the paradox, then code, then ids. */
function isBefore(a: Paradox, b: Paradox): boolean {
  if (a.first !== b.first) return a.first < b.first;
  return a.code === b.code ? a.events.join('\n') < b.events.join('\n') : a.code < b.code;
}

function recount(counts: Record<string, Count>, { code, kind, grade }: Paradox, by: 1 | -1): Record<string, Count> {
  const grades = { ...counts[code]?.grades };
  grades[grade] = Math.max(0, (grades[grade] ?? 0) + by);
  return { ...counts, [code]: { kind, grades } };
}

/** Returns the list and counts after an update. An update that is already included changes nothing. */
export function follow(
  body: ParadoxesBody,
  list: readonly Paradox[],
  update: ParadoxUpdate,
  choice: Choice,
): { body: ParadoxesBody; list: Paradox[] } {
  const { paradox } = update;
  if (update.position <= (body.as_of ?? -1)) return { body, list: [...list] };
  const which = paradox.is_observation ? 'observations' : 'counts';
  const counted = { ...body, [which]: recount(body[which], paradox, update.change === 'created' ? 1 : -1) };
  const others = list.filter((each) => each.key !== paradox.key);
  if (update.change === 'resolved' || !isChosen(paradox, choice)) return { body: counted, list: others };
  const after = others.findIndex((each) => isBefore(paradox, each));
  // A paradox after the end of a partial list arrives with a later page.
  if (after < 0 && body.has_more) return { body: counted, list: others };
  others.splice(after < 0 ? others.length : after, 0, paradox);
  return { body: counted, list: others };
}

/** Appends the next page. Paradoxes that the stream added meanwhile are not duplicated. */
export function append(list: readonly Paradox[], page: readonly Paradox[]): Paradox[] {
  const known = new Set(list.map((paradox) => paradox.key));
  return [...list, ...page.filter((paradox) => !known.has(paradox.key))];
}
