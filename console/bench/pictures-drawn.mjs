/** Measures how fast a canvas follows input, by the frames in which it was drawn. */

/** Time between direction changes of the oscillating pointer. */
const TURN_MS = 1_100;
const WHEEL_TURN_MS = 1_250;
const WHEEL_PIXELS = 40;

/** Performs an action for a while and returns the sorted times between canvas frames in milliseconds. */
async function gapsBetween(page, selector, forMs, act) {
  await page.evaluate((path) => {
    const context = document.querySelector(path).getContext('2d');
    window.drawnAt = [];
    // Each draw begins with this call. Several draws within one browser frame count once.
    context.clearRect = (...part) => {
      const at = document.timeline.currentTime;
      if (window.drawnAt.at(-1) !== at) window.drawnAt.push(at);
      CanvasRenderingContext2D.prototype.clearRect.apply(context, part);
    };
  }, selector);
  const began = performance.now();
  for (let passed = 0; passed < forMs; passed = performance.now() - began) await act(passed);
  const drawnAt = await page.evaluate((path) => {
    delete document.querySelector(path).getContext('2d').clearRect;
    return window.drawnAt;
  }, selector);
  if (drawnAt.length < 2) throw new Error(`${selector} was not drawn while it was moved`);
  const gaps = drawnAt.slice(1).map((at, index) => at - drawnAt[index]);
  return gaps.sort((a, b) => a - b);
}

/** `slow` is the frame rate that 95% of the frames reach. */
function summaryOf(gaps) {
  const rate = (share) => Math.round(10_000 / gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))]) / 10;
  return { fps: rate(0.5), slow: rate(0.95), worst_ms: Math.round(gaps.at(-1)), pictures: gaps.length };
}

/** A triangle wave from 1 to -1: constant speed, because a resting pointer does not cause drawing. */
const swing = (passed) => 4 * Math.abs(((passed / TURN_MS / 2) % 1) - 0.5) - 1;

async function middle(page, selector) {
  const { x, y, width, height } = await page.locator(selector).first().boundingBox();
  return { x: x + width / 2, y: y + height * 0.6, width };
}

/** Drags back and forth over a fraction of the width of a canvas. */
export async function drag(page, selector, forMs, part = 0.9) {
  const { x, y, width } = await middle(page, selector);
  await page.mouse.move(x + (width * part) / 2, y);
  await page.mouse.down();
  const gaps = await gapsBetween(page, selector, forMs, (passed) =>
    page.mouse.move(x + (swing(passed) * width * part) / 2, y),
  );
  await page.mouse.up();
  return summaryOf(gaps);
}

/** Zooms in and out with the wheel. */
export async function zoom(page, selector, forMs) {
  const { x, y } = await middle(page, selector);
  await page.mouse.move(x, y);
  // Input is handled two frames later, so two wheel events are always pending.
  let before = Promise.resolve();
  const gaps = await gapsBetween(page, selector, forMs, async (passed) => {
    const turned = page.mouse.wheel(0, passed % (2 * WHEEL_TURN_MS) < WHEEL_TURN_MS ? -WHEEL_PIXELS : WHEEL_PIXELS);
    await before;
    before = turned;
  });
  await before;
  return summaryOf(gaps);
}

/**
 * The maximum frame rate of this browser on this machine: a line that follows pointer and wheel, on an otherwise empty
 * page.
 */
export async function floor(context, size, forMs) {
  const page = await context.newPage();
  await page.setViewportSize(size);
  await page.setContent('<body style="margin: 0"><canvas></canvas>');
  await page.evaluate(({ width, height }) => {
    const canvas = document.querySelector('canvas');
    Object.assign(canvas, { width, height });
    const line = canvas.getContext('2d');
    const draw = (x) =>
      requestAnimationFrame(() => {
        line.clearRect(0, 0, width, height);
        line.fillRect(x, 0, 1, height);
      });
    canvas.addEventListener('pointermove', ({ offsetX }) => draw(offsetX));
    const turned = (event) => {
      event.preventDefault();
      draw(event.offsetX);
    };
    canvas.addEventListener('wheel', turned, { passive: false });
  }, size);
  const most = { drag: await drag(page, 'canvas', forMs), zoom: await zoom(page, 'canvas', forMs) };
  await page.close();
  return most;
}
