/** The calls of the client match the OpenAPI document. */
import { describe, expect, it } from 'vitest';
import { Client, ApiError } from '../src/index.js';
import { OPERATIONS } from '../src/operations.js';
import { client, readText } from './harness.js';

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  format?: string;
  enum?: string[];
  example?: unknown;
  examples?: unknown[];
  oneOf?: Schema[];
}
interface OperationObject {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema; example?: unknown }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const document = JSON.parse(readText('docs/api/openapi.json')) as {
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema> };
};
const all = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, definition]) => ({ path, method, definition, id: definition.operationId })),
);
const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function resolve(schema: Schema): Schema {
  return schema.$ref ? resolve(document.components.schemas[schema.$ref.split('/').at(-1)!]!) : schema;
}

/**
 * Examples of inputs that have none in the document. The ids need not exist, because the service only has to parse the
 * call.
 */
const EXAMPLES: Record<string, unknown> = {
  advance_id: 'advance_01m7vsgh52ewg8wycc4r8s9czz',
  anchor_id: 'anchor_01m7vsgh52ewg8wycc4r8s9czz',
  data: { a: 1 },
  data_id: 'data_01m7vsgh52ewg8wycc4r8s9czz',
  encryption_key: 'a passphrase',
  event: { event_id: 'no-such-event', time: '2028-02-29T09:00:00Z', description: 'A leap day' },
  event_id: 'no-such-event',
  fault: { offset: '2s' },
  firing_id: 'firing_01m7vsgh52ewg8wycc4r8s9czz',
  firing_ids: ['firing_01m7vsgh52ewg8wycc4r8s9czz'],
  index: 1,
  follower_id: 'follower_01m7vsgh52ewg8wycc4r8s9czz',
  hold_id: 'hold_01m7vsgh52ewg8wycc4r8s9czz',
  key_id: 'key_01m7vsgh52ewg8wycc4r8s9czz',
  password: 'correct horse battery',
  permissions: { read: ['alice'] },
  position: 0,
  queue: 'default',
  session_id: 'session_01m7vsgh52ewg8wycc4r8s9czz',
  tile: '0/000',
  timeline_id: 'what-if',
  timer_id: 'no-such-timer',
  user_id: 'no-such-user',
};

function example(schema: Schema, name: string): unknown {
  const resolved = resolve(schema);
  return (
    resolved.example ??
    resolved.examples?.[0] ??
    (resolved.oneOf ? example(resolved.oneOf[0]!, name) : null) ??
    resolved.enum?.[0] ??
    EXAMPLES[name]
  );
}

function input(definition: OperationObject): Record<string, unknown> {
  const body = resolve(Object.values(definition.requestBody?.content ?? {})[0]?.schema ?? {});
  const given: Record<string, unknown> = {};
  for (const { name, schema, example: value, ...parameter } of definition.parameters ?? []) {
    if (parameter.in !== 'header' && name !== 'cursor') given[name] = value ?? example(schema, name);
  }
  for (const [name, schema] of Object.entries(body.properties ?? {})) {
    if (body.required?.includes(name) || name === 'timeline_id') given[name] = example(schema, name);
  }
  if (definition.operationId === 'record_events')
    given.body = { time: '2028-02-29T09:00:00Z', description: 'A leap day' };
  if (body.format === 'binary') given.content = '';
  return given;
}

// Error codes of a request that the client encoded incorrectly.
const ENCODING_ERRORS = [
  'unknown_parameter',
  'missing_parameter',
  'malformed_json',
  'unsupported_media_type',
  'method_not_allowed',
];

describe('the OpenAPI document', () => {
  it('has a method for every operation', () => {
    for (const { id } of all) expect(Client.prototype, id).toHaveProperty(camel(id));
  });

  it.each(all)('$id is sent as documented', ({ id, path, method, definition }) => {
    const operation = OPERATIONS[id as keyof typeof OPERATIONS];
    const names = (place: string): string[] =>
      (definition.parameters ?? []).filter((parameter) => parameter.in === place).map((parameter) => parameter.name);
    expect([operation.path, operation.method]).toEqual([path, method.toUpperCase()]);
    expect(operation.query).toEqual(names('query'));
    expect(operation.isIdempotent).toBe(names('header').includes('Idempotency-Key'));
    // Options of all calls, which are not parameters.
    const options = [
      'Idempotency-Key',
      'If-Match',
      'Last-Event-ID',
      'Timenav-Firing',
      'Timenav-Host',
      'Timenav-Process',
      // Each call sets this header itself.
      'Timenav-Timeline',
    ];
    expect(options).toEqual(expect.arrayContaining(names('header')));
  });

  it.each(all)('$id is accepted by the service', async ({ id, definition }) => {
    const call = client()[camel(id) as 'limits'].bind(client()) as (input: object) => Promise<unknown>;
    try {
      const response = await call(input(definition));
      if (response instanceof Response) await response.body?.cancel();
      else if (response instanceof Object && 'close' in response) (response as { close(): void }).close();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const codes: string[] = [error.code, ...error.errors.map(({ code }) => code)];
      expect(
        ENCODING_ERRORS.filter((code) => codes.includes(code)),
        error.message,
      ).toEqual([]);
      expect([405, 406, 415, 500]).not.toContain(error.httpStatus);
    }
  });
});
