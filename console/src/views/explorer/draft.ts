/** The content of a form: as field texts, as URL parameters, and as a request. */
import { durationIssue } from '../../lib/time/duration';
import { timestampIssue } from '../../lib/time/timestamp';
import { RESERVED, typesOf, type Field, type Operation } from './openapi';

export interface Draft {
  /** The text of each field by key. */
  texts: Record<string, string>;
  /** The body while it is edited as JSON; null while fields are shown. */
  raw: string | null;
  file: File | null;
}

/** A request, both as sent and as shown as code. */
export interface WireRequest {
  method: string;
  /** Without a leading slash. */
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  /** The JSON body, if any. */
  json: unknown;
  /** A body that does not parse as JSON. It is sent unchanged, and the service rejects it. */
  text: string | null;
  file: File | null;
}

export const emptyDraft = (): Draft => ({ texts: {}, raw: null, file: null });

/**
 * Parses JSON. An empty text has no value. The message contains the position of a syntax error if the browser reports
 * one.
 */
export function readJson(text: string): { value: unknown } | { wrong: string } {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const place = /line \d+ column \d+/.exec(String(error))?.[0];
    return { wrong: `This is not valid JSON${place ? `: see ${place}` : ''}.` };
  }
}

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** Converts the text of a field to a JSON value. Text that matches no other type is sent as a string. */
function valueOf({ control, schema }: Field, text: string): unknown {
  const types = typesOf(schema);
  const bare = text.trim();
  if (control === 'json' || (control === 'list' && bare.startsWith('['))) {
    const read = readJson(text);
    return 'value' in read ? read.value : text;
  }
  if (control === 'list') return bare.split(',').flatMap((word) => word.trim() || []);
  if (types.includes('boolean') && (bare === 'true' || bare === 'false')) return bare === 'true';
  const number = NUMBER.test(bare) ? Number(bare) : NaN;
  const isNumber = types.includes('number') ? Number.isFinite(number) : Number.isSafeInteger(number);
  return isNumber && (types.includes('number') || types.includes('integer')) ? number : text;
}

/** Converts a value to the text of a field: the reverse of `valueOf`. */
export function textOf({ control }: Pick<Field, 'control'>, value: unknown): string {
  if (value === undefined || (value === null && control !== 'json')) return '';
  if (control === 'list' && Array.isArray(value) && value.every((word) => !/[,[]/.test(String(word))))
    return value.join(', ');
  return control !== 'json' && typeof value === 'string' ? value : pretty(value);
}

const filled = (operation: Operation, draft: Draft): [Field, string][] =>
  operation.fields.flatMap((field) => (draft.texts[field.key] ? [[field, draft.texts[field.key] ?? '']] : []));

function bodyOf(operation: Operation, draft: Draft): { value: unknown } | { wrong: string } {
  if (draft.raw !== null) return readJson(draft.raw);
  const members = filled(operation, draft).filter(([field]) => field.where === 'body');
  return { value: Object.fromEntries(members.map(([field, text]) => [field.name, valueOf(field, text)])) };
}

const withoutBody = (operation: Operation, texts: Draft['texts']): Draft['texts'] => {
  const inBody = operation.fields.filter(({ where }) => where === 'body').map(({ key }) => key);
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !inBody.includes(key)));
};

/** Returns the draft with its body as JSON. */
export function asJson(operation: Operation, draft: Draft): Draft {
  const body = bodyOf(operation, draft);
  const raw = 'value' in body ? pretty(body.value) : draft.raw;
  return { ...draft, texts: withoutBody(operation, draft.texts), raw };
}

/** Returns the draft with its body as fields, or null if its JSON does not fit them. */
export function asForm(operation: Operation, draft: Draft): Draft | null {
  const read = readJson(draft.raw ?? '');
  if ('wrong' in read || (read.value !== undefined && (typeof read.value !== 'object' || Array.isArray(read.value))))
    return null;
  const texts = { ...draft.texts };
  for (const [name, value] of Object.entries(read.value ?? {})) {
    const field = operation.fields.find((candidate) => candidate.where === 'body' && candidate.name === name);
    if (field === undefined) return null;
    texts[field.key] = textOf(field, value);
  }
  return { ...draft, texts, raw: null };
}

/** Returns the error of a field before sending, or null. The service validates everything else. */
function issueOf(field: Field, text: string): string | null {
  const { control, schema, isRequired } = field;
  if (text === '') return isRequired ? 'This is required.' : null;
  if (control === 'json' || (control === 'list' && text.startsWith('['))) {
    const read = readJson(text);
    return 'wrong' in read ? read.wrong : null;
  }
  if (control === 'timestamp') return timestampIssue(text);
  if (schema.format === 'length-of-time') return durationIssue(text);
  if (control !== 'number') return null;
  const value = valueOf(field, text);
  if (typeof value !== 'number') return `Use a ${typesOf(schema)[0] === 'integer' ? 'whole ' : ''}number.`;
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (value < minimum) return `Use at least ${minimum}.`;
  return value > maximum ? `Use at most ${maximum.toLocaleString('en')}.` : null;
}

