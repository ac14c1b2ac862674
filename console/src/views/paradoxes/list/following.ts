/** How a list of paradoxes follows what the stream tells of them, so that nothing has to be asked anew. */
import type { Count, Paradox, ParadoxesBody } from '../paradox';

/** What the stream tells of one paradox. */
export interface ParadoxUpdate {
  position: number;
  change: 'created' | 'resolved';
  paradox: Paradox;
}

/** Which paradoxes are listed: those of some kinds, or all that are none but observations, or these too. */
export interface Choice {
  kinds: readonly string[];
  observations: boolean;
}

function isChosen(paradox: Paradox, choice: Choice): boolean {
  if (choice.kinds.length > 0) return choice.kinds.includes(paradox.code) || choice.kinds.includes(paradox.kind);
  return choice.observations || !paradox.is_observation;
}

/** The order of lists: by the first record that shows it, then code, then ids. */
function isBefore(a: Paradox, b: Paradox): boolean {
  if (a.first !== b.first) return a.first < b.first;
  return a.code === b.code ? a.events.join('\n') < b.events.join('\n') : a.code < b.code;
}

function recount(counts: Record<string, Count>, { code, kind, grade }: Paradox, by: 1 | -1): Record<string, Count> {
  const grades = { ...counts[code]?.grades };
  grades[grade] = Math.max(0, (grades[grade] ?? 0) + by);
  return { ...counts, [code]: { kind, grades } };
}

/** Returns list and counts after something was told. What the list knows already changes nothing. */
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
  // What belongs behind the end of a list that has more pages comes with these.
  if (after < 0 && body.has_more) return { body: counted, list: others };
  others.splice(after < 0 ? others.length : after, 0, paradox);
  return { body: counted, list: others };
}

/** Returns a list with the next page behind it. What came by the stream meanwhile is not there twice. */
export function append(list: readonly Paradox[], page: readonly Paradox[]): Paradox[] {
  const known = new Set(list.map((paradox) => paradox.key));
  return [...list, ...page.filter((paradox) => !known.has(paradox.key))];
}
