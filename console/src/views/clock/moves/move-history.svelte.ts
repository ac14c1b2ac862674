/** The moves of this session, which survive a reload. The selected one is in the URL. */
import { route } from '../../../lib/address/route.svelte';
import { isSameMove, moveOf, moveParams, withMove, type Move } from './moves';

export class MoveHistory {
  /** Latest first. */
  moves = $state.raw<readonly Move[]>([]);
  readonly #name: string;

  constructor(timeline: string) {
    this.#name = `timenav.moves.${timeline}`;
    this.moves = readStored(this.#name);
  }

  /** Adds a move and selects it. */
  note(move: Move): void {
    if (move.from === move.to) return;
    this.moves = withMove(this.moves, move);
    route.set(moveParams(move));
    try {
      sessionStorage.setItem(this.#name, JSON.stringify(this.moves.map(moveParams)));
    } catch {
      // If storage is unavailable, the moves do not survive a reload.
    }
  }

  /** Updates the end of a known advance once it is over. */
  correct(move: Move): void {
    const known = this.moves.find((entry) => isSameMove(entry, move));
    if (known?.to !== move.to) this.note(move);
  }
}

function readStored(name: string): Move[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(name) ?? '[]');
    if (!Array.isArray(found)) return [];
    return (found as Partial<ReturnType<typeof moveParams>>[]).flatMap((entry) => {
      const move = moveOf(entry.passed ?? null, entry.advance ?? null);
      return move === null ? [] : [move];
    });
  } catch {
    return [];
  }
}
