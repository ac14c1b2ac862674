import { describe, expect, it } from 'vitest';
import { wrongParams } from '../../lib/address/deep-link';
import { FORK, stepOf, stepsFor } from './steps';

describe('the tour', () => {
  it('has only links that their views understand', () => {
    for (const [index, { view, params }] of stepsFor(true).entries())
      expect(wrongParams(view, { ...params, tour: String(index + 1) })).toEqual([]);
  });

  it('leaves out the fork where it is gone', () => {
    expect(stepsFor(true).filter((step) => step.params.timeline === FORK)).toHaveLength(2);
    expect(stepsFor(false).filter((step) => step.params.timeline === FORK)).toEqual([]);
  });

  it('has no step beyond its ends', () => {
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
