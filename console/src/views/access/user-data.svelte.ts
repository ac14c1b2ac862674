/** Data of a user: the current one or, for operators, the one that the URL names. */
import { Reading } from '../../lib/service/reading.svelte';
import { route } from '../../lib/address/route.svelte';
import { session } from '../../lib/session/session.svelte';

/** Reads again when the user changes. Must be created during component initialization; closes with the component. */
export class UserData<T> {
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
