/** API errors by HTTP status. */
import { ApiError } from './errors.js';

/** 400: a parameter or the body is missing, invalid or unknown. */
export class BadRequestError extends ApiError {
  override name = 'BadRequestError';
}

/** 401: the API key is missing, malformed, unknown, expired or revoked. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}

/** 403: the key does not allow this operation. */
export class PermissionDeniedError extends ApiError {
  override name = 'PermissionDeniedError';
}

/** 404: the resource does not exist, or the key may not see it. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** 409: the request conflicts with the current state, such as an id that is taken. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}

/** 412: the resource has changed since the tag or generation in `ifMatch` was read. */
export class PreconditionFailedError extends ApiError {
  override name = 'PreconditionFailedError';
}

/** 422: the request is well-formed, but the service cannot carry it out. */
export class UnprocessableEntityError extends ApiError {
  override name = 'UnprocessableEntityError';
}

/** 429: too many requests. `retryAfterSeconds` is the wait before the next attempt. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
}

/** 500 or above: the service failed, or is unavailable. */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

ApiError.byStatus.set(400, BadRequestError);
ApiError.byStatus.set(401, AuthenticationError);
ApiError.byStatus.set(403, PermissionDeniedError);
ApiError.byStatus.set(404, NotFoundError);
ApiError.byStatus.set(409, ConflictError);
ApiError.byStatus.set(412, PreconditionFailedError);
ApiError.byStatus.set(422, UnprocessableEntityError);
ApiError.byStatus.set(429, RateLimitError);
ApiError.byStatus.set(500, ServerError);
