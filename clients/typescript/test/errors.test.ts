/** The classes of request errors, and the type of their codes. */
import { describe, expect, it } from 'vitest';
import * as timenav from '../src/index.js';
import { ApiError, type ErrorCode } from '../src/index.js';
import { client, readText, rejection, stubServer } from './harness.js';

const KEY = `tnk_${'0'.repeat(36)}`;

describe('the class of an error', () => {
  it.each([
    [302, 'ApiError'],
    [400, 'BadRequestError'],
    [401, 'AuthenticationError'],
    [403, 'PermissionDeniedError'],
    [404, 'NotFoundError'],
    [405, 'ApiError'],
    [409, 'ConflictError'],
    [410, 'ApiError'],
    [412, 'PreconditionFailedError'],
    [422, 'UnprocessableEntityError'],
    [429, 'RateLimitError'],
    [500, 'ServerError'],
    [503, 'ServerError'],
  ] as const)('depends on the status: %i', async (httpStatus, name) => {
    const { url } = await stubServer([[httpStatus, {}]]);
    const service = new timenav.Client({ baseUrl: url, apiKey: KEY, retries: { attempts: 1 } });
    const error = (await rejection(service.clock())) as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    expect([error.constructor, error.name, error.httpStatus]).toEqual([timenav[name], name, httpStatus]);
  });

  it('is NotFoundError for a timeline that does not exist', async () => {
    const error = await rejection(client().timeline({ timeline_id: 'no-such-timeline' }));
    expect(error).toBeInstanceOf(timenav.NotFoundError);
    expect((error as ApiError).code).toBe('not_found');
  });

  it('has a name that ends in Error', () => {
    const kinds = Object.entries(timenav).filter(
      ([, kind]) => typeof kind === 'function' && kind.prototype instanceof timenav.TimenavError,
    );
    expect(kinds.length).toBeGreaterThanOrEqual(20);
    for (const [name] of kinds) expect(name).toMatch(/Error$/);
  });
});

describe('the code of an error', () => {
  it('is unexpected_response for the response of a proxy', () => {
    const error = ApiError.of(502, '<html>Bad Gateway</html>', null, null);
    expect([error.name, error.code]).toEqual(['ServerError', 'unexpected_response']);
  });

  it('has a type that lists the documented codes', () => {
    const rows = readText('docs/errors.md').matchAll(/^\| <a id="[a-z_]+"><\/a>`([a-z_]+)` \|/gm);
    const documented = [...rows].map(([, code]) => code);
    const typed = [...readText('clients/typescript/src/error-codes.ts').matchAll(/^ {2}\| '([a-z_]+)'/gm)];
    expect(typed.map(([, code]) => code)).toEqual([...documented, 'unexpected_response']);
  });

  it('has a type that rejects misspelled codes', () => {
    const known: ErrorCode = 'not_found';
    // @ts-expect-error -- misspelled
    const misspelled: ErrorCode = 'not_fuond';
    expect(known).not.toBe(misspelled);
    const { code } = ApiError.of(404, { code: known }, null, null);
    // @ts-expect-error -- misspelled
    expect(code === 'not_fuond').toBe(false);
  });
});
