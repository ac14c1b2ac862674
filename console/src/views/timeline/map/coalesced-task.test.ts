import { describe, expect, it } from 'vitest';
import { CoalescedTask } from './coalesced-task';

/** Work that ends on demand and counts its runs. */
function work(): { begun: number; end: () => void; run: () => Promise<void> } {
  const created = {
    begun: 0,
    end: (): void => {},
    run: (): Promise<void> => {
      created.begun += 1;
      return new Promise((done) => (created.end = done));
    },
  };
  return created;
}
const turn = (): Promise<void> => new Promise((done) => setTimeout(done));

describe('work that runs to completion', () => {
  it('is not started while it is running, but once more after that, regardless of the number of requests', async () => {
    const [all, task] = [new CoalescedTask(), work()];
    all.setTask(task.run);
    void all.run();
    for (let attempt = 0; attempt < 5; attempt += 1) void all.run();
    expect(task.begun).toBe(1);
    task.end();
    await turn();
    expect(task.begun).toBe(2);
    task.end();
    await turn();
    expect(task.begun).toBe(2);
    void all.run();
    expect(task.begun).toBe(3);
  });

  it('is replaced immediately', async () => {
    const [all, task, two] = [new CoalescedTask(), work(), work()];
    all.setTask(task.run);
    void all.run();
    void all.run();
    all.setTask(two.run);
    void all.run();
    expect([task.begun, two.begun]).toEqual([1, 1]);
    task.end();
    await turn();
    expect(task.begun).toBe(1);
    void all.run();
    two.end();
    await turn();
    expect(two.begun).toBe(2);
  });

  it('does nothing without work', async () => {
    const [all, task] = [new CoalescedTask(), work()];
    all.setTask(task.run);
    all.setTask(null);
    await all.run();
    expect(task.begun).toBe(0);
  });
});
