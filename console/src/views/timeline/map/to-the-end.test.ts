import { describe, expect, it } from 'vitest';
import { ToTheEnd } from './to-the-end';

/** Work that ends on demand and counts its runs. */
function work(): { begun: number; end: () => void; run: () => Promise<void> } {
  const made = {
    begun: 0,
    end: (): void => {},
    run: (): Promise<void> => {
      made.begun += 1;
      return new Promise((done) => (made.end = done));
    },
  };
  return made;
}
const turn = (): Promise<void> => new Promise((done) => setTimeout(done));

describe('work that runs to completion', () => {
  it('is not started while it is running, but once more after that, regardless of the number of requests', async () => {
    const [all, one] = [new ToTheEnd(), work()];
    all.become(one.run);
    void all.again();
    for (let attempt = 0; attempt < 5; attempt += 1) void all.again();
    expect(one.begun).toBe(1);
    one.end();
    await turn();
    expect(one.begun).toBe(2);
    one.end();
    await turn();
    expect(one.begun).toBe(2);
    void all.again();
    expect(one.begun).toBe(3);
  });

  it('is replaced immediately', async () => {
    const [all, one, two] = [new ToTheEnd(), work(), work()];
    all.become(one.run);
    void all.again();
    void all.again();
    all.become(two.run);
    void all.again();
    expect([one.begun, two.begun]).toEqual([1, 1]);
    one.end();
    await turn();
    expect(one.begun).toBe(1);
    void all.again();
    two.end();
    await turn();
    expect(two.begun).toBe(2);
  });

  it('does nothing without work', async () => {
    const [all, one] = [new ToTheEnd(), work()];
    all.become(one.run);
    all.become(null);
    await all.again();
    expect(one.begun).toBe(0);
  });
});
