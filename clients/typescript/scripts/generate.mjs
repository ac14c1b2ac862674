/**
 * Writes src/openapi.ts, src/operations.ts and src/calls.ts from docs/api/openapi.json, and src/error-codes.ts from
 * docs/errors.md.
 */
import { readFile, writeFile } from 'node:fs/promises';
import openapiTypescript, { astToString } from 'openapi-typescript';

const document = JSON.parse(await readFile(new URL('../../../docs/api/openapi.json', import.meta.url), 'utf8'));
const GENERATED = '// Written by scripts/generate.mjs from docs/api/openapi.json. Do not edit it.\n\n';

const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** Returns the definition of an operation, and its methods. */
function operation(path, method, operationBody) {
  const parameters = (operationBody.parameters ?? []).filter((parameter) => parameter.in !== 'cookie');
  const names = (place) => parameters.filter((parameter) => parameter.in === place).map((parameter) => parameter.name);
  const bodies = Object.entries(operationBody.requestBody?.content ?? {});
  const schema = bodies[0]?.[1].schema ?? {};
  const named = document.components.schemas[schema.$ref?.split('/').at(-1)] ?? schema;
  const body = bodies.length === 0 ? 'none' : named.format === 'binary' ? 'raw' : named.properties ? 'object' : 'json';
  const success = Object.entries(operationBody.responses).find(([status]) => status.startsWith('2'))[1];
  const name = operationBody.operationId;
  const row = {
    method: method.toUpperCase(),
    path,
    query: names('query'),
    body,
    isIdempotent: names('header').includes('Idempotency-Key'),
    hasTimeline: defaultsTimeline(operationBody, parameters, named),
  };
  const isOptional =
    body !== 'raw' &&
    body !== 'json' &&
    !operationBody.requestBody?.required &&
    !parameters.some((parameter) => parameter.required);
  return {
    name,
    row,
    variants: variants(Object.keys(success.content ?? {})),
    summary: operationBody.summary,
    isOptional,
  };
}

/**
 * Returns whether the client's timeline is the default of an operation. A new key is only bound to a timeline that the
 * call names.
 */
function defaultsTimeline(operationBody, parameters, body) {
  const isOptional = parameters.some((parameter) => parameter.name === 'timeline_id' && !parameter.required);
  const isMember = body.properties?.timeline_id && !body.required?.includes('timeline_id');
  return operationBody.operationId !== 'create_api_key' && Boolean(isOptional || isMember);
}

/** Returns the methods of an operation by its response types: the suffix of the name, and the kind of result. */
function variants(kinds) {
  if (kinds.includes('application/json')) {
    return [
      ['', 'json'],
      ...(kinds.includes('text/plain') ? [['Text', 'text']] : []),
      ...(kinds.includes('text/event-stream') ? [['Stream', 'events']] : []),
    ];
  }
  if (kinds.includes('text/event-stream')) return [['', 'events']];
  return kinds.includes('application/octet-stream') ? [['', 'bytes']] : [['', 'download']];
}

const MESSAGES = { clock_stream: "Schema<'ClockBody'>", firings_stream: 'FiringMessage', stream: 'StreamMessage' };
const RETURN_TYPES = {
  json: (name) => `Promise<Output<'${name}'>>`,
  text: () => 'Promise<string>',
  events: (name) => `Promise<EventStream<${MESSAGES[name] ?? 'unknown'}>>`,
  bytes: () => 'Promise<Uint8Array>',
  download: () => 'Promise<Response>',
};
const NOTES = {
  text: ' Returns the signed text, which other programs can verify.',
  events: ' Close the stream after use.',
  download: ' The body is streamed.',
};

function methods({ name, variants, summary, isOptional }) {
  return variants.map(
    ([suffix, kind]) => `
  /** ${summary}.${NOTES[kind] ?? ''} */
  ${camel(name)}${suffix}(input: Input<'${name}'>${isOptional ? ' = {}' : ''}, options: CallOptions = {}): ${RETURN_TYPES[kind](name)} {
    return this.${kind}('${name}', input, options);
  }
`,
  );
}

const all = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operationBody]) => operation(path, method, operationBody)),
);
const calls = `${GENERATED}import type { CallOptions, EventStream } from './transport.js';
import type { Output, FiringMessage, Input, Schema, StreamMessage } from './operation-types.js';
import { Transport } from './transport.js';

/** A method for each operation of the API. */
export abstract class Calls extends Transport {
${all.flatMap(methods).join('')}
}
`;
const table = `${GENERATED}/** The definition of an operation. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  /** \`object\`: its members are parameters; \`json\`: other JSON, in \`body\`; \`raw\`: a file, in \`content\`. */
  readonly body: 'none' | 'object' | 'json' | 'raw';
  readonly isIdempotent: boolean;
  /** Whether the client's timeline is its default. */
  readonly hasTimeline: boolean;
}

export const OPERATIONS = {
${all.map(({ name, row }) => `${name}: ${JSON.stringify(row)},`).join('\n')}
} as const satisfies Record<string, Operation>;
`;
const types = `${GENERATED}${astToString(await openapiTypescript(document, { emptyObjectsUnknown: true }))}`;
const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
// Each row of the table is a code. The client adds a code for responses that do not come from the service.
const codes = [...page.matchAll(/^\| <a id="[a-z_]+"><\/a>`([a-z_]+)` \|/gm)].map(([, code]) => code);
if (codes.length === 0) throw new Error('docs/errors.md has no table of codes');
const errorCodes = `// Written by scripts/generate.mjs from docs/errors.md. Do not edit it.

/** The values of \`ApiError.code\`. */
export type ErrorCode =
${[...codes, 'unexpected_response'].map((code) => `  | '${code}'`).join('\n')};
`;
const files = { 'error-codes.ts': errorCodes, 'openapi.ts': types, 'operations.ts': table, 'calls.ts': calls };
for (const [name, text] of Object.entries(files)) {
  const path = new URL(`../src/${name}`, import.meta.url);
  // One test packs the package while others import these files, so unchanged files are not rewritten.
  if ((await readFile(path, 'utf8').catch(() => '')) !== text) await writeFile(path, text);
}
