/**
 * Writes src/openapi.ts, src/operations.ts and src/calls.ts from docs/api/openapi.json, and src/error-codes.ts from
 * docs/errors.md.
 */
import { readFile, writeFile } from 'node:fs/promises';
import openapiTypescript, { astToString } from 'openapi-typescript';

const document = JSON.parse(await readFile(new URL('../../../docs/api/openapi.json', import.meta.url), 'utf8'));
const MADE = '// Written by scripts/generate.mjs from docs/api/openapi.json. Do not edit it.\n\n';

const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** Returns how an operation is sent, and the methods that send it. */
function operation(path, method, operationBody) {
  const parameters = (operationBody.parameters ?? []).filter((one) => one.in !== 'cookie');
  const names = (place) => parameters.filter((one) => one.in === place).map((one) => one.name);
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
    isOnce: names('header').includes('Idempotency-Key'),
    hasTimeline: defaultsTimeline(operationBody, parameters, named),
  };
  const isNeedless =
    body !== 'raw' &&
    body !== 'json' &&
    !operationBody.requestBody?.required &&
    !parameters.some((one) => one.required);
  return { name, row, ways: ways(Object.keys(success.content ?? {})), summary: operationBody.summary, isNeedless };
}

/** Tells whether an operation acts on the timeline of the key where none is named. A new key is bound to what is said. */
function defaultsTimeline(operationBody, parameters, body) {
  const isOptional = parameters.some((one) => one.name === 'timeline_id' && !one.required);
  const isMember = body.properties?.timeline_id && !body.required?.includes('timeline_id');
  return operationBody.operationId !== 'create_api_key' && Boolean(isOptional || isMember);
}

/** Returns the ways in which an operation can be answered: what is appended to its name, and what comes. */
function ways(kinds) {
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
const GIVES = {
  json: (name) => `Promise<Answer<'${name}'>>`,
  text: () => 'Promise<string>',
  events: (name) => `Promise<Events<${MESSAGES[name] ?? 'unknown'}>>`,
  bytes: () => 'Promise<Uint8Array>',
  download: () => 'Promise<Response>',
};
const NOTES = {
  text: ' As the signed text, to be kept and checked elsewhere.',
  events: ' Close it when you are done.',
  download: ' The body is yet to be read.',
};

function methods({ name, ways, summary, isNeedless }) {
  return ways.map(
    ([suffix, way]) => `
  /** ${summary}.${NOTES[way] ?? ''} */
  ${camel(name)}${suffix}(input: Input<'${name}'>${isNeedless ? ' = {}' : ''}, options: CallOptions = {}): ${GIVES[way](name)} {
    return this.${way}('${name}', input, options);
  }
`,
  );
}

const all = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operationBody]) => operation(path, method, operationBody)),
);
const calls = `${MADE}import type { CallOptions, Events } from './transport.js';
import type { Answer, FiringMessage, Input, Schema, StreamMessage } from './shapes.js';
import { Transport } from './transport.js';

/** Every operation of the API. */
export abstract class Calls extends Transport {
${all.flatMap(methods).join('')}
}
`;
const table = `${MADE}/** How an operation is sent. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  /** \`object\`: what is no parameter is a member of it; \`json\`: \`body\`; \`raw\`: \`content\`. */
  readonly body: 'none' | 'object' | 'json' | 'raw';
  readonly isOnce: boolean;
  /** Whether it acts on the timeline of the key where none is named. */
  readonly hasTimeline: boolean;
}

export const OPERATIONS = {
${all.map(({ name, row }) => `${name}: ${JSON.stringify(row)},`).join('\n')}
} as const satisfies Record<string, Operation>;
`;
const types = `${MADE}${astToString(await openapiTypescript(document, { emptyObjectsUnknown: true }))}`;
const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
// Each row of the table is a code. The last one is for responses that the service did not write.
const codes = [...page.matchAll(/^\| <a id="[a-z_]+"><\/a>`([a-z_]+)` \|/gm)].map(([, code]) => code);
if (codes.length === 0) throw new Error('docs/errors.md has no row of `not_found`');
const errorCodes = `// Written by scripts/generate.mjs from docs/errors.md. Do not edit it.

/** What \`ApiError.code\` may be. */
export type ErrorCode =
${[...codes, 'unexpected_response'].map((code) => `  | '${code}'`).join('\n')};
`;
const files = { 'error-codes.ts': errorCodes, 'openapi.ts': types, 'operations.ts': table, 'calls.ts': calls };
for (const [name, text] of Object.entries(files)) {
  const path = new URL(`../src/${name}`, import.meta.url);
  // One test packs the package while others import these files, so they must not be truncated.
  if ((await readFile(path, 'utf8').catch(() => '')) !== text) await writeFile(path, text);
}
