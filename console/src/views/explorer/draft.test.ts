import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  addressOf,
  draftOf,
  emptyDraft,
  exampleDraft,
  issuesOf,
  rawOf,
  readJson,
  valuesOf,
  withoutSecrets,
  type Draft,
} from './draft';
import { controlOf, operationsOf, variantsOf, type Document, type Operation } from './openapi';
import { addressPart, requestOf } from './request';

// The document as it is: a new operation of the service must fit the form, too.
const document = JSON.parse(readFileSync('../docs/api/openapi.json', 'utf8')) as Document;
const operations = operationsOf(document);
const schemas = document.components?.schemas ?? {};
const find = (id: string): Operation => operations.find((operation) => operation.id === id)!;
const example = (id: string, draft = emptyDraft(find(id))): Draft => exampleDraft(find(id), draft, schemas);

describe('the document', () => {
  it('has all operations of the specification, and every operation once', () => {
    expect(operations.filter((operation) => operation.isSpec)).toHaveLength(19);
    expect(new Set(operations.map((operation) => operation.id)).size).toBe(operations.length);
    expect(operations[0]?.name).toBe('travel');
  });

  it('asks for each field in a way that fits it', () => {
    const control = (id: string, name: string): string => {
      const fields = [...find(id).extras, ...variantsOf(find(id), schemas).flatMap((variant) => variant.fields ?? [])];
      return controlOf(fields.find((field) => field.name === name)!);
    };
    expect(control('travel', 'destination_time')).toBe('timestamp');
    expect(control('manipulate_event', 'time')).toBe('timestamp');
    expect(control('fast_forward', 'duration')).toBe('duration');
    expect(control('monitor_events', 'time_range')).toBe('range');
    expect(control('travel', 'timeline_id')).toBe('timeline');
    expect(control('manipulate_event', 'on_paradox')).toBe('select');
    expect(control('manipulate_event', 'effect')).toBe('json');
    expect(control('manipulate_event', 'dry_run')).toBe('boolean');
    expect(control('create_api_key', 'scopes')).toBe('choices');
    expect(control('record_events', 'actors')).toBe('words');
    expect(control('record_events', 'causes')).toBe('json');
    expect(control('encrypt_data', 'encryption_key')).toBe('secret');
    expect(control('set_rate', 'rate')).toBe('number');
    expect(control('set_access_control', 'If-Match')).toBe('text');
  });

  it('has examples that its own schemas allow', () => {
    const wrong = operations.flatMap((operation) => {
      const filled = exampleDraft(operation, emptyDraft(operation), schemas);
      return issuesOf(operation, filled, schemas)
        .filter((issue) => issue.message !== 'This is required.' && issue.pointer !== 'file')
        .map((issue) => `${operation.id} ${issue.pointer} ${issue.message}`);
    });
    // What to erase was made before, so it cannot have an example.
    expect(wrong.filter((text) => !/^erase_(data|reads) /.test(text))).toEqual([]);
  });
});

describe('a draft', () => {
  it('comes back from its address as it was, for every operation', () => {
    for (const operation of operations) {
      const draft = { ...exampleDraft(operation, emptyDraft(operation), schemas) };
      const back = draftOf(operation, addressOf(operation, draft, schemas), schemas);
      const { data, ...rest } = valuesOf(withoutSecrets(operation, draft, schemas));
      const kept = operation.id === 'encrypt_data' || data === undefined ? rest : { ...rest, data };
      // Where all that was filled in is secret, nothing is left.
      const input = Array.isArray(draft.input) ? draft.input : Object.keys(kept).length > 0 ? kept : undefined;
      expect({ id: operation.id, input: back.input, extras: text(back.extras) }).toEqual({
        id: operation.id,
        input,
        extras: text(draft.extras),
      });
    }
  });
  const text = (extras: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(Object.entries(extras).map(([name, value]) => [name, String(value)]));

  it('keeps texts that look like other things, and names that the address has for itself', () => {
    const operation = find('set_anchor');
    const draft = { ...emptyDraft(operation), input: { description: 'true', timeline_id: '42', fixed: false } };
    expect(draftOf(operation, addressOf(operation, draft, schemas), schemas).input).toEqual(draft.input);
  });

  it('never has a secret in its address or in what is kept', () => {
    for (const id of ['encrypt_data', 'decrypt_data']) {
      const operation = find(id);
      const draft: Draft = {
        ...example(id),
        input: { timeline_id: 'main', encryption_key: 'hush-hush', data: { a: 'hush too' } },
        raw: '{"encryption_key": "hush-hush"}',
        extras: { 'header/Idempotency-Key': 'once' },
      };
      expect(JSON.stringify(addressOf(operation, draft, schemas))).not.toMatch(/hush|once/);
      expect(JSON.stringify(withoutSecrets(operation, draft, schemas))).not.toContain('hush-hush');
      expect(valuesOf(withoutSecrets(operation, draft, schemas)).timeline_id).toBe('main');
    }
    expect(draftOf(find('encrypt_data'), { encryption_key: 'from-a-link' }, schemas).input).toBeUndefined();
  });

  it('shows JSON that is not finished in its place, and says where it stops', () => {
    const draft: Draft = {
      ...emptyDraft(find('encrypt_data')),
      input: { timeline_id: 'main' },
      broken: { data: '{"a": ' },
    };
    expect(rawOf(draft)).toBe('{\n  "timeline_id": "main",\n  "data": {"a": \n}');
    expect(issuesOf(find('encrypt_data'), draft, schemas).find((issue) => issue.pointer === '#/data')?.message).toMatch(
      /JSON/,
    );
    expect(readJson('{"a": 1,}')).toHaveProperty('wrong');
    expect(readJson('')).toEqual({ value: undefined });
  });
});

describe('a request', () => {
  it('that reads is a GET with a query string, or a QUERY with a body', () => {
    expect(emptyDraft(find('monitor_events')).isInQueryString).toBe(true);
    const draft: Draft = {
      ...emptyDraft(find('monitor_events')),
      isInQueryString: false,
      input: { location: 'a b', time_range: '../..', limit: 5 },
    };
    expect(requestOf(find('monitor_events'), draft)).toMatchObject({
      method: 'QUERY',
      json: { limit: 5 },
      headers: { 'Content-Type': 'application/json' },
    });
    const get = requestOf(find('monitor_events'), { ...draft, isInQueryString: true });
    expect(get.method).toBe('GET');
    expect(get.json).toBeUndefined();
    expect(addressPart(get)).toBe('v1/monitor-events?location=a+b&time_range=..%2F..&limit=5');
  });

  it('puts paths and headers together so that nothing gets out of its place', () => {
    const extras = { 'path/timeline_id': '../x?y#z', 'path/tile': 'entries/000.p/1' };
    expect(requestOf(find('tile'), { ...emptyDraft(find('tile')), extras }).path).toBe(
      'timeline/..%2Fx%3Fy%23z/tile/entries/000.p/1',
    );
    const header = { 'header/If-Match': '"a"\r\nX-Other: b' };
    expect(
      requestOf(find('set_access_control'), { ...emptyDraft(find('set_access_control')), extras: header }).headers[
        'If-Match'
      ],
    ).toBe('"a" X-Other: b');
  });

  it('sends JSON that is none as it stands, so that the service can judge', () => {
    const request = requestOf(find('travel'), { ...emptyDraft(find('travel')), raw: '{"a"' });
    expect(request).toMatchObject({ text: '{"a"', json: undefined, headers: { 'Content-Type': 'application/json' } });
  });
});
