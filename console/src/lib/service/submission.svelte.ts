/** A form that is sent: whether it is under way, and why it was refused. */
import { wrongWith } from './api';

export class Submission {
  isBusy = $state(false);
  error = $state.raw<unknown>(null);

  /** Does what the form is for, instead of what the browser would do with it. What is thrown is kept as the error. */
  async send(event: SubmitEvent, act: () => Promise<void>): Promise<void> {
    event.preventDefault();
    this.isBusy = true;
    this.error = null;
    try {
      await act();
    } catch (thrown) {
      this.error = thrown;
    } finally {
      this.isBusy = false;
    }
  }

  /** Returns what the service found wrong with a field, or null. */
  wrong(name: string): string | null {
    return wrongWith(this.error, name);
  }

  /** Returns the error, unless one of these fields shows it beside itself. */
  generalError(...names: string[]): unknown {
    return names.some((name) => this.wrong(name) !== null) ? null : this.error;
  }
}
