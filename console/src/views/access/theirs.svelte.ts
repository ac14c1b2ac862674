/** What belongs to somebody: to oneself, or for operators to whom the address names. */
import { Reading } from '../../lib/service/reading.svelte';
import { route } from '../../lib/address/route.svelte';
import { session } from '../../lib/session/session.svelte';

/** Reads it anew whenever it is somebody else's. Made while a component is, and ends with it. */
export class Theirs<T> {
  readonly whose = $derived((session.isOperator ? route.get('user') : null) ?? session.user ?? '');
  readonly isOwn = $derived(this.whose === session.user);
  readonly reading: Reading<T>;

  constructor(ask: (query: { user_id?: string }, signal: AbortSignal) => Promise<T>) {
    this.reading = new Reading((signal) => ask(this.isOwn ? {} : { user_id: this.whose }, signal));
    $effect(() => {
      void this.whose;
      this.reading.body = null;
      void this.reading.read();
      return () => this.reading.stop();
    });
  }
}
