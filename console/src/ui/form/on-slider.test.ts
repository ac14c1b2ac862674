import { expect, it } from 'vitest';
import { onSlider } from './on-slider';

it('mark is at the center of the thumb, which stays within the slider', () => {
  expect(onSlider(0)).toBe('calc(9px + 0 * (100% - 18px))');
  expect(onSlider(0.5)).toBe('calc(9px + 0.5 * (100% - 18px))');
  expect(onSlider(1)).toBe('calc(9px + 1 * (100% - 18px))');
});

it('mark outside the range is at the nearest end', () => {
  expect(onSlider(-0.02)).toBe(onSlider(0));
  expect(onSlider(7)).toBe(onSlider(1));
  expect(onSlider(NaN)).toBe(onSlider(0));
});
