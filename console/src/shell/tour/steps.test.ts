import { describe, expect, it } from 'vitest';
import { wrongParams } from '../../lib/address/deep-link';
import { FORK, stepOf, stepsFor } from './steps';

describe('tour', () => {
  it('has only valid links', () => {
    for (const [index, { view, params }] of stepsFor(true).entries())
      expect(wrongParams(view, { ...params, tour: String(index + 1) })).toEqual([]);
  });

  it('omits the fork if it does not exist', () => {
    expect(stepsFor(true).filter((step) => step.params.timeline === FORK)).toHaveLength(2);
    expect(stepsFor(false).filter((step) => step.params.timeline === FORK)).toEqual([]);
  });

  it('has no step outside its range', () => {
    expect(['1', '9', '0', '10', '1.5', 'x', null].map((text) => stepOf(text, 9))).toEqual([
      1,
      9,
      null,
      null,
      null,
      null,
      null,
    ]);
  });
});
