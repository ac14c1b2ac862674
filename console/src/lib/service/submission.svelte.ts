/** A form submission: whether it is pending, and its error. */
import { fieldErrorOf } from './api';

export class Submission {
  isBusy = $state(false);
  error = $state.raw<unknown>(null);

  /** Submits the form with `act` instead of natively. Stores what `act` throws in `error`. */
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

  /** Returns the validation error of a field, or null. */
  fieldError(name: string): string | null {
    return fieldErrorOf(this.error, name);
  }

  /** Returns the error, unless one of these fields displays it. */
  generalError(...names: string[]): unknown {
    return names.some((name) => this.fieldError(name) !== null) ? null : this.error;
  }
}
