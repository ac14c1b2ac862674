import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { addressOf, addressPart, asForm, asJson, draftOf, emptyDraft, exampleDraft } from './draft';
import { issuesOf, readJson, requestOf, unknownParamsOf, timelineOf, withoutSecrets, type Draft } from './draft';
import { operationsOf, type Control, type Document, type Operation } from './openapi';

// The real document, because forms must also support operations that are added later.
const operations = operationsOf(JSON.parse(readFileSync('../docs/api/openapi.json', 'utf8')) as Document);
const find = (id: string): Operation => operations.find((operation) => operation.id === id)!;
const draftWith = (texts: Draft['texts'], raw: string | null = null): Draft => ({
  texts,
  raw,
  file: null,
});

describe('the document', () => {
  it('has unique operations with unique field keys', () => {
    expect(operations.filter((operation) => operation.isSpec)).toHaveLength(19);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    expect(operations[0]?.name).toBe('travel');
    for (const { id, fields } of operations) expect(new Set(fields.map(({ key }) => key)).size, id).toBe(fields.length);
  });

  it('has a suitable control for each field', () => {
    const control = (id: string, name: string): Control =>
      find(id).fields.find((field) => field.name === name)!.control;
    expect(control('travel', 'destination_time')).toBe('timestamp');
    expect(control('manipulate_event', 'time')).toBe('timestamp');
    expect(control('manipulate_event', 'on_paradox')).toBe('select');
    expect(control('manipulate_event', 'dry_run')).toBe('select');
    expect(control('manipulate_event', 'effect')).toBe('json');
    expect(control('create_api_key', 'scopes')).toBe('list');
    expect(control('record_events', 'actors')).toBe('list');
    expect(control('encrypt_data', 'encryption_key')).toBe('secret');
    expect(control('set_rate', 'rate')).toBe('number');
    expect(control('set_access_control', 'If-Match')).toBe('text');
  });

  it('has valid examples', () => {
    const wrong = operations.flatMap((operation) =>
      Object.entries(issuesOf(operation, exampleDraft(operation, emptyDraft())))
        .filter(([name, issue]) => issue !== 'This is required.' && name !== 'file')
        .map((issue) => [operation.id, ...issue]),
    );
    expect(wrong).toEqual([]);
  });
});

describe('a field', () => {
  it('reports missing values', () => {
    const wrong = (id: string, name: string, text: string): string | undefined =>
      issuesOf(find(id), draftWith({ [name]: text }))[name];
    const time = (text: string): string | undefined => wrong('travel', 'destination_time', text);
    expect(time('')).toBe('This is required.');
    expect(time('2028-02-29T08:30:00+01:00[Europe/Paris]')).toBeUndefined();
    expect(time('-000043-03-15T00:00:00Z')).toBeUndefined();
    expect(time('2028-02-29')).toBe('Add a time and a zone: 2028-02-29T00:00:00Z');
    expect(time('2028-02-29T08:30:00')).toBe('Add a zone: 2028-02-29T08:30:00Z is UTC.');
    expect(time('-0043-03-15T00:00:00Z')).toBe('Years before 0 have six digits: -000043-03-15T00:00:00Z');
    expect(time('2027-02-29T00:00:00Z')).toMatch(/^Write a date/);
    expect(wrong('fast_forward', 'duration', 'soon')).toMatch(/^Write/);
    expect(wrong('monitor_events', 'limit', 'x')).toBe('Use a whole number.');
    expect(wrong('monitor_events', 'limit', '0')).toBe('Use at least 1.');
    expect(wrong('encrypt_data', 'data', '{"a": 1,}')).toMatch(/^This is not valid JSON/);
  });
});

