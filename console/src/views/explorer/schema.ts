/**
 * JSON Schema, as far as the document of the API uses it: what a schema means, what a value of it looks like, and
 * what is wrong with a value, in sentences that say what would be right.
 */
import { formatIssue } from './formats';
import { jsonText } from './json-text';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  example?: unknown;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  not?: Schema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  writeOnly?: boolean;
}

export type Schemas = Record<string, Schema>;

/** Something that is wrong: where, as a JSON pointer in a fragment, and what would be right. */
export interface Issue {
  pointer: string;
  message: string;
}

/** Returns the schema without references and without the alternative `null`, which means the same as leaving it out. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  let found = schema;
  if (schema.$ref !== undefined) {
    const { $ref, ...beside } = schema;
    found = { ...resolve(schemas[$ref.split('/').pop() ?? ''] ?? {}, schemas), ...beside };
  }
  const variants = found.oneOf ?? found.anyOf;
  if (variants?.some((variant) => variant.type === 'null')) {
    const rest = variants.filter((variant) => variant.type !== 'null');
    const { oneOf: _one, anyOf: _any, ...beside } = found;
    const [only] = rest;
    found = only && rest.length === 1 ? { ...resolve(only, schemas), ...beside } : { ...beside, oneOf: rest };
  }
  return found;
}

/** Returns the types that a schema allows, without `null`. Empty means any. */
export function typesOf(schema: Schema): string[] {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  return types.filter((type) => type !== 'null');
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

const NAMES: Record<string, string> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

const count = (value: number): string => value.toLocaleString('en');
const list = (words: string[], last = 'or'): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1) ?? ''}`;

/** Patterns of the document, in words. */
const IN_WORDS: Record<string, string> = {
  '^[1-9][0-9]{0,8}$': 'Use a whole number from 1 to 999999999.',
  '^[0-9A-Za-z][0-9A-Za-z._:@-]{0,127}$':
    'Use 1 to 128 letters, digits or . _ - : @, and begin with a letter or digit.',
  '^([0-9A-Za-z][0-9A-Za-z._:@-]{0,127})$':
    'Use ids of 1 to 128 letters, digits or . _ - : @, each beginning with a letter or digit.',
  '^ *([0-9A-Za-z][0-9A-Za-z._:@-]{0,127}) *(, *([0-9A-Za-z][0-9A-Za-z._:@-]{0,127}) *)*$':
    'Use ids of 1 to 128 letters, digits or . _ - : @, separated by commas.',
  '^attribute[.][^,]+(,attribute[.][^,]+)*$': 'Use attribute.KEY, and commas between several.',
  '^[a-z_]{1,64}$': 'Use lowercase letters and underscores, as in unauthorized_access_attempt.',
  '^[!-~]+$': 'Use visible ASCII characters without spaces.',
  '^[0-9]{1,19}$': 'Use digits only.',
  '[^\\s]': 'Enter a place, not only spaces.',
  '^(full|quick|tail:[1-9][0-9]{0,17}|sample:([1-9][0-9]{0,4}|100000))$':
    'Use full, quick, tail:100 for the last hundred, or sample:100 for a hundred at random.',
  '^(clock|events|interventions|paradoxes|advances|due)(,(clock|events|interventions|paradoxes|advances|due)){0,5}$':
    'Use clock, events, interventions, paradoxes, advances or due, separated by commas.',
  '^(time|cell|actor|source|attribute[.].{1,256})$':
    'Use time, cell, actor, source, or an attribute, as in attribute.category.',
  '^(observations)$': 'Use observations.',
  '^ *(observations) *(, *(observations) *)*$': 'Use observations.',
  '^[!-~]{1,128}$': 'Use 1 to 128 visible ASCII characters without spaces.',
  '^[0-9]{1,19}([.][0-9]{1,9})?(@-?[0-9]{1,18})?(~[0-9a-f]{16})?$':
    'Use the id of a message, as in 17~0123456789abcdef, 17.0 or 17@951868800000000.',
  '^[0-9]{1,19}-[0-9]{1,19}-[0-9]{1,19}$': 'Use the id that an import answered, as in 17-420-403.',
  '^([*]|(W/)?"[!#-~]*")$': 'Use an ETag in its quotation marks, or *.',
};

/** Says what a pattern asks for, where people would not see it from the pattern. */
export function inWords(pattern: string): string | undefined {
  // The kinds of paradoxes, each by its name or its number.
  if (pattern.includes('causal_cycle'))
    return pattern.includes(',')
      ? 'Use kinds such as P02 or causal_cycle, separated by commas.'
      : 'Use a kind such as P02 or causal_cycle.';
  // Tiles, whose paths the C2SP specification makes.
  if (pattern.includes('entries')) return 'Use a level and a tile, as in 0/000 or entries/x001/067.';
  return IN_WORDS[pattern];
}

/** Returns everything that is wrong with a value; nothing where it is right. */
export function validate(schema: Schema, value: unknown, schemas: Schemas, pointer = '#'): Issue[] {
  const resolved = resolve(schema, schemas);
  if (value === null && allowsNull(schema)) return [];
  const own = (message: string): Issue[] => [{ pointer, message }];
  const wrongType = typeIssue(resolved, value);
  if (wrongType !== null) return own(wrongType);
  if (resolved.enum && !resolved.enum.includes(value)) {
    return own(`Use ${list(resolved.enum.filter((item) => item !== null).map(String))}.`);
  }
  if (resolved.const !== undefined && resolved.const !== value) return own(`Use ${jsonText(resolved.const)}.`);
  if (resolved.not && validate(resolved.not, value, schemas).length === 0)
    return own(`${String(value)} is reserved for the service and cannot be used here.`);
  const issues: Issue[] = [];
  if (typeof value === 'string') issues.push(...textIssues(resolved, value).map((message) => ({ pointer, message })));
  if (typeof value === 'number') issues.push(...numberIssues(resolved, value).map((message) => ({ pointer, message })));
  if (Array.isArray(value)) issues.push(...listIssues(resolved, value, schemas, pointer));
  else if (typeof value === 'object' && value !== null)
    issues.push(...objectIssues(resolved, value as Record<string, unknown>, schemas, pointer));
  if (issues.length === 0) issues.push(...choiceIssues(resolved, value, schemas, pointer));
  return issues;
}

function allowsNull(schema: Schema): boolean {
  if (schema.type === 'null' || (Array.isArray(schema.type) && schema.type.includes('null'))) return true;
  return (schema.oneOf ?? schema.anyOf ?? []).some((variant) => variant.type === 'null');
}

function typeIssue(schema: Schema, value: unknown): string | null {
  const types = typesOf(schema);
  if (types.length === 0) return schema.type === 'null' && value !== null ? 'Leave this out.' : null;
  const type = typeOf(value);
  if (types.includes(type) || (type === 'integer' && types.includes('number'))) return null;
  return `This must be ${list(types.map((name) => NAMES[name] ?? name))}.`;
}

function textIssues(schema: Schema, value: string): string[] {
  const length = Array.from(value).length;
  if (schema.minLength !== undefined && length < schema.minLength) {
    return [length === 0 ? 'This cannot be empty.' : `Use at least ${count(schema.minLength)} characters.`];
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    return [`Use at most ${count(schema.maxLength)} characters; there are ${count(length)}.`];
  }
  if (schema.pattern !== undefined && !matches(schema.pattern, value)) {
    return [
      inWords(schema.pattern) ??
        `This is not valid${typeof schema.example === 'string' ? `: write it as in ${schema.example}` : ''}.`,
    ];
  }
  const wrong = schema.format === undefined ? null : formatIssue(schema.format, value);
  return wrong === null ? [] : [wrong];
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    // Written for another dialect: the service decides.
    return true;
  }
}

function numberIssues(schema: Schema, value: number): string[] {
  const { minimum, maximum, exclusiveMinimum } = schema;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return [`Use more than ${count(exclusiveMinimum)}.`];
  const isLow = minimum !== undefined && value < minimum;
  const isHigh = maximum !== undefined && value > maximum;
  if (!isLow && !isHigh) return [];
  if (minimum !== undefined && maximum !== undefined) return [`Use ${minimum} to ${count(maximum)}.`];
  return [isLow ? `Use at least ${minimum}.` : `Use at most ${count(maximum ?? 0)}.`];
}

function listIssues(schema: Schema, value: unknown[], schemas: Schemas, pointer: string): Issue[] {
  const issues: Issue[] = [];
  if (schema.minItems !== undefined && value.length < schema.minItems)
    issues.push({ pointer, message: `At least ${count(schema.minItems)} is needed.` });
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    issues.push({ pointer, message: `At most ${count(schema.maxItems)}; there are ${count(value.length)}.` });
  if (schema.uniqueItems && new Set(value.map((item) => JSON.stringify(item))).size < value.length)
    issues.push({ pointer, message: 'List each only once.' });
  const items = schema.items;
  if (items) value.forEach((item, index) => issues.push(...validate(items, item, schemas, `${pointer}/${index}`)));
  return issues;
}

function objectIssues(schema: Schema, value: Record<string, unknown>, schemas: Schemas, pointer: string): Issue[] {
  const issues: Issue[] = [];
  const known = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (value[name] === undefined || value[name] === null)
      issues.push({ pointer: `${pointer}/${escape(name)}`, message: 'This is required.' });
  }
  for (const [name, item] of Object.entries(value)) {
    const at = `${pointer}/${escape(name)}`;
    const property = known[name];
    if (item === undefined || (item === null && schema.required?.includes(name))) continue;
    if (property) issues.push(...validate(property, item, schemas, at));
    else if (schema.additionalProperties === false)
      issues.push({ pointer: at, message: unknownName(name, Object.keys(known)) });
    else if (typeof schema.additionalProperties === 'object')
      issues.push(...validate(schema.additionalProperties, item, schemas, at));
  }
  for (const part of schema.allOf ?? []) issues.push(...validate(part, value, schemas, pointer));
  return issues;
}

function choiceIssues(schema: Schema, value: unknown, schemas: Schemas, pointer: string): Issue[] {
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants === undefined) return [];
  const told = variants.map((variant) => validate(variant, value, schemas, pointer));
  if (told.some((issues) => issues.length === 0)) return [];
  const named = variants.map((variant) => variant.required ?? []);
  if (schema.properties && named.every((names) => names.length === 1)) {
    return [{ pointer, message: `Give one of ${list(named.flat())}, and only one.` }];
  }
  // The variant that is meant: the one whose `kind` is named, else the one of the value's type.
  const meant = told[variants.findIndex((variant) => isMeant(resolve(variant, schemas), value))];
  const kinds = variants.flatMap((variant) => resolve(variant, schemas).properties?.kind?.enum ?? []);
  if (meant) return meant;
  if (kinds.length > 0 && typeOf(value) === 'object')
    return [{ pointer: `${pointer}/kind`, message: `Use ${list(kinds.map(String))}.` }];
  const types = variants.flatMap((variant) => typesOf(resolve(variant, schemas)));
  const right = variants.find((variant) => typesOf(resolve(variant, schemas)).includes(typeOf(value)));
  if (right) return validate(right, value, schemas, pointer);
  return [
    {
      pointer,
      message:
        types.length > 0
          ? `This must be ${list([...new Set(types)].map((name) => NAMES[name] ?? name))}.`
          : 'This has none of the allowed forms.',
    },
  ];
}

function isMeant(variant: Schema, value: unknown): boolean {
  const kinds = variant.properties?.kind?.enum;
  return (
    kinds !== undefined &&
    typeof value === 'object' &&
    value !== null &&
    kinds.includes((value as Record<string, unknown>).kind)
  );
}

function unknownName(name: string, known: string[]): string {
  const near = known.find((candidate) => distance(candidate, name) <= 2);
  return near ? `${name} is not known; did you mean ${near}?` : `${name} is not known here.`;
}

/** Returns by how many letters two words differ (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    let [corner = 0, left] = [row[0], i];
    const next = [left];
    for (const [j, above] of row.slice(1).entries()) {
      left = Math.min(above + 1, left + 1, corner + (a[i - 1] === b[j] ? 0 : 1));
      corner = above;
      next.push(left);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

const escape = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns a value as the document's examples show it, or undefined where it has none. */
export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  const found = resolve(schema, schemas);
  if (found.example !== undefined) return found.example;
  if (found.properties) {
    const value: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(found.properties)) {
      const example = exampleOf(property, schemas);
      if (example !== undefined) value[name] = example;
      else if (found.required?.includes(name)) {
        const made = fallback(name, resolve(property, schemas));
        if (made !== undefined) value[name] = made;
      }
    }
    return value;
  }
  if (found.enum) return found.enum[0];
  if (found.items) {
    const item = exampleOf(found.items, schemas);
    return item === undefined ? undefined : [item];
  }
  const variant = found.oneOf?.[0];
  return variant ? exampleOf(variant, schemas) : undefined;
}

function fallback(name: string, schema: Schema): unknown {
  const type = typesOf(schema)[0];
  if (type === 'object') return { note: 'any JSON object' };
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'integer') return schema.minimum ?? 1;
  if (schema.format === 'password') return 'an example passphrase';
  // An id of something that was made before: only its maker knows one.
  return name === 'value' ? 'open' : undefined;
}
