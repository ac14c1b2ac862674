/** The document of the API, read into what a form needs. */
import { resolve, typesOf, type Schema, type Schemas } from './schema';

export interface Document {
  info: { title: string; version: string };
  paths: Record<string, Record<string, RawOperation>>;
  components?: { schemas?: Schemas; securitySchemes?: Record<string, unknown> };
  security?: unknown[];
}

interface RawParameter {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface RawOperation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: RawParameter[];
  requestBody?: { required?: boolean; content?: Record<string, { schema?: Schema }> };
  responses?: Record<string, { content?: Record<string, unknown> }>;
  security?: unknown[];
}

/** One field of the form. */
export interface Field {
  /** Where it goes: into the JSON, the path, the query string beside a body, or a header. */
  where: 'input' | 'path' | 'query' | 'header';
  name: string;
  schema: Schema;
  isRequired: boolean;
  hint: string;
}

export interface Operation {
  id: string;
  /** As its path ends, such as `set-anchor`. */
  name: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  tag: string;
  /** Whether it is one of those that the specification names. */
  isSpec: boolean;
  /** Whether it works without being logged in. */
  isOpen: boolean;
  /** What stands in path, headers, and beside a body in the query string. */
  extras: Field[];
  /** JSON to send as the body, or that the parameters of a look make; null where there is neither. */
  input: Schema | null;
  isInputRequired: boolean;
  /** Whether the body is a file, and of which types it may be. */
  fileTypes: string[];
  /** Content types that a good answer may have. */
  answers: string[];
}

/** Operations of the specification, by the end of their paths, in its order. */
const SPEC = [
  'travel',
  'set-anchor',
  'pause-time',
  'resume-time',
  'fast-forward',
  'rewind',
  'monitor-events',
  'scan-events',
  'encrypt-data',
  'decrypt-data',
  'set-access-control',
  'access-logs',
  'detect-tampering',
  'restrict-time-travel',
  'manipulate-event',
  'monitor-paradox',
  'check-timeline',
  'GET /timelines',
  'GET /timeline/{timeline_id}',
];

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Groups in the order in which one meets them; groups that are not named here come after. */
const TAGS = [
  'clock',
  'anchors',
  'events',
  'timelines',
  'paradoxes',
  'proofs',
  'data',
  'access',
  'users',
  'api keys',
  'sessions',
  'service',
];

/** Returns the operations of a document: by group, those of the specification first. */
export function operationsOf(document: Document): Operation[] {
  const found: Operation[] = [];
  const schemas = document.components?.schemas ?? {};
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, raw] of Object.entries(methods)) {
      if (METHODS.includes(method)) found.push(read(path, method.toUpperCase(), raw, schemas, document.security ?? []));
    }
  }
  const rank = (operation: Operation): number => {
    const index = SPEC.findIndex((name) => name === operation.name || name === `${operation.method} ${operation.path}`);
    return index < 0 ? SPEC.length : index;
  };
  const group = (operation: Operation): number =>
    TAGS.includes(operation.tag) ? TAGS.indexOf(operation.tag) : TAGS.length;
  for (const operation of found) operation.isSpec = rank(operation) < SPEC.length;
  return found.sort(
    (a, b) => group(a) - group(b) || a.tag.localeCompare(b.tag) || rank(a) - rank(b) || a.path.localeCompare(b.path),
  );
}

function read(path: string, method: string, raw: RawOperation, schemas: Schemas, security: unknown[]): Operation {
  // The client sets `Timenav-Timeline` by itself: only load balancers read it.
  const isShown = ({ name, in: where }: { name: string; in: string }): boolean =>
    where !== 'cookie' && name !== 'Timenav-Timeline';
  const parameters = (raw.parameters ?? []).filter(isShown);
  const content = raw.requestBody?.content ?? {};
  const json = content['application/json']?.schema;
  const isFile = Object.values(content).some(({ schema }) => schema?.format === 'binary');
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const isLook = method === 'GET' && query.length > 0;
  const beside = parameters.filter((parameter) => parameter.in !== 'query' || !isLook);
  const input = isLook ? asObject(query) : isFile || json === undefined ? null : json;
  return {
    id: raw.operationId ?? `${method} ${path}`,
    name: nameOf(path),
    method,
    path,
    summary: raw.summary ?? '',
    description: raw.description ?? '',
    tag: raw.tags?.[0] ?? 'other',
    isSpec: false,
    isOpen: (raw.security ?? security).length === 0,
    extras: beside
      .map((parameter) => ({
        where: parameter.in as Field['where'],
        name: parameter.name,
        schema: resolve(parameter.schema ?? {}, schemas),
        isRequired: parameter.required === true || parameter.in === 'path',
        hint: parameter.description ?? '',
      }))
      .sort((a, b) => Number(a.where === 'header') - Number(b.where === 'header')),
    input,
    isInputRequired: raw.requestBody?.required === true,
    fileTypes: isFile ? Object.keys(content) : [],
    answers: Object.keys(
      Object.entries(raw.responses ?? {}).find(([status]) => status.startsWith('2'))?.[1].content ?? {},
    ),
  };
}

function nameOf(path: string): string {
  const words = path
    .replace(/^\/v\d+/, '')
    .split('/')
    .filter((word) => word !== '');
  return words.join('/');
}

