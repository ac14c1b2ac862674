import { expect, it } from 'vitest';
import { onSlider } from './on-slider';

it('a mark is where the middle of the thumb is for it, which never leaves the slider by half', () => {
  expect(onSlider(0)).toBe('calc(9px + 0 * (100% - 18px))');
  expect(onSlider(0.5)).toBe('calc(9px + 0.5 * (100% - 18px))');
  expect(onSlider(1)).toBe('calc(9px + 1 * (100% - 18px))');
});

it('a mark of what is before its begin or after its end stands there', () => {
  expect(onSlider(-0.02)).toBe(onSlider(0));
  expect(onSlider(7)).toBe(onSlider(1));
  expect(onSlider(NaN)).toBe(onSlider(0));
});
