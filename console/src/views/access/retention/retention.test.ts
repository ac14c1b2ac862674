import { describe, expect, it } from 'vitest';
import { expiryIssue } from '../../../lib/timelines/expiry';
import { choices, effectText, retentionText, periodIssue, secondsText } from './retention';

describe('a period', () => {
  it('is formatted in words', () => {
    expect([null, 'P90D', 'PT3600S', 'P1D'].map(retentionText)).toEqual([
      'forever',
      'for 90 days',
      'for 1 hour',
      'for 1 day',
    ]);
    expect(secondsText(86_400)).toBe('1 day');
  });

  it('that is typed has a minimum, and the same length everywhere', () => {
    expect(['90d', '36h', 'P90D', '1d12h'].map((text) => periodIssue(text, 86_400))).toEqual([null, null, null, null]);
    expect(periodIssue('23h', 86_400)).toBe('This service keeps them for at least 1 day.');
    expect(periodIssue('23h', null)).toBeNull();
    for (const text of ['P1M', 'P1Y', '3 months', '1y', '2 years', 'P1Y2M'])
      expect(periodIssue(text, null), text).toContain('Months and years differ');
    for (const text of ['90', 'ninety', '90x', '', '-3d']) expect(periodIssue(text, null), text).not.toBeNull();
    expect(periodIssue('0.5s', 0)).toBe('Write whole seconds.');
  });

  it('is offered if the service allows it or it is in force', () => {
    expect(choices(null, 0).map(([period]) => period)).toEqual(['', 'P1D', 'P7D', 'P30D', 'P90D', 'P365D', 'other']);
    expect(choices('P10D', 8 * 86_400).map(([period]) => period)).toEqual([
      '',
      'P10D',
      'P30D',
      'P90D',
      'P365D',
      'other',
    ]);
    // A period in force is offered even if it is shorter than the service now allows.
    expect(choices('PT1S', 86_400)[1]).toEqual(['PT1S', 'For 1 second']);
  });
});

describe('a change of retention', () => {
  it('describes its effect on existing entries', () => {
    expect(effectText('reads', 'P90D', 'P90D')).toBeNull();
    expect(effectText('reads', null, null)).toBeNull();
    expect(effectText('reads', 'P7D', '1w')).toBeNull();
    expect(effectText('reads', null, 'P90D')).toContain('Existing entries are kept forever, as before.');
    expect(effectText('rejections', 'P90D', 'P7D')).toContain('new entries. Existing entries are kept for 90 days');
    expect(effectText('rejections', 'P90D', null)).toBe(
      'Rejected attempts: the longer time also applies to existing entries.',
    );
    expect(effectText('reads', 'P7D', 'nonsense')).toBeNull();
  });
});

describe('the lifetime of a timeline', () => {
  it('is between one second and ten years', () => {
    expect(['1s', '90m', '3660d'].map(expiryIssue)).toEqual([null, null, null]);
    expect(expiryIssue('0.1s')).toContain('at least one second');
    expect(expiryIssue('3661d')).toContain('at most 3,660 days');
    expect(expiryIssue('P1M')).toContain('Months and years differ');
    expect(expiryIssue('soon')).toContain('Write a number with a unit');
  });
});
