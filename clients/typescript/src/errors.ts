/** Errors of this package. */
import type { ErrorCode } from './error-codes.js';
import type { Receipt } from './receipt.js';

/** The base class of this package's errors. Invalid arguments throw `RangeError` instead. */
export class TimenavError extends Error {
  override name = 'TimenavError';
}

/** The API key is missing, or a setting is invalid. No request was sent. */
export class SettingsError extends TimenavError {
  override name = 'SettingsError';
}

/** No complete response arrived. A change may have taken effect: repeat it with the same idempotency key. */
export class ApiConnectionError extends TimenavError {
  override name = 'ApiConnectionError';
}

/** An error in one field. */
export interface FieldError {
  /** The field, such as `destination_time` or `causes/0/kind`. */
  field: string;
  code: ErrorCode;
  /** An explanation of the error. */
  detail: string;
}

/**
 * The service rejected the request. There is a subclass for each HTTP status.
 *
 * Branch on the class or on `code`. `status` and `detail` are sentences for people. docs/errors.md lists the codes. The
 * code `unexpected_response` marks a response that does not come from the service, such as the error page of a proxy.
 */
export class ApiError extends TimenavError {
  /** @internal The subclass for each HTTP status. The one of 500 also covers higher statuses. */
  static readonly byStatus = new Map<number, typeof ApiError>();

  override name = 'ApiError';

  constructor(
    readonly httpStatus: number,
    readonly code: ErrorCode,
    /** A sentence about what happened. */
    readonly status: string,
    /** An explanation of the error. */
    readonly detail: string,
    readonly errors: readonly FieldError[] = [],
    readonly requestId: string | null = null,
    readonly retryAfterSeconds: number | null = null,
  ) {
    const fields = errors.map((error) => `\n  ${error.field}: ${error.detail}`).join('');
    super(`${status} (${code})${fields || ` ${detail}`}`.trimEnd());
  }

  /** The first invalid field, or null if the error is not about fields. */
  get field(): string | null {
    return this.errors[0]?.field ?? null;
  }

  /** Parses an error response. It may come from a proxy, so its body may have any form. */
  static of(httpStatus: number, body: unknown, requestId: string | null, retryAfterSeconds: number | null): ApiError {
    const members = (typeof body === 'object' ? body : null) as Record<string, unknown> | null;
    const text = (name: string, fallback: string): string => {
      const value = members?.[name];
      return typeof value === 'string' ? value : fallback;
    };
    const errors = Array.isArray(members?.errors) ? (members.errors as Record<string, unknown>[]) : [];
    const part = (value: unknown): string => (typeof value === 'string' ? value : '');
    const kind = ApiError.byStatus.get(Math.min(httpStatus, 500)) ?? ApiError;
    return new kind(
      httpStatus,
      // A newer service may return codes that this version does not list.
      text('code', 'unexpected_response') as ErrorCode,
      text('status', `The response has status ${httpStatus} and is not from timenav.`),
      text('detail', ''),
      errors.map(({ pointer, code, detail }) => {
        return { field: part(pointer).replace(/^#?\/?/, ''), code: part(code) as ErrorCode, detail: part(detail) };
      }),
      text('request_id', '') || requestId,
      retryAfterSeconds,
    );
  }
}

/** The clock cannot be read. */
export class ClockUnavailableError extends TimenavError {
  override name = 'ClockUnavailableError';
}

/** The service has not confirmed the clock within the staleness bounds, so a reading may be wrong. */
export class ClockStaleError extends ClockUnavailableError {
  override name = 'ClockStaleError';
}

/** The caller may no longer watch the clock: the timeline or the API key has ended. `problem` is the response. */
export class ClockAccessError extends ClockUnavailableError {
  override name = 'ClockAccessError';

  constructor(readonly problem: ApiError) {
    super(`the clock can no longer be watched: ${problem.message}`);
  }
}

/** A handler waits for a moment that the clock cannot reach before the handler finishes. */
export class WaitPastFiringError extends ClockUnavailableError {
  override name = 'WaitPastFiringError';
}

/**
 * An advance ended before its destination. `receipt` has the time reached, the firings, and the last holder.
 */
export class NotSettledError extends TimenavError {
  override name = 'NotSettledError';

  constructor(readonly receipt: Receipt) {
    const held = receipt.heldBy === null ? '' : `, held by ${receipt.heldBy}`;
    super(`the advance is ${receipt.state} at ${String(receipt.reached)}, before ${String(receipt.to)}${held}`);
  }
}

/** An advance reached its destination, but some of its firings failed. `receipt` lists them with their reasons. */
export class FiringsFailedError extends TimenavError {
  override name = 'FiringsFailedError';

  constructor(readonly receipt: Receipt) {
    const failed = receipt.firings.find(({ state }) => state === 'failed');
    const first = failed ? `: ${failed.timer_id} at ${failed.due}: ${failed.reason ?? 'no reason'}` : '';
    super(`${receipt.failed} of ${receipt.fired} firings failed${first}`);
  }
}

/** The clock was closed. */
export class ClockClosedError extends ClockUnavailableError {
  override name = 'ClockClosedError';
}

/** A wait exceeded its `timeoutMs`. */
export class TimeoutError extends TimenavError {
  override name = 'TimeoutError';
}
