/** The moves of this visit, which stay when the page is loaded again. The one that is shown is in the address. */
import { route } from '../../../lib/address/route.svelte';
import { isSameMove, moveOf, moveParams, withMove, type Move } from './moves';

export class Moved {
  /** The latest first. */
  moves = $state.raw<readonly Move[]>([]);
  readonly #name: string;

  constructor(timeline: string) {
    this.#name = `timenav.moves.${timeline}`;
    this.moves = readStored(this.#name);
  }

  /** Adds a move, and shows what it has changed. */
  note(move: Move): void {
    if (move.from === move.to) return;
    this.moves = withMove(this.moves, move);
    route.set(moveParams(move));
    try {
      sessionStorage.setItem(this.#name, JSON.stringify(this.moves.map(moveParams)));
    } catch {
      // Without room for it, they are gone when the page is loaded again.
    }
  }

  /** Adds how far a known advance came, once it is over. */
  correct(move: Move): void {
    const known = this.moves.find((one) => isSameMove(one, move));
    if (known?.to !== move.to) this.note(move);
  }
}

function readStored(name: string): Move[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(name) ?? '[]');
    if (!Array.isArray(found)) return [];
    return (found as Partial<ReturnType<typeof moveParams>>[]).flatMap((one) => {
      const move = moveOf(one.passed ?? null, one.advance ?? null);
      return move === null ? [] : [move];
    });
  } catch {
    return [];
  }
}
