/** What is filled in, as it goes into the address, into a request and back. */
import { jsonText } from './json-text';
import type { Schema, Schemas } from './schema';
import { exampleOf, resolve, validate, type Issue } from './schema';
import { isInInput, isSecret, variantsOf, type Field, type Operation } from './openapi';

/** What somebody filled in for one operation. */
export interface Draft {
  /** JSON to send; undefined sends none. */
  input: unknown;
  /** What stands in path, query string beside a body, and headers, by `keyOf`. */
  extras: Record<string, unknown>;
  /** Texts of JSON fields that are no JSON yet, by field. */
  broken: Record<string, string>;
  /** The whole JSON as a text while it is edited so; null while the form is shown. */
  raw: string | null;
  variant: number;
  /** Whether the parameters of a look are sent in the query string; else as a QUERY with a body. */
  isInQueryString: boolean;
  /** Which content type is asked for; '' is the first. */
  accept: string;
  fileType: string;
  file: File | null;
}

type Values = Record<string, unknown>;

export const keyOf = (field: Field): string => `${field.where}/${field.name}`;

export function emptyDraft(operation: Operation): Draft {
  return {
    input: undefined,
    extras: {},
    broken: {},
    raw: null,
    variant: 0,
    isInQueryString: operation.method === 'GET',
    accept: '',
    fileType: operation.fileTypes[0] ?? '',
    file: null,
  };
}

/** Returns the fields' values of a draft's JSON. */
export function valuesOf(draft: Draft): Values {
  return typeof draft.input === 'object' && draft.input !== null && !Array.isArray(draft.input)
    ? (draft.input as Values)
    : {};
}

/** Returns the JSON with one field changed; undefined takes it away, and the last one takes all away. */
export function withValue(draft: Draft, name: string, value: unknown): unknown {
  const { [name]: _old, ...others } = valuesOf(draft);
  // A field that is there keeps its place.
  const values: Values = value === undefined ? others : { ...valuesOf(draft), [name]: value };
  return Object.keys(values).length === 0 ? undefined : values;
}

