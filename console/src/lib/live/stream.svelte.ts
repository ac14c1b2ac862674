/**
 * Live messages of a timeline. All listeners of a page share one connection per timeline; see `hub.ts` for how tabs
 * share connections.
 */
import { address, type Query } from '../service/base';
import { Lines } from './lines';
import type { LineState, Message, ToPage } from './protocol';
import { reach } from '../service/reach.svelte';
import { session } from '../session/session.svelte';

export type { Message } from './protocol';

/** Topics of every stream. Paradoxes are added on request because the service scans all events for them. */
const TOPICS = 'clock,events,interventions';
/** Time after which the page reports a slow connection. */
const SLOW_MS = 3_000;
/** Maximum delay of the initial read. */
const BEGIN_MAX_MS = 1_000;
/** The service sends a heartbeat every 15 seconds. After a longer silence, the displayed data may be outdated. */
const SILENT_MS = 20_000;

interface Subscription {
  timeline: string;
  /** Event names to receive. */
  events: readonly string[];
  /** Paradox search parameters, if paradoxes are wanted. */
  paradoxes?: Query;
  /** Filter for events and interventions; all if missing. */
  filter?: Query;
}

/** A listener. Close it when the view unmounts. */
export class Stream {
  state = $state<LineState>('connecting');
  /** Whether the connection is slow. */
  isSlow = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasBegun = false;
  #beginning: ReturnType<typeof setTimeout> | undefined;

  /**
   * `onBegin` is called when the data that messages update should be read: no change falls between that read and the
   * messages. This is once the connection is open, or after `BEGIN_MAX_MS`, and again after a gap, such as when the
   * page was hidden.
   */
  constructor(
    readonly subscription: Subscription,
    private readonly onMessage: (message: Message) => void,
    private readonly onBegin: () => void = () => {},
  ) {
    this.become('connecting');
    this.#beginning = setTimeout(() => this.#begin(), BEGIN_MAX_MS);
    exchange.join(this);
  }

  #begin(): void {
    clearTimeout(this.#beginning);
    this.#hasBegun = true;
    this.onBegin();
  }

