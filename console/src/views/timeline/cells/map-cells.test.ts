import { expect, it, vi } from 'vitest';
import { ALL } from '../../../lib/events/filter';
import type { TimelineModel } from '../model.svelte';
import { finerResolution, fittingResolution, isCoarse, MapCells } from './map-cells.svelte';
import { AutoZoom } from '../map/auto-zoom';
import { WORLD } from '../map/map-view';

const size = { width: 1_200, height: 500 };
const cell = { key: '', south: 40, west: -80, north: 50, east: -70, count: 117_127 };
const cells = { resolution: 10, cells: [cell], classes: [1], placed: cell.count, total: cell.count };

it('cells of the whole earth are too coarse after zooming in', () => {
  const near = new AutoZoom().to(cells, WORLD, size)!;
  expect(isCoarse({ resolution: fittingResolution(WORLD, size) }, WORLD, size)).toBe(false);
  expect(isCoarse({ resolution: fittingResolution(near, size) }, near, size)).toBe(false);
  expect(isCoarse(cells, near, size)).toBe(true);
});

it('a map moves automatically once per change, however often it is asked', () => {
  const autoZoom = new AutoZoom();
  for (let time = 0; time < 8; time += 1) expect(autoZoom.to(cells, WORLD, size)).not.toBeNull();
  for (let time = 0; time < 3; time += 1) autoZoom.moved();
  expect(autoZoom.to(cells, WORLD, size)).toBeNull();
});

it('cells of a wide map are as fine as those of a narrow map if few have events', () => {
  const wide = { width: 1_570, height: 480 };
  const fitting = fittingResolution(WORLD, wide);
  const found = (count: number) => ({ resolution: fitting, cells: Array.from({ length: count }, () => cell) });
  expect(finerResolution(found(60), WORLD, wide)).toBeLessThanOrEqual(fitting / 2);
  // No more cells fit on a map of the world.
  expect(finerResolution(found(990), WORLD, wide)).toBe(fitting);
  // A cell of a few pixels cannot be pointed at.
  expect(finerResolution(found(1), WORLD, wide)).toBeGreaterThanOrEqual((360 * 12) / 1_570);
});

it('cells counted before the initial load ends are not counted again', async () => {
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
  const fetched = vi.fn(() => Promise.resolve(new Response(JSON.stringify({ groups: [], groups_count: 0, count: 0 }))));
  vi.stubGlobal('fetch', fetched);
  const question = { timeline: 'demo', filter: ALL, box: null, asOf: null };
  const model = { question, version: 0, legend: null, playhead: null };
  const counted = new MapCells(model as unknown as TimelineModel);
  const count = (): Promise<void> =>
    counted.count({ from: 0n, to: 9n }, WORLD, size, { next: () => null, go: () => undefined });
  await count();
  const before = fetched.mock.calls.length;
  model.version = 1;
  await count();
  expect(fetched.mock.calls.length).toBe(before);
  model.version = 2;
  await count();
  expect(fetched.mock.calls.length).toBeGreaterThan(before);
  vi.unstubAllGlobals();
});
