/** Whether the service can be reached, as far as requests and streams have told. */
class Reach {
  /** Counts how often it came back. What failed because it was away is asked again when this grows. */
  returns = $state(0);
  #isAway = false;

  failed(): void {
    this.#isAway = true;
  }

  worked(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.returns += 1;
  }
}

export const reach = new Reach();
