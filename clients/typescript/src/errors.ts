/** What can go wrong. */
import type { Receipt } from './receipt.js';

/** Everything that this package throws on purpose. */
export class TimenavError extends Error {
  override name = 'TimenavError';
}

/** The address or the key of the service is missing or wrong. Nothing was sent. */
export class SettingsError extends TimenavError {
  override name = 'SettingsError';
}

/** No answer came. A change may have happened: send it again with the same idempotency key to find out. */
export class Unreachable extends TimenavError {
  override name = 'Unreachable';
}

/** What is wrong with one field. */
export interface FieldError {
  /** The field, such as `destination_time` or `causes/0/kind`. */
  field: string;
  code: string;
  /** What would be right. */
  detail: string;
}

/** The service refused a request, and says why. Branch on `code`; `status` and `detail` are sentences for people. */
export class Problem extends TimenavError {
  override name = 'Problem';

  constructor(
    readonly httpStatus: number,
    readonly code: string,
    /** What happened. */
    readonly status: string,
    /** What would be right. */
    readonly detail: string,
    readonly errors: readonly FieldError[] = [],
    readonly requestId: string | null = null,
    readonly retryAfterSeconds: number | null = null,
  ) {
    const fields = errors.map((error) => `\n  ${error.field}: ${error.detail}`).join('');
    super(`${status} (${code})${fields || ` ${detail}`}`.trimEnd());
  }

  /** The first field that is wrong, or null if the problem is about none. */
  get field(): string | null {
    return this.errors[0]?.field ?? null;
  }

  /** Reads a refusal out of an answer, whoever gave it: a proxy does not know the shape of our errors. */
  static of(httpStatus: number, body: unknown, requestId: string | null, retryAfterSeconds: number | null): Problem {
    const told = (typeof body === 'object' ? body : null) as Record<string, unknown> | null;
    const text = (name: string, otherwise: string): string => {
      const value = told?.[name];
      return typeof value === 'string' ? value : otherwise;
    };
    const errors = Array.isArray(told?.errors) ? (told.errors as Record<string, unknown>[]) : [];
    const part = (value: unknown): string => (typeof value === 'string' ? value : '');
    return new Problem(
      httpStatus,
      text('code', `http_${httpStatus}`),
      text('status', `The service answered ${httpStatus}.`),
      text('detail', ''),
      errors.map(({ pointer, code, detail }) => {
        return { field: part(pointer).replace(/^#?\/?/, ''), code: part(code), detail: part(detail) };
      }),
      text('request_id', '') || requestId,
      retryAfterSeconds,
    );
  }
}

/** The clock cannot say what time it is. */
export class ClockUnavailable extends TimenavError {
  override name = 'ClockUnavailable';
}

/** The service has not confirmed the clock for too long, so what it shows may be wrong. */
export class ClockStale extends ClockUnavailable {
  override name = 'ClockStale';
}

/** The service does not let this user watch the clock any more. */
export class ClockRefused extends ClockUnavailable {
  override name = 'ClockRefused';

  constructor(readonly problem: Problem) {
    super(`the clock can no longer be watched: ${problem.message}`);
  }
}

/** A handler waits for a moment after that of its firing. The clock may stand until the handler is done. */
export class BeyondFiring extends ClockUnavailable {
  override name = 'BeyondFiring';
}

/** An advance ended before its destination: `receipt` says where, what had fired, and who held it. */
export class NotSettled extends TimenavError {
  override name = 'NotSettled';

  constructor(readonly receipt: Receipt) {
    const held = receipt.heldBy === null ? '' : `, held by ${receipt.heldBy}`;
    super(`the clock is ${receipt.state} at ${String(receipt.reached)}${held}`);
  }
}

/** An advance reached its destination, and firings on the way failed. `receipt` lists them, each with its reason. */
export class FiringsFailed extends TimenavError {
  override name = 'FiringsFailed';

  constructor(readonly receipt: Receipt) {
    const failed = receipt.firings.find(({ state }) => state === 'failed');
    const first = failed ? `: ${failed.timer_id} at ${failed.due}: ${failed.reason ?? 'no reason'}` : '';
    super(`${receipt.failed} of ${receipt.fired} firings failed${first}`);
  }
}

/** The clock was closed. */
export class ClockClosed extends ClockUnavailable {
  override name = 'ClockClosed';
}

/** A wait took longer than its `timeoutMs`. */
export class TimeoutError extends TimenavError {
  override name = 'TimeoutError';
}