/** Returns the JSON as a text that people edit. Texts that are no JSON yet stay in their places, so nothing is lost. */
export function rawOf(draft: Draft): string {
  const broken = Object.entries(draft.broken);
  if (broken.length === 0) return draft.input === undefined ? '{}' : JSON.stringify(draft.input, null, 2);
  const whole = draft.broken[''];
  if (whole !== undefined) return whole;
  const parts = Object.entries(valuesOf(draft))
    .filter(([name]) => !(name in draft.broken))
    .map(([name, value]): [string, string] => [name, JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')]);
  return `{\n${[...parts, ...broken].map(([name, text]) => `  ${JSON.stringify(name)}: ${text}`).join(',\n')}\n}`;
}

/** Reads a text as JSON; the message says where it stops being some. */
export function readJson(text: string): { value: unknown } | { wrong: string } {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const told = error instanceof Error ? error.message : '';
    const at = /position (\d+)/.exec(told)?.[1];
    if (at === undefined)
      return {
        wrong: /end of/i.test(told)
          ? 'The JSON ends too early: a bracket or a quotation mark is missing.'
          : 'This is not JSON.',
      };
    const before = text.slice(0, Number(at)).split('\n');
    return { wrong: `This is not valid JSON: see line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}.` };
  }
}

/** Returns everything that is wrong with a draft, by pointer (`#/…`) or by the key of an extra field. */
export function issuesOf(operation: Operation, draft: Draft, schemas: Schemas): Issue[] {
  const issues: Issue[] = [];
  for (const field of operation.extras) {
    const value = draft.extras[keyOf(field)];
    if (value === undefined || value === '') {
      if (field.isRequired) issues.push({ pointer: keyOf(field), message: 'This is required.' });
    } else {
      issues.push(...validate(field.schema, value, schemas, keyOf(field)));
    }
  }
  if (operation.fileTypes.length > 0 && draft.file === null)
    issues.push({ pointer: 'file', message: 'Choose a file.' });
  if (operation.input === null) return issues;
  if (draft.raw !== null) {
    const read = readJson(draft.raw);
    if ('wrong' in read) return [...issues, { pointer: '#', message: read.wrong }];
    return [...issues, ...inputIssues(operation, read.value, schemas)];
  }
  for (const [name, text] of Object.entries(draft.broken)) {
    const read = readJson(text);
    if ('wrong' in read) issues.push({ pointer: name === '' ? '#' : `#/${name}`, message: read.wrong });
  }
  const broken = issues.map((issue) => issue.pointer);
  return [
    ...issues,
    ...inputIssues(operation, draft.input, schemas).filter((issue) => !broken.includes(issue.pointer)),
  ];
}

function inputIssues(operation: Operation, value: unknown, schemas: Schemas): Issue[] {
  const schema = resolve(operation.input ?? {}, schemas);
  if (value === undefined && !operation.isInputRequired && (schema.required ?? []).length === 0) return [];
  return validate(schema, value ?? {}, schemas);
}

/** Names that the address has for itself. */
const TAKEN = ['timeline', 'op', 'next', 'as', 'accept', 'form'];
/** Addresses longer than this get cut on their way through chats and mails. */
const ADDRESS_MAX = 6_000;

/** Returns what of a draft goes into the address: no secrets, no keys that make a request happen once, no files. */
export function addressOf(operation: Operation, draft: Draft, schemas: Schemas): Record<string, string> {
  const found: Record<string, string> = {};
  for (const field of operation.extras) {
    const value = draft.extras[keyOf(field)];
    if (field.name === 'Idempotency-Key' || isSecret(field.name, field.schema) || value === undefined || value === '')
      continue;
    found[addressName(field, operation, schemas)] = jsonText(value);
  }
  const variant = variantsOf(operation, schemas)[draft.variant];
  if (variant && !variant.fields && draft.input !== undefined) {
    found.input = JSON.stringify(draft.input);
  } else {
    // What is about to be sealed is as secret as the key that seals it.
    const seals = variant?.fields?.some((field) => field.name === 'encryption_key') === true;
    for (const [name, value] of Object.entries(valuesOf(draft))) {
      const field = variant?.fields?.find((candidate) => candidate.name === name);
      if (isSecret(name, field?.schema) || (seals && name === 'data')) continue;
      found[TAKEN.includes(name) ? `input.${name}` : name] =
        typeof value === 'string' && isText(field) ? value : JSON.stringify(value);
    }
  }
  if (draft.isInQueryString !== emptyDraft(operation).isInQueryString)
    found.as = draft.isInQueryString ? 'query-string' : 'query';
  if (draft.accept) found.accept = draft.accept;
  if (draft.raw !== null) found.form = 'json';
  return new URLSearchParams(found).toString().length > ADDRESS_MAX ? {} : found;
}

function isText(field: Field | undefined): boolean {
  const types = field === undefined ? [] : [field.schema.type ?? []].flat();
  return types.includes('string') && types.every((type) => type === 'string' || type === 'null');
}

function addressName(field: Field, operation: Operation, schemas: Schemas): string {
  const names = variantsOf(operation, schemas).flatMap((variant) => variant.fields?.map((other) => other.name) ?? []);
  const isFree = field.where !== 'header' && !names.includes(field.name) && !TAKEN.includes(field.name);
  return isFree ? field.name : `${field.where}.${field.name}`;
}

/** Returns the draft that an address tells; what it leaves out comes from `kept`. */
export function draftOf(operation: Operation, params: Record<string, string>, schemas: Schemas): Draft {
  const draft = emptyDraft(operation);
  for (const field of operation.extras) {
    const text = params[addressName(field, operation, schemas)];
    if (text !== undefined) draft.extras[keyOf(field)] = text;
  }
  const variants = variantsOf(operation, schemas);
  const values: Values = {};
  for (const field of variants.find((variant) => variant.fields)?.fields ?? []) {
    const text = params[TAKEN.includes(field.name) ? `input.${field.name}` : field.name];
    if (text === undefined || isSecret(field.name, field.schema)) continue;
    values[field.name] = isText(field) ? text : parsed(text);
  }
  if (Object.keys(values).length > 0) draft.input = values;
  const whole = params.input;
  if (whole !== undefined) {
    draft.input = parsed(whole);
    draft.variant = Math.max(
      0,
      variants.findIndex((variant) => variant.fields === null),
    );
  }
  if (params.as) draft.isInQueryString = params.as === 'query-string';
  if (operation.answers.includes(params.accept ?? '')) draft.accept = params.accept ?? '';
  if (params.form === 'json') draft.raw = rawOf(draft);
  return draft;
}

/** Returns the names of parameters of an address that mean nothing for an operation. */
export function strangersOf(operation: Operation, params: Record<string, string>, schemas: Schemas): string[] {
  const known = new Set([...TAKEN, 'input']);
  for (const field of operation.extras) known.add(addressName(field, operation, schemas));
  for (const variant of variantsOf(operation, schemas))
    for (const { name } of variant.fields ?? []) known.add(TAKEN.includes(name) ? `input.${name}` : name);
  return Object.keys(params).filter((name) => !known.has(name));
}

/** Tells whether an operation is aimed at a timeline that can be named. */
export function namesTimeline(operation: Operation, schemas: Schemas): boolean {
  return (
    operation.extras.some((field) => field.name === 'timeline_id') ||
    variantsOf(operation, schemas).some((variant) => isInInput('timeline_id', variant))
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Fields that an example leaves as they are: they say whose and how much, not what. */
const UNFILLED = ['limit', 'cursor', 'as_of'];

/** Returns the draft filled with the document's examples. The timeline that is filled in stays. */
export function exampleDraft(operation: Operation, draft: Draft, schemas: Schemas): Draft {
  const filled: Draft = { ...draft, broken: {}, extras: { ...draft.extras } };
  for (const field of operation.extras) {
    const example = exampleOf(field.schema, schemas);
    if (example !== undefined && field.where !== 'header' && !filled.extras[keyOf(field)])
      filled.extras[keyOf(field)] = example;
  }
  const variant = variantsOf(operation, schemas)[draft.variant];
  if (variant) {
    const example = withoutOtherForms(resolve(variant.schema, schemas), exampleOf(variant.schema, schemas));
    filled.input = filledInput(variant.fields, example, valuesOf(draft));
  }
  if (draft.raw !== null) filled.raw = rawOf(filled);
  return filled;
}

/** Returns an example in the first of the forms that a body can have: without what belongs to the others alone. */
function withoutOtherForms(schema: Schema, example: unknown): unknown {
  const form = (schema.oneOf ?? schema.anyOf)?.[0]?.properties;
  if (form === undefined || typeof example !== 'object' || example === null) return example;
  return Object.fromEntries(Object.entries(example).filter(([name]) => form[name]?.type !== 'null'));
}

function filledInput(fields: Field[] | null, example: unknown, before: Values): unknown {
  if (fields === null || typeof example !== 'object' || example === null) return example;
  const values: Values = {};
  for (const field of fields) {
    const value = (example as Values)[field.name];
    const isKept = field.name === 'timeline_id' && before.timeline_id !== undefined;
    const isLeftOut = !field.isRequired && (UNFILLED.includes(field.name) || field.name === 'user_id');
    const shown = isKept ? before.timeline_id : isLeftOut ? before[field.name] : value;
    if (shown !== undefined) values[field.name] = shown;
  }
  return Object.keys(values).length === 0 ? undefined : values;
}

/** Returns the draft without what must not be kept. */
export function withoutSecrets(operation: Operation, draft: Draft, schemas: Schemas): Draft {
  const fields = variantsOf(operation, schemas)[draft.variant]?.fields ?? [];
  const secret = (name: string): boolean => isSecret(name, fields.find((field) => field.name === name)?.schema);
  const values = Object.fromEntries(Object.entries(valuesOf(draft)).filter(([name]) => !secret(name)));
  const hasSecret = Object.keys(values).length < Object.keys(valuesOf(draft)).length;
  const kept: Draft = {
    ...draft,
    broken: { ...draft.broken },
    extras: { ...draft.extras },
    ...(hasSecret ? { input: values } : {}),
  };
  const mayHide = fields.some((field) => isSecret(field.name, field.schema));
  if (kept.raw !== null && mayHide) kept.raw = rawOf(kept);
  return kept;
}
