import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { timestampIssue } from '../../lib/timestamp';
import { rangeIssue, splitRange } from './formats';
import { exampleOf, inWords, resolve, validate, type Schema, type Schemas } from './schema';

const ID = '^[0-9A-Za-z][0-9A-Za-z._:@-]{0,127}$';
const schemas: Schemas = {
  Word: { type: 'string', enum: ['tell', 'refuse'], description: 'A word.' },
  Effect: {
    oneOf: [
      { type: 'object', required: ['kind'], properties: { kind: { type: 'string', enum: ['cancel'] } } },
      {
        type: 'object',
        required: ['kind', 'duration'],
        properties: { kind: { type: 'string', enum: ['delay'] }, duration: { type: 'string', example: '2h' } },
      },
    ],
  },
};
const body: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['timeline_id'],
  properties: {
    timeline_id: { type: 'string', pattern: ID, not: { const: 'system' }, example: 'main' },
    limit: { type: ['integer', 'null'], minimum: 1, maximum: 1000 },
    on_paradox: { oneOf: [{ $ref: '#/components/schemas/Word', description: 'What then.' }, { type: 'null' }] },
    effect: { oneOf: [{ $ref: '#/components/schemas/Effect' }, { type: 'null' }] },
    scopes: { type: ['array', 'null'], items: { type: 'string', enum: ['a', 'b'] }, maxItems: 2, uniqueItems: true },
  },
};
const told = (value: unknown): string[] =>
  validate(body, value, schemas).map((issue) => `${issue.pointer} ${issue.message}`);

describe('validation', () => {
  it('says nothing of what is right, and takes null as left out', () => {
    expect(
      told({
        timeline_id: 'main',
        limit: null,
        on_paradox: 'tell',
        effect: { kind: 'delay', duration: '2h' },
        scopes: ['a'],
      }),
    ).toEqual([]);
    expect(told({ timeline_id: 'main', on_paradox: null, effect: null })).toEqual([]);
  });

  it('says what would be right, where', () => {
    expect(told({})).toEqual(['#/timeline_id This is required.']);
    expect(told({ timeline_id: null })).toEqual(['#/timeline_id This is required.']);
    expect(told({ timeline_id: '-a' })).toEqual([
      '#/timeline_id Use 1 to 128 letters, digits or . _ - : @, and begin with a letter or digit.',
    ]);
    expect(told({ timeline_id: 'system' })[0]).toMatch(/reserved for the service/);
    expect(told({ timeline_id: 'main', limit: 5000 })).toEqual(['#/limit Use 1 to 1,000.']);
    expect(told({ timeline_id: 'main', limit: '5' })).toEqual(['#/limit This must be a whole number.']);
    expect(told({ timeline_id: 'main', on_paradox: 'x' })).toEqual(['#/on_paradox Use tell or refuse.']);
    expect(told({ timeline_id: 'main', scopes: ['a', 'a'] })).toEqual(['#/scopes List each only once.']);
    expect(told({ timeline_id: 'main', scopes: ['c'] })).toEqual(['#/scopes/0 Use a or b.']);
    expect(told({ timeline_id: 'main', limti: 5 })).toEqual(['#/limti limti is not known; did you mean limit?']);
  });

  it('looks into the variant that is meant', () => {
    expect(told({ timeline_id: 'main', effect: { kind: 'delay' } })).toEqual(['#/effect/duration This is required.']);
    expect(told({ timeline_id: 'main', effect: { kind: 'explode' } })).toEqual(['#/effect/kind Use cancel or delay.']);
  });

  it('names the fields of which one is needed', () => {
    const erase: Schema = {
      type: 'object',
      properties: { data_id: { type: ['string', 'null'] }, event_id: { type: ['string', 'null'] } },
      oneOf: [
        { required: ['data_id'], properties: { data_id: { type: 'string' }, event_id: { type: 'null' } } },
        { required: ['event_id'], properties: { event_id: { type: 'string' }, data_id: { type: 'null' } } },
      ],
    };
    expect(validate(erase, { data_id: 'd' }, {})).toEqual([]);
    for (const value of [{}, { data_id: 'd', event_id: 'e' }]) {
      expect(validate(erase, value, {})).toEqual([
        { pointer: '#', message: 'Give one of data_id or event_id, and only one.' },
      ]);
    }
  });

  it('keeps what is said beside a reference', () => {
    expect(resolve(body.properties!.on_paradox!, schemas)).toMatchObject({
      enum: ['tell', 'refuse'],
      description: 'What then.',
    });
  });

  it('makes examples that are valid', () => {
    const example = exampleOf(body, schemas);
    expect(example).toMatchObject({ timeline_id: 'main', scopes: ['a'] });
    expect(validate(body, example, schemas)).toEqual([]);
  });
});

describe('formats', () => {
  it('of timestamps ask for what is missing', () => {
    for (const right of [
      '2028-02-29T08:30:00Z',
      '-000043-03-15T00:00:00Z',
      '2028-02-29T08:30:00.5+02:00',
      '2028-02-29T08:30:00+01:00[Europe/Paris]',
    ])
      expect(timestampIssue(right)).toBeNull();
    expect(timestampIssue('2028-02-29')).toBe('Add a time and a zone: 2028-02-29T00:00:00Z');
    expect(timestampIssue('2028-02-29T08:30:00')).toBe('Add a zone: 2028-02-29T08:30:00Z is UTC.');
    expect(timestampIssue('-0043-03-15T00:00:00Z')).toBe('Years before 0 have six digits: -000043-03-15T00:00:00Z');
    expect(timestampIssue('tomorrow')).toMatch(/^Write a date/);
    expect(timestampIssue('2027-02-29T00:00:00Z')).not.toBeNull();
  });

  it('of ranges name the end that is wrong', () => {
    for (const right of ['../..', '2028-01-01T00:00:00Z/..', '1d/2028-01-01T00:00:00Z', '2028-01-01T00:00:00Z/P1M'])
      expect(rangeIssue(right)).toBeNull();
    expect(rangeIssue('2028-01-01T00:00:00Z')).toMatch(/slash/);
    expect(rangeIssue('../2028-01-01')).toMatch(/^The end: Add a time/);
    expect(rangeIssue('1d/..')).toMatch(/must be a moment/);
    expect(rangeIssue('2028-01-01T00:00:00Z/1.5d12h')).toBe('The end: Only the last number can have a fraction.');
    expect(rangeIssue('2028-01-02T00:00:00Z/2028-01-01T00:00:00Z')).toBe('The end is before the start.');
    expect(splitRange('2028-01-01T00:00:00+01:00[Europe/Paris]/..')).toEqual([
      '2028-01-01T00:00:00+01:00[Europe/Paris]',
      '..',
    ]);
  });
});

describe('patterns', () => {
  it('of the document are all said in words', () => {
    const patterns = new Set<string>();
    JSON.parse(readFileSync('../docs/api/openapi.json', 'utf8'), (name, value: unknown) => {
      if (name === 'pattern' && typeof value === 'string') patterns.add(value);
      return value;
    });
    expect(patterns.size).toBeGreaterThan(8);
    expect([...patterns].filter((pattern) => inWords(pattern) === undefined)).toEqual([]);
  });
});