describe('a draft', () => {
  it('is restored from its URL, for every operation', () => {
    for (const operation of operations) {
      const safe = withoutSecrets(operation, exampleDraft(operation, emptyDraft()));
      expect(draftOf(operation, addressOf(operation, safe)), operation.id).toEqual(safe);
      expect(unknownParamsOf(operation, addressOf(operation, safe)), operation.id).toEqual([]);
    }
    const list = draftWith({ timeline_id: 'lab' }, '[\n  {}\n]');
    expect(addressOf(find('record_events'), list)).toEqual({ timeline_id: 'lab', input: '[{}]' });
    expect(draftOf(find('record_events'), addressOf(find('record_events'), list))).toEqual(list);
    expect(unknownParamsOf(find('travel'), { operation: 'travel', location: 'x' })).toEqual(['operation']);
  });

  it('has no secrets in its URL or in the history', () => {
    for (const id of ['encrypt_data', 'decrypt_data']) {
      const texts = { timeline_id: 'main', encryption_key: 'hush', data: '"hush"', 'header.Idempotency-Key': 'once' };
      for (const draft of [draftWith(texts), draftWith({}, '{"encryption_key": "hush"}')]) {
        expect(JSON.stringify(addressOf(find(id), draft))).not.toMatch(/hush|once/);
        expect(JSON.stringify(withoutSecrets(find(id), draft))).not.toMatch(/hush|once/);
      }
    }
    expect(draftOf(find('encrypt_data'), { encryption_key: 'from-a-link' }).texts).toEqual({});
  });

  it('has the same request as JSON and as a form', () => {
    for (const operation of operations.filter(({ hasBody }) => hasBody)) {
      const draft = exampleDraft(operation, emptyDraft());
      const raw = asJson(operation, draft);
      expect(requestOf(operation, raw), operation.id).toEqual(requestOf(operation, draft));
      expect(asForm(operation, raw), operation.id).toEqual(draft);
    }
    for (const raw of ['{"timeline_id":', '[{}]', '{"unknown": 1}'])
      expect(asForm(find('set_anchor'), draftWith({}, raw))).toBeNull();
  });

  it('contains the timeline that its request changes', () => {
    expect(timelineOf(find('travel'), draftWith({ timeline_id: 'lab' }))).toBe('lab');
    expect(timelineOf(find('travel'), draftWith({}, '{"timeline_id": "lab"}'))).toBe('lab');
    expect(timelineOf(find('travel'), draftWith({}, '{}'))).toBe('main');
    expect(timelineOf(find('record_events'), draftWith({ timeline_id: 'lab' }, '[{}]'))).toBe('lab');
    expect(timelineOf(find('create_user'), emptyDraft())).toBe('');
  });
});

describe('a request', () => {
  it('has values of the field types', () => {
    const texts = {
      timeline_id: '42',
      time: '2028-01-01T00:00:00Z',
      sequence: '7',
      actors: 'Ada, Bob',
      causes: '["x"]',
    };
    const { json, query } = requestOf(find('record_events'), draftWith(texts));
    expect(json).toEqual({ time: texts.time, sequence: 7, actors: ['Ada', 'Bob'], causes: ['x'] });
    expect(query).toEqual({ timeline_id: '42' });
    const anchor = draftWith({ description: 'true', fixed: 'false' });
    expect(requestOf(find('set_anchor'), anchor).json).toEqual({ description: 'true', fixed: false });
  });

  it('is a GET for reads, or a QUERY with a body', () => {
    const draft = draftWith({ location: 'a b', time_range: '../..', limit: '5' });
    const get = requestOf(find('monitor_events'), draft);
    expect([get.method, get.json]).toEqual(['GET', undefined]);
    expect(addressPart(get)).toBe('v1/monitor-events?location=a+b&time_range=..%2F..&limit=5');
    expect(requestOf(find('monitor_events'), { ...draft, texts: { ...draft.texts, as: 'query' } })).toMatchObject({
      method: 'QUERY',
      query: {},
      json: { limit: 5 },
      headers: { 'Content-Type': 'application/json' },
    });
  });

  it('escapes paths and headers', () => {
    const tile = draftWith({ timeline_id: '../x?y#z', tile: 'entries/000.p/1' });
    expect(requestOf(find('tile'), tile).path).toBe('timeline/..%2Fx%3Fy%23z/tile/entries/000.p/1');
    const header = draftWith({ 'header.If-Match': '"a"\r\nX-Other: b' });
    expect(requestOf(find('set_access_control'), header).headers['If-Match']).toBe('"a" X-Other: b');
  });

  it('sends invalid JSON unchanged, so that the service reports the error', () => {
    const request = requestOf(find('travel'), draftWith({}, '{"a"'));
    expect(request).toMatchObject({ text: '{"a"', json: undefined, headers: { 'Content-Type': 'application/json' } });
    expect(readJson('')).toEqual({ value: undefined });
  });
});
