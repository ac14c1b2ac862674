import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { NextPicture } from './next-picture';

/** An animation frame at 60 fps. */
const FRAME_MS = 17;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => setTimeout(draw, FRAME_MS));
  vi.stubGlobal('cancelAnimationFrame', clearTimeout);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function setUp(): { picture: NextPicture; drawn: () => number } {
  const draw = vi.fn();
  return { picture: new NextPicture(draw), drawn: () => draw.mock.calls.length };
}

it('repeated requests draw once per frame', () => {
  const { picture, drawn } = setUp();
  for (let time = 0; time < 5; time += 1) picture.ask();
  expect(drawn()).toBe(0);
  vi.advanceTimersByTime(FRAME_MS);
  expect(drawn()).toBe(1);
});

it('throttled requests wait, others do not', () => {
  const { picture, drawn } = setUp();
  picture.ask(70);
  vi.advanceTimersByTime(FRAME_MS);
  expect(drawn()).toBe(1);
  picture.ask(70);
  vi.advanceTimersByTime(2 * FRAME_MS);
  expect(drawn()).toBe(1);
  picture.ask();
  vi.advanceTimersByTime(FRAME_MS);
  expect(drawn()).toBe(2);
  vi.advanceTimersByTime(200);
  expect(drawn()).toBe(2);
  picture.ask(70);
  vi.advanceTimersByTime(70 + FRAME_MS);
  expect(drawn()).toBe(3);
});

it('continuous requests do not prevent drawing', () => {
  const { picture, drawn } = setUp();
  for (let time = 0; time < 100; time += 1) {
    picture.ask(70);
    vi.advanceTimersByTime(5);
  }
  expect(drawn()).toBeGreaterThanOrEqual(4);
});

it('nothing is drawn after stop', () => {
  const { picture, drawn } = setUp();
  picture.ask();
  picture.stop();
  vi.advanceTimersByTime(200);
  expect(drawn()).toBe(0);
});