/** Returns the errors of a draft by field key; `raw` and `file` are the keys of the body. */
export function issuesOf(operation: Operation, draft: Draft): Record<string, string> {
  const issues: Record<string, string> = {};
  for (const field of operation.fields) {
    const issue = issueOf(field, draft.texts[field.key] ?? '');
    if (issue !== null && (draft.raw === null || field.where !== 'body')) issues[field.key] = issue;
  }
  const body = bodyOf(operation, draft);
  if ('wrong' in body) issues.raw = body.wrong;
  if (operation.fileTypes.length > 0 && draft.file === null) issues.file = 'Choose a file.';
  return issues;
}

/** Chat and mail programs truncate longer URLs. */
const ADDRESS_MAX = 6_000;

/** Returns the part of a draft that goes into the URL: no secrets, idempotency keys or files. */
export function addressOf(operation: Operation, draft: Draft): Record<string, string> {
  const { texts, raw } = withoutSecrets(operation, draft);
  const read = readJson(raw ?? '');
  const hasInput = 'value' in read && read.value !== undefined;
  const found = { ...texts, ...(hasInput ? { input: JSON.stringify(read.value) } : {}) };
  return new URLSearchParams(found).toString().length > ADDRESS_MAX ? {} : found;
}

/** Returns the draft that a URL describes. */
export function draftOf(operation: Operation, params: Record<string, string>): Draft {
  const draft = emptyDraft();
  for (const { key, isPrivate } of operation.fields)
    if (params[key] !== undefined && !isPrivate) draft.texts[key] = params[key];
  const read = readJson(params.input ?? '');
  if (!operation.hasBody || 'wrong' in read || read.value === undefined) return draft;
  return { ...draft, texts: withoutBody(operation, draft.texts), raw: pretty(read.value) };
}

/** Returns the URL parameters that an operation does not have. */
export function unknownParamsOf(operation: Operation, params: Record<string, string>): string[] {
  const known = [...RESERVED, ...operation.fields.map(({ key }) => key)];
  return Object.keys(params).filter((name) => !known.includes(name));
}

/** Drops private fields, and a raw body, which may contain them. */
export function withoutSecrets(operation: Operation, draft: Draft): Draft {
  const open = filled(operation, draft).filter(([field]) => !field.isPrivate);
  const texts = Object.fromEntries(open.map(([field, text]) => [field.key, text]));
  const mayHide = operation.fields.some((field) => field.where === 'body' && field.isPrivate);
  return { ...draft, texts, raw: mayHide ? null : draft.raw };
}

/** Returns the draft filled with the document's examples. The timeline and the path parameters are kept. */
export function exampleDraft(operation: Operation, draft: Draft): Draft {
  const texts: Draft['texts'] = {};
  for (const field of operation.fields) {
    const before = draft.texts[field.key] ?? '';
    const isReusable = before !== '' && (field.where !== 'body' || field.name === 'timeline_id');
    if (isReusable) texts[field.key] = before;
    else if (field.isInExample) texts[field.key] = textOf(field, field.example);
  }
  const next = { ...draft, texts, raw: null };
  return draft.raw === null ? next : asJson(operation, next);
}

/** Returns the request of a draft. */
export function requestOf(operation: Operation, draft: Draft): WireRequest {
  const request: WireRequest = {
    method: operation.method,
    path: operation.path.slice(1),
    query: {},
    headers: {},
    json: undefined,
    text: null,
    file: null,
  };
  const isQuery = draft.texts.as === 'query';
  for (const [{ where, name }, text] of filled(operation, draft)) {
    if (where === 'path') {
      // The path of a tile contains slashes.
      const parts = name === 'tile' ? text.split('/') : [text];
      request.path = request.path.replace(`{${name}}`, () => parts.map(encodeURIComponent).join('/'));
    } else if (where === 'header') request.headers[name] = text.replace(/[\r\n]+/g, ' ');
    else if (where === 'query' || (operation.isQueryable && !isQuery)) request.query[name] = text;
  }
  const accept = draft.texts.accept ?? operation.accept;
  if (accept && accept !== 'application/json') request.headers.Accept = accept;
  if (operation.fileTypes.length > 0) {
    request.file = draft.file;
    const { type = '' } = draft.file ?? {};
    // The service detects the format of other files.
    const guess = operation.fileTypes.includes(type) ? type : 'application/octet-stream';
    request.headers['Content-Type'] = draft.texts.type ?? guess;
  } else if (operation.hasBody || isQuery) {
    if (isQuery) request.method = 'QUERY';
    const body = bodyOf(operation, draft);
    if ('wrong' in body) request.text = draft.raw;
    else if (isQuery || operation.isBodyRequired || JSON.stringify(body.value) !== '{}')
      request.json = body.value ?? {};
    if (request.text !== null || request.json !== undefined) request.headers['Content-Type'] = 'application/json';
  }
  return request;
}

/** Returns the timeline that a request names, or ''. */
export function timelineOf(operation: Operation, draft: Draft): string {
  const field = operation.fields.find(({ name }) => name === 'timeline_id');
  const body = bodyOf(operation, draft);
  const inBody = field?.where === 'body' && 'value' in body ? (body.value as Record<string, unknown> | undefined) : {};
  const named = draft.raw === null || field?.where !== 'body' ? draft.texts.timeline_id : inBody?.timeline_id;
  return field === undefined ? '' : typeof named === 'string' && named !== '' ? named : 'main';
}

/** Returns the path and query string of a request. */
export function addressPart({ path, query }: WireRequest): string {
  const text = new URLSearchParams(query).toString();
  return path + (text ? `?${text}` : '');
}
