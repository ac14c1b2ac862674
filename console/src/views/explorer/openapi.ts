/** The OpenAPI document, reduced to what the explorer needs. */

interface Schema {
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
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  writeOnly?: boolean;
}

type Schemas = Record<string, Schema>;

export interface Document {
  paths: Record<string, Record<string, RawOperation>>;
  components?: { schemas?: Schemas };
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
  tags?: string[];
  parameters?: RawParameter[];
  requestBody?: { required?: boolean; content?: Record<string, { schema?: Schema; example?: unknown }> };
  responses?: Record<string, { content?: Record<string, unknown> }>;
  security?: unknown[];
}

export type Control = 'timestamp' | 'select' | 'number' | 'list' | 'json' | 'secret' | 'long' | 'text';

/** One form field. */
export interface Field {
  /**
   * Query parameters of a GET also use `body`, because QUERY sends them as JSON. An `option` changes how the request is
   * sent.
   */
  where: 'body' | 'path' | 'query' | 'header' | 'option';
  name: string;
  /** Its URL parameter. */
  key: string;
  schema: Schema;
  control: Control;
  /** Allowed values. */
  options: string[];
  isRequired: boolean;
  /** Whether its value must be kept out of URLs and the history. */
  isPrivate: boolean;
  hint: string;
  example: unknown;
  /** Whether the example request includes it. */
  isInExample: boolean;
}

export interface Operation {
  id: string;
  /** The last part of its path, such as `set-anchor`. */
  name: string;
  method: string;
  path: string;
  summary: string;
  tag: string;
  /** Whether the specification names it. */
  isSpec: boolean;
  /** Whether it works without credentials. */
  isOpen: boolean;
  fields: Field[];
  /** Whether it is a GET with parameters, and so available as QUERY too. */
  isQueryable: boolean;
  hasBody: boolean;
  isBodyRequired: boolean;
  /** Content types of a file that is sent as the body. */
  fileTypes: string[];
  /** The default `Accept` value. */
  accept: string;
}

/** Operations of the specification, in its order. */
const SPEC = (
  'travel set_anchor pause_time resume_time fast_forward rewind monitor_events scan_events encrypt_data decrypt_data ' +
  'set_access_control access_logs detect_tampering restrict_time_travel manipulate_event monitor_paradox ' +
  'check_timeline timelines timeline'
).split(' ');

/** Order of the groups. Other groups follow. */
const TAGS = 'clock,anchors,events,timelines,paradoxes,proofs,data,access,users,api keys,sessions,service'.split(',');

/** Parameters that the page's own URL uses. */
export const RESERVED = ['timeline', 'op', 'next', 'form', 'input', 'as', 'accept'];

/** Rarely used fields: sorted last and left out of examples. */
const RARE = ['limit', 'cursor', 'as_of', 'user_id'];

const SECRETS = ['encryption_key', 'password', 'current_password', 'api_key'];

/** Whether a field is a password or a key, which is masked wherever it is shown. */
export const isSecret = (name: string, schema: Schema = {}): boolean =>
  SECRETS.includes(name) || schema.format === 'password' || schema.writeOnly === true;

/** Returns the operations by group, those of the specification first. */
export function operationsOf({ paths, components, security = [] }: Document): Operation[] {
  const schemas = components?.schemas ?? {};
  const rank = (order: string[], word: string): number => (order.includes(word) ? order.indexOf(word) : order.length);
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, raw]) => operationOf(path, method.toUpperCase(), raw, schemas, security)),
    )
    .sort(
      (a, b) =>
        rank(TAGS, a.tag) - rank(TAGS, b.tag) ||
        a.tag.localeCompare(b.tag) ||
        rank(SPEC, a.id) - rank(SPEC, b.id) ||
        a.path.localeCompare(b.path),
    );
}

function operationOf(
  path: string,
  method: string,
  raw: RawOperation,
  schemas: Schemas,
  security: unknown[],
): Operation {
  const id = raw.operationId ?? `${method} ${path}`;
  const content = raw.requestBody?.content ?? {};
  const isFile = Object.values(content).some(({ schema }) => schema?.format === 'binary');
  const json = isFile ? undefined : content['application/json'];
  // The client sets `Timenav-Timeline`, which only load balancers read.
  const parameters = (raw.parameters ?? []).filter(
    ({ name, in: where }) => where !== 'cookie' && name !== 'Timenav-Timeline',
  );
  const isQueryable = method === 'GET' && parameters.some((parameter) => parameter.in === 'query');
  const fields = parameters.map((parameter) => {
    const where = isQueryable && parameter.in === 'query' ? 'body' : (parameter.in as Field['where']);
    const schema = { ...parameter.schema, ...(parameter.description ? { description: parameter.description } : {}) };
    return fieldOf(where, parameter.name, schema, schemas, parameter.required === true);
  });
  const inQuery = fields.filter(({ where }) => where === 'query').map(({ name }) => name);
  fields.push(...bodyFields(json ?? {}, schemas).filter(({ name }) => !inQuery.includes(name)));
  const successful = Object.entries(raw.responses ?? {}).find(([status]) => status.startsWith('2'))?.[1];
  const [accept = '', ...others] = Object.keys(successful?.content ?? {});
  const option = (name: string, key: string, options: string[], description: string): Field => ({
    ...fieldOf('option', name, { enum: options, description }, schemas, false),
    key,
    isInExample: false,
  });
  if (isQueryable) fields.push(option('Sent as', 'as', ['query'], 'GET, or QUERY with a JSON body.'));
  if (others.length > 0) fields.push(option('Returned as', 'accept', others, `Otherwise ${accept}.`));
  if (isFile) fields.push(option('Content-Type', 'type', Object.keys(content), 'The format of the file, if known.'));
  return {
    id,
    name: path.replace(/^\/(v\d+\/)?/, ''),
    method,
    path,
    summary: raw.summary ?? '',
    tag: raw.tags?.[0] ?? 'other',
    isSpec: SPEC.includes(id),
    isOpen: (raw.security ?? security).length === 0,
    fields: fields.sort((a, b) => place(a) - place(b)),
    isQueryable,
    hasBody: json !== undefined,
    isBodyRequired: raw.requestBody?.required === true,
    fileTypes: isFile ? Object.keys(content) : [],
    accept,
  };
}

