import { expect, it } from 'vitest';
import { fittingResolution, isCoarse } from './map-cells.svelte';
import { Nearer } from './nearer';
import { WORLD } from './map-view';

const size = { width: 1_200, height: 500 };
const cell = { key: '', south: 40, west: -80, north: 50, east: -70, count: 117_127 };
const cells = { resolution: 10, cells: [cell], classes: [1], placed: cell.count, looked: cell.count };

it('cells of the whole earth are too coarse once the map has come nearer', () => {
  const near = new Nearer().to(cells, WORLD, size)!;
  expect(isCoarse({ resolution: fittingResolution(WORLD, size) }, WORLD, size)).toBe(false);
  expect(isCoarse({ resolution: fittingResolution(near, size) }, near, size)).toBe(false);
  expect(isCoarse(cells, near, size)).toBe(true);
});

it('a map comes nearer as often as it goes, however often it asks', () => {
  const nearer = new Nearer();
  for (let time = 0; time < 8; time += 1) expect(nearer.to(cells, WORLD, size)).not.toBeNull();
  for (let time = 0; time < 3; time += 1) nearer.went();
  expect(nearer.to(cells, WORLD, size)).toBeNull();
});
