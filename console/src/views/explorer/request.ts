/** The request that a draft makes: the same one that is sent and that is shown as code. */
import type { Query } from '../../lib/base';
import { keyOf, readJson, type Draft } from './draft';
import { jsonText } from './json-text';
import type { Operation } from './openapi';

export interface WireRequest {
  /** What is sent: GET, QUERY, POST or DELETE. */
  method: string;
  /** The path without a slash before it, with its parameters in place. */
  path: string;
  query: Query;
  headers: Record<string, string>;
  /** JSON that is sent; undefined where none is. */
  json: unknown;
  /** A body that is no JSON yet, sent as it stands. */
  text: string | null;
  file: File | null;
}

/** Returns the request of a draft. */
export function requestOf(operation: Operation, draft: Draft): WireRequest {
  const request: WireRequest = {
    method: operation.method,
    path: '',
    query: {},
    headers: {},
    json: undefined,
    text: null,
    file: null,
  };
  const inPath: Record<string, string> = {};
  for (const field of operation.extras) {
    const value = draft.extras[keyOf(field)];
    if (value === undefined || value === '') continue;
    if (field.where === 'path') inPath[field.name] = jsonText(value);
    else if (field.where === 'query') request.query[field.name] = jsonText(value);
    else request.headers[field.name] = oneLine(jsonText(value));
  }
  request.path = pathOf(operation, inPath);
  if (draft.accept) request.headers.Accept = draft.accept;
  else if (operation.answers[0] && operation.answers[0] !== 'application/json')
    request.headers.Accept = operation.answers[0];
  if (operation.fileTypes.length > 0) {
    request.file = draft.file;
    request.headers['Content-Type'] = draft.fileType || 'application/octet-stream';
  } else if (operation.input !== null) {
    addInput(operation, draft, request);
  }
  return request;
}

function pathOf(operation: Operation, values: Record<string, string>): string {
  const filled = operation.path.replace(/\{([^}]+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    // The path of a tile has slashes of its own.
    return name === 'tile' ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
  });
  return filled.replace(/^\//, '');
}

function addInput(operation: Operation, draft: Draft, request: WireRequest): void {
  const read = draft.raw === null ? { value: draft.input } : readJson(draft.raw);
  const isLook = operation.method === 'GET';
  const isEmpty = 'value' in read && (read.value === undefined || JSON.stringify(read.value) === '{}');
  // JSON that is not finished fits only a body.
  if (isLook && 'value' in read && (draft.isInQueryString || isEmpty)) {
    const values = typeof read.value === 'object' && read.value !== null ? read.value : {};
    for (const [name, value] of Object.entries(values)) {
      request.query[name] = Array.isArray(value)
        ? value.join(',')
        : typeof value === 'object'
          ? JSON.stringify(value)
          : jsonText(value);
    }
    return;
  }
  if (isLook) request.method = 'QUERY';
  if ('wrong' in read) request.text = draft.raw;
  else request.json = read.value ?? (operation.isInputRequired ? {} : undefined);
  if (request.json !== undefined || request.text !== null) request.headers['Content-Type'] = 'application/json';
}

const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ');

/** Returns path and query string as they stand in an address. */
export function addressPart(request: WireRequest): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, jsonText(value));
  }
  const text = query.toString();
  return request.path + (text ? `?${text}` : '');
}