/** Returns the top-level fields of a JSON body. If the body may also be an array, these are the fields of one item. */
function bodyFields({ schema, example }: { schema?: Schema; example?: unknown }, schemas: Schemas): Field[] {
  const whole = resolve(schema ?? {}, schemas);
  const part =
    [whole, ...(whole.oneOf ?? [])].map((variant) => resolve(variant, schemas)).find((variant) => variant.properties) ??
    {};
  const examples = (example ?? {}) as Record<string, unknown>;
  const fields = Object.entries(part.properties ?? {}).map(([name, property]) => {
    const field = fieldOf('body', name, property, schemas, part.required?.includes(name) === true);
    return { ...field, example: examples[name] ?? field.example, isInExample: name in examples };
  });
  // Data to encrypt is as secret as its key.
  if (fields.some(({ name }) => name === 'encryption_key'))
    for (const field of fields) field.isPrivate ||= field.name === 'data';
  return fields;
}

function fieldOf(where: Field['where'], name: string, schema: Schema, schemas: Schemas, isRequired: boolean): Field {
  const found = resolve(schema, schemas);
  const control = controlOf(name, found, schemas);
  const options = found.enum ?? (typesOf(found).includes('boolean') ? [true, false] : []);
  const example = exampleOf(found, schemas);
  const prefix = where === 'header' ? 'header.' : RESERVED.includes(name) ? 'input.' : '';
  return {
    where,
    name,
    key: prefix + name,
    schema: found,
    control,
    options: options.filter((option) => option !== null).map(String),
    isRequired: isRequired || where === 'path',
    isPrivate: control === 'secret' || name === 'Idempotency-Key',
    hint: found.description ?? '',
    example,
    isInExample: example !== undefined && where !== 'header' && (isRequired || !RARE.includes(name)),
  };
}

/** Sorts required fields first, then common ones (with an example), rare ones, and headers. */
function place({ where, name, isRequired, schema }: Field): number {
  if (where === 'header' || where === 'option') return 5;
  if (isRequired) return where === 'path' ? 0 : 1;
  return RARE.includes(name) ? 4 : schema.example !== undefined || name === 'dry_run' ? 2 : 3;
}

/** Resolves references, and drops the alternative `null`, which is equivalent to no value. */
function resolve(schema: Schema, schemas: Schemas): Schema {
  let found = schema;
  if (schema.$ref !== undefined) {
    const { $ref, ...rest } = schema;
    found = { ...resolve(schemas[$ref.split('/').pop() ?? ''] ?? {}, schemas), ...rest };
  }
  const { oneOf, ...rest } = found;
  const some = oneOf?.filter(({ type }) => type !== 'null');
  return some?.length === 1 && some[0] ? { ...resolve(some[0], schemas), ...rest } : found;
}

/** Returns the types that a schema allows, without `null`. An empty list means any type. */
export const typesOf = ({ type }: Schema): string[] => [type ?? []].flat().filter((name) => name !== 'null');

function controlOf(name: string, schema: Schema, schemas: Schemas): Control {
  const types = typesOf(schema);
  if (isSecret(name, schema)) return 'secret';
  if (schema.enum || types.includes('boolean')) return 'select';
  if (types.includes('array')) {
    const items = typesOf(resolve(schema.items ?? {}, schemas));
    return items.length === 1 && items[0] === 'string' ? 'list' : 'json';
  }
  const forms = schema.anyOf ?? schema.oneOf;
  if (types.length === 0) return forms?.every((form) => form.pattern ?? form.const) ? 'text' : 'json';
  if (types.includes('object') || schema.oneOf) return 'json';
  if (types.length === 1 && types[0] !== 'string') return 'number';
  if (schema.format === 'timestamp' || schema.format === 'expiry') return 'timestamp';
  return (schema.maxLength ?? 0) > 2_000 && schema.format !== 'mapping' ? 'long' : 'text';
}

/** Returns an example value, or undefined if the document has none. */
function exampleOf(schema: Schema, schemas: Schemas): unknown {
  const found = resolve(schema, schemas);
  const example = found.example ?? found.examples?.[0] ?? found.enum?.[0];
  if (example !== undefined) return example;
  const parts = Object.entries(found.properties ?? {})
    .map(([name, property]) => [name, exampleOf(property, schemas)] as const)
    .filter(([, value]) => value !== undefined);
  if (parts.length > 0) return Object.fromEntries(parts);
  const [inner, isList] = found.items ? [found.items, true] : [found.oneOf?.[0], false];
  const value = inner && exampleOf(inner, schemas);
  return isList && value !== undefined ? [value] : value;
}

/** Returns a short label for the kind of a field. */
export function kindOf({ where, schema, control }: Field): string {
  if (where === 'path') return 'in the path';
  if (where === 'header' || where === 'option') return where;
  return control === 'list' ? 'list, with commas' : (schema.format ?? (typesOf(schema).join(' or ') || 'JSON'));
}
