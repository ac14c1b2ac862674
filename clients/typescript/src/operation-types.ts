/** Types of calls, derived from the OpenAPI document. */
import type { components, operations } from './openapi.js';

/** A type of a request or a response, by its schema name in the OpenAPI document. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** An operation, by its name in the OpenAPI document. */
export type OperationName = keyof operations;

type Parameters<Name extends OperationName> = operations[Name]['parameters'];
type Path<Name extends OperationName> = Parameters<Name> extends { path: infer P } ? P : unknown;
type Query<Name extends OperationName> =
  Parameters<Name> extends { query?: infer Q } ? OrUnknown<Exclude<Q, undefined>> : unknown;
type OrUnknown<T> = [T] extends [never] ? unknown : T;
type Content<Name extends OperationName> = operations[Name] extends { requestBody?: infer B }
  ? NonNullable<B> extends { content: infer C }
    ? C
    : never
  : never;
/** The content of a file: bytes, text, or a stream. */
export type FileContent = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string | ReadableStream<Uint8Array>;
type Body<Name extends OperationName> = Name extends 'record_events'
  ? { body: Schema<'EventsRequest'> }
  : [Content<Name>] extends [never]
    ? unknown
    : Content<Name> extends Record<'application/x-ndjson', unknown>
      ? { content: FileContent; content_type?: keyof Content<Name> }
      : Content<Name> extends Record<'application/json', infer B>
        ? B
        : unknown;

/** The parameters of an operation: those of its path and query, and the members of its body, in one object. */
export type Input<Name extends OperationName> = object & Path<Name> & Query<Name> & Body<Name>;

type Success<Name extends OperationName> = operations[Name]['responses'] extends infer R
  ? R extends { 200: infer A }
    ? A
    : R extends { 201: infer A }
      ? A
      : never
  : never;

/** The response of an operation. */
export type Output<Name extends OperationName> =
  Success<Name> extends { content: { 'application/json': infer A } } ? A : never;

/** An operation that returns one page of a list, by its name in the OpenAPI document. */
export type PagedOperation = {
  [Name in OperationName]: [Output<Name>] extends [never]
    ? never
    : 'next_cursor' extends keyof Output<Name>
      ? Name
      : never;
}[OperationName];

/** A message of `stream`. Its schema is defined here, because the OpenAPI document describes it only in prose. */
export interface StreamMessage {
  timeline_id: string;
  /** The position of the ledger entry. */
  position: number;
  clock?: Schema<'ClockBody'>;
  /** The change of an event or a paradox. */
  change?: 'recorded' | 'corrected' | 'manipulated' | 'created' | 'resolved';
  event_id?: string;
  /** The event as it was recorded or corrected; absent if it has been erased since. */
  event?: Schema<'EventBody'>;
  /** The intervention; absent if it has been erased since. */
  intervention?: Schema<'InterventionBody'>;
  /** The paradox that was created or resolved. A resolved one is sent as it was before. */
  paradox?: Schema<'ParadoxBody'>;
  /**
   * The virtual time that the clock has passed, if it contains events: first and last instant, and the range as text.
   */
  due?: { from: string; to: string; time_range: string };
}

/**
 * A message of `firings_stream`. Its schema is defined here, because the OpenAPI document describes it only in prose.
 */
export interface FiringMessage {
  timeline_id: string;
  /** The position of the newest reported ledger entry. */
  position: number;
  /** The firing and its change; absent if the event is `gap` or `reset`. */
  firing?: {
    /** The change; docs/timers.md lists all values. */
    change: string;
    firing_id: string;
    timer_id: string;
    /** The due time. */
    due: string;
    round: number;
    /** The queue of the firing; absent if it records an event. */
    queue?: string;
    /** The event that it recorded, if its timer records events. */
    event_id?: string;
    order_key?: string;
    claimed_by?: string;
    /** The number of this attempt, from 1. */
    attempt?: number;
    /** Host time at which the lease ends. */
    leased_until?: string;
    /** Earliest host time of the next attempt. */
    not_before?: string;
    /** The reason of the failure. */
    reason?: string;
  };
}
