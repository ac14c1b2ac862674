/** The timenav client: typed calls for the whole API, and a virtual clock that is computed locally. */
export { Client, type AdvanceOptions, type ClockOptions } from './client.js';
export { ClockState } from './clock-state.js';
export type { ErrorCode } from './error-codes.js';
export * from './errors.js';
export * from './status-errors.js';
export { FiringClock, type Firing } from './firing.js';
export { Follower, type StalenessBounds, type ClockChange, type Reading } from './follower.js';
export { Instant, type When } from './instant.js';
export { Listener, type Handler, type ListenOptions } from './listener.js';
export type { Receipt } from './receipt.js';
export type { RetryPolicy } from './retry.js';
export type { ClientOptions } from './settings.js';
export type {
  Output,
  FileContent,
  FiringMessage,
  Input,
  OperationName,
  PagedOperation,
  Schema,
  StreamMessage,
} from './operation-types.js';
export { EventStream, type CallOptions, type ServerSentEvent } from './transport.js';
export { VirtualClock, type WaitOptions } from './virtual-clock.js';
export { Watch, type WatchOptions } from './watch.js';
export type { FiringChange, FiringUpdate, Gap, DueRange, WatchedFiring } from './watch-messages.js';
