/** Whether the service is reachable, according to requests and streams. */
class Reach {
  /** Number of reconnections. Failed requests are retried when it increases. */
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