function asObject(parameters: RawParameter[]): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    required: parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name),
    properties: Object.fromEntries(
      parameters.map(({ name, schema, description }) => [name, { ...schema, ...(description ? { description } : {}) }]),
    ),
  };
}

/** One form that the JSON may have. */
interface Variant {
  title: string;
  schema: Schema;
  /** The fields, required ones first; null where it is edited as JSON. */
  fields: Field[] | null;
}

/** Returns the forms that the JSON of an operation may have; most have one. */
export function variantsOf(operation: Operation, schemas: Schemas): Variant[] {
  if (operation.input === null) return [];
  const whole = resolve(operation.input, schemas);
  const parts = whole.properties ? [whole] : (whole.oneOf ?? [whole]);
  return parts.map((part) => {
    const schema = resolve(part, schemas);
    const isList = typesOf(schema).includes('array');
    return { title: isList ? 'Several' : 'One', schema, fields: schema.properties ? fieldsOf(schema, schemas) : null };
  });
}

function fieldsOf(schema: Schema, schemas: Schemas): Field[] {
  const required = schema.required ?? [];
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]): Field => {
    const found = resolve(property, schemas);
    return { where: 'input', name, schema: found, isRequired: required.includes(name), hint: found.description ?? '' };
  });
  // What the document gives an example of is what is filled in most.
  const isUsual = (field: Field): boolean => field.schema.example !== undefined || field.name === 'dry_run';
  const rank = (field: Field): number =>
    field.isRequired
      ? required.indexOf(field.name)
      : required.length + (LAST.includes(field.name) ? 2 : isUsual(field) ? 0 : 1);
  return fields.sort((a, b) => rank(a) - rank(b));
}

/** Fields of paging and looking back: seldom filled, so last. */
const LAST = ['limit', 'cursor', 'as_of'];

/** Tells whether a parameter of the query string can stand in the JSON instead; then it is asked for there, once. */
export function isInInput(name: string, variant: Variant | undefined): boolean {
  return variant?.fields?.some((field) => field.name === name) === true;
}

/** How a field is asked for. */
export type Control =
  | 'timestamp'
  | 'duration'
  | 'range'
  | 'timeline'
  | 'select'
  | 'boolean'
  | 'number'
  | 'words'
  | 'choices'
  | 'json'
  | 'secret'
  | 'long'
  | 'text';

const TIMELINE_NAMES = ['timeline_id', 'fork_of', 'a', 'b'];
const EXAMPLE_OF_TIMESTAMP = /^[+-]?\d{4,6}-\d{2}-\d{2}T[\d:.]+Z$/;

export function controlOf(field: Field): Control {
  const { schema, name } = field;
  const types = typesOf(schema);
  if (isSecret(name, schema)) return 'secret';
  if (schema.enum) return 'select';
  if (types.includes('array')) {
    const items = schema.items;
    if (items?.enum) return 'choices';
    return items && typesOf(items).includes('string') && typesOf(items).length === 1 ? 'words' : 'json';
  }
  if (
    types.length === 0 &&
    (schema.anyOf ?? schema.oneOf ?? []).every((variant) => variant.pattern ?? variant.const) &&
    (schema.anyOf ?? schema.oneOf)
  )
    return 'text';
  if (types.length === 0 || types.includes('object') || schema.oneOf) return 'json';
  if (types.includes('boolean')) return 'boolean';
  if (types.length === 1 && (types[0] === 'integer' || types[0] === 'number')) return 'number';
  const example = typeof schema.example === 'string' ? schema.example : '';
  if (schema.format === 'timestamp' || schema.format === 'expiry' || EXAMPLE_OF_TIMESTAMP.test(example))
    return 'timestamp';
  if (schema.format === 'length-of-time') return 'duration';
  if (schema.format === 'time-range' || name === 'time_range') return 'range';
  if ((TIMELINE_NAMES.includes(name) && example !== '') || name === 'timeline_id') return 'timeline';
  return (schema.maxLength ?? 0) > 2_000 && schema.format !== 'mapping' ? 'long' : 'text';
}

const SECRETS = ['encryption_key', 'password', 'current_password', 'api_key'];

/** Tells whether a field must not be kept anywhere: not in the address, not in the history. */
export function isSecret(name: string, schema: Schema = {}): boolean {
  return SECRETS.includes(name) || schema.format === 'password' || schema.writeOnly === true;
}

/** Returns a schema's kind in a word or two, for the side of a label. */
export function kindOf(field: Field): string {
  const { schema } = field;
  if (controlOf(field) === 'timeline') return 'timeline';
  if (schema.format === 'time-range') return 'range';
  if (schema.format === 'length-of-time') return 'duration';
  if (schema.format === 'expiry') return 'timestamp';
  if (schema.format && ['timestamp', 'cursor', 'mapping'].includes(schema.format)) return schema.format;
  if (schema.enum) return 'choice';
  const names: Record<string, string> = {
    string: 'text',
    integer: 'whole number',
    array: 'list',
    boolean: 'true or false',
  };
  return (
    typesOf(schema)
      .map((type) => names[type] ?? type)
      .join(' or ') || 'JSON'
  );
}