  become(state: LineState, hasGap = false): void {
    this.state = state;
    const isThere = state === 'open';
    if ((isThere && hasGap) || (!this.#hasBegun && (isThere || state === 'lost' || state === 'rejected')))
      this.#begin();
    if (state === 'connecting' || state === 'waiting') {
      this.#timer ??= setTimeout(() => (this.isSlow = true), SLOW_MS);
    } else {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.isSlow = false;
    }
  }

  receive(message: Message): void {
    if (this.subscription.events.includes(message.event)) this.onMessage(message);
  }

  /** Text about connection problems, or null. */
  get trouble(): string | null {
    if (this.state === 'lost') return 'Connection lost. Reconnecting…';
    return this.isSlow ? 'Waiting for a connection…' : null;
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#beginning);
    exchange.leave(this);
  }
}

/** The shared connection of one timeline. */
interface Line {
  url: string;
  hasParadoxes: boolean;
  state: LineState;
  clock: { message: Message; at: number } | null;
  /** Runs out when heartbeats stop. */
  silence: ReturnType<typeof setTimeout> | undefined;
}

class Exchange {
  #streams = new Set<Stream>();
  /** Listeners that have not received the current state yet. */
  #new = new Set<Stream>();
  #byTimeline = new Map<string, Line>();
  #lines = new Lines((update) => this.#receive(update));
  #isDue = false;
  /** URLs the service rejected because there are too many paradoxes. */
  #rejectedUrls = new Set<string>();
  #isReadingSession = false;

  join(stream: Stream): void {
    this.#streams.add(stream);
    this.#new.add(stream);
    this.#arrange();
  }

  leave(stream: Stream): void {
    this.#streams.delete(stream);
    this.#new.delete(stream);
    this.#arrange();
  }

  /** Deferred, so that a view that replaces another with the same streams does not reconnect. */
  #arrange(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#connect();
    });
  }

  #connect(): void {
    const timelines = new Set([...this.#streams].map((stream) => stream.subscription.timeline));
    for (const [timeline, line] of this.#byTimeline) {
      if (timelines.has(timeline)) continue;
      clearTimeout(line.silence);
      this.#byTimeline.delete(timeline);
    }
    for (const timeline of timelines) {
      const found = this.#requestFor(timeline);
      const before = this.#byTimeline.get(timeline);
      if (before?.url === found.url) continue;
      clearTimeout(before?.silence);
      this.#byTimeline.set(timeline, { ...found, state: 'connecting', clock: null, silence: undefined });
      this.#each(found.url, (stream) => stream.become('connecting'));
    }
    const urls = [...this.#byTimeline.values()].map((line) => line.url);
    // A hub caches messages, which the next user must not see: each session has its own hub.
    this.#lines.join(session.body?.session_id ?? '');
    this.#lines.subscribe(urls);
    for (const stream of this.#new) this.#replay(stream);
    this.#new.clear();
  }

  /** Sends the cached state to a new listener. */
  #replay(stream: Stream): void {
    const line = this.#byTimeline.get(stream.subscription.timeline);
    if (line === undefined) return;
    if (stream.subscription.paradoxes && !line.hasParadoxes) {
      stream.become('rejected');
      return;
    }
    stream.become(line.state, true);
    if (line.clock === null) return;
    const { message, at } = line.clock;
    stream.receive({ ...message, isFirst: true, ageMs: message.ageMs + performance.now() - at });
  }

  #requestFor(timeline: string): { url: string; hasParadoxes: boolean } {
    const all = [...this.#streams]
      .map(({ subscription }) => subscription)
      .filter((subscription) => subscription.timeline === timeline);
    const plain: Query = { timeline_id: timeline, topics: TOPICS, ...filterOf(all) };
    const withParadoxes = all.find((subscription) => subscription.paradoxes);
    if (withParadoxes) {
      const url = address('v1/stream', { ...plain, ...withParadoxes.paradoxes, topics: `${TOPICS},paradoxes` });
      if (!this.#rejectedUrls.has(url)) return { url, hasParadoxes: true };
    }
    return { url: address('v1/stream', plain), hasParadoxes: false };
  }

  /** Calls `act` for each stream of a connection. Streams whose paradoxes were rejected have none. */
  #each(url: string, act: (stream: Stream) => void): void {
    for (const stream of this.#streams) {
      const line = this.#byTimeline.get(stream.subscription.timeline);
      if (line?.url !== url || (stream.subscription.paradoxes && !line.hasParadoxes)) continue;
      act(stream);
    }
  }

  #receive(update: ToPage): void {
    const line = [...this.#byTimeline.values()].find((candidate) => candidate.url === update.url);
    if (line === undefined) return;
    if (update.kind === 'message') {
      if (update.message.event === 'clock') line.clock = { message: update.message, at: performance.now() };
      this.#each(update.url, (stream) => stream.receive(update.message));
    } else if (update.kind === 'unauthenticated') {
      void this.#readSession();
    } else {
      if (update.state === 'lost') reach.failed();
      if (update.state === 'open') reach.worked();
      const wasLost = line.state === 'lost';
      line.state = update.state;
      this.#each(update.url, (stream) => stream.become(update.state, update.hasGap));
      // Another user may have logged in meanwhile.
      if (wasLost && update.state === 'open') void this.#readSession();
      if (update.state === 'rejected' && line.hasParadoxes) {
        this.#rejectedUrls.add(update.url);
        this.#arrange();
      }
    }
    clearTimeout(line.silence);
    if (line.state === 'open') line.silence = setTimeout(() => this.#expire(update.url), SILENT_MS);
  }

  /** A silent connection counts as lost and is requested again. */
  #expire(url: string): void {
    this.#receive({ kind: 'state', url, state: 'lost', hasGap: false });
    this.#connect();
  }

  async #readSession(): Promise<void> {
    if (this.#isReadingSession) return;
    this.#isReadingSession = true;
    try {
      await session.read();
      if (session.user !== null) this.#connect();
    } catch {
      // Unreachable again; the stream reports it.
    }
    this.#isReadingSession = false;
  }
}

/** Topics that a filter applies to. */
const FILTERED = ['events', 'interventions'];

/** Returns the filter for a connection if all listeners to events share it. Otherwise all events are needed. */
function filterOf(all: readonly Subscription[]): Query {
  const filters = all
    .filter(({ events }) => events.some((name) => FILTERED.includes(name)))
    .map(({ filter }) => filter);
  const [first] = filters;
  const isShared = filters.every((filter) => JSON.stringify(filter) === JSON.stringify(first));
  return isShared ? (first ?? {}) : {};
}

const exchange = new Exchange();
