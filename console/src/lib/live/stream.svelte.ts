/**
 * What happens on a timeline, as the service tells it: one line for all of the page, whoever listens. See `hub.ts`
 * for how tabs share them.
 */
import { address, type Query } from '../service/base';
import { Lines } from './lines';
import type { LineState, Message, ToPage } from './protocol';
import { reach } from '../service/reach.svelte';
import { session } from '../session/session.svelte';

export type { Message } from './protocol';

/** What every line tells; paradoxes only where somebody wants them: the service looks through all events for them. */
const TOPICS = 'clock,events,interventions';
/** A connection that takes longer is waited for, and the page says so. */
const SLOW_MS = 3_000;
/** Reading waits so long for a connection, and no longer. */
const BEGIN_MAX_MS = 1_000;
/** The service says something every 15 seconds. A line that is silent for longer may show what is no longer so. */
const SILENT_MS = 20_000;

interface Subscription {
  timeline: string;
  /** Names of messages to be told of. */
  events: readonly string[];
  /** How to look for paradoxes, where they are wanted. */
  paradoxes?: Query;
  /** Which events and interventions to be told of; all where it is missing. */
  filter?: Query;
}

/** Somebody who listens. Close it when the view goes away. */
export class Stream {
  state = $state<LineState>('connecting');
  /** Whether the connection is taking long. */
  isSlow = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasBegun = false;
  #beginning: ReturnType<typeof setTimeout> | undefined;

  /**
   * `onBegin` is the moment to read what the messages will change: what is read from then on, and what is told, have no
   * gap between them. It is called once the line is open, or when it is clear that it will not be soon; and again
   * whenever something may have happened that was told to nobody, as while the page was hidden.
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
    if ((isThere && hasGap) || (!this.#hasBegun && (isThere || state === 'lost' || state === 'refused'))) this.#begin();
    if (state === 'connecting' || state === 'waiting') {
      this.#timer ??= setTimeout(() => (this.isSlow = true), SLOW_MS);
    } else {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.isSlow = false;
    }
  }

  hear(message: Message): void {
    if (this.subscription.events.includes(message.event)) this.onMessage(message);
  }

  /** Returns what to tell people of the connection, or null where all is well. */
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

/** The line of one timeline. */
interface Line {
  url: string;
  hasParadoxes: boolean;
  state: LineState;
  clock: { message: Message; at: number } | null;
  /** Runs until the line has been silent for too long. */
  silence: ReturnType<typeof setTimeout> | undefined;
}

class Exchange {
  #streams = new Set<Stream>();
  /** Those that were told nothing yet. */
  #new = new Set<Stream>();
  #byTimeline = new Map<string, Line>();
  #lines = new Lines((update) => this.#hear(update));
  #isDue = false;
  /** Addresses that the service refused because there are too many paradoxes to look for. */
  #refused = new Set<string>();
  #isAsking = false;

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

  /** A view that gives way to another wants the same: it is asked only once both are through. */
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
      const found = this.#question(timeline);
      const before = this.#byTimeline.get(timeline);
      if (before?.url === found.url) continue;
      clearTimeout(before?.silence);
      this.#byTimeline.set(timeline, { ...found, state: 'connecting', clock: null, silence: undefined });
      this.#each(found.url, (stream) => stream.become('connecting'));
    }
    const urls = [...this.#byTimeline.values()].map((line) => line.url);
    // A hub keeps what it was told, which the next user need not know: each session has its own.
    this.#lines.join(session.body?.session_id ?? '');
    this.#lines.want(urls);
    for (const stream of this.#new) this.#welcome(stream);
    this.#new.clear();
  }

  /** Tells what the line knows already. */
  #welcome(stream: Stream): void {
    const line = this.#byTimeline.get(stream.subscription.timeline);
    if (line === undefined) return;
    if (stream.subscription.paradoxes && !line.hasParadoxes) {
      stream.become('refused');
      return;
    }
    stream.become(line.state, true);
    if (line.clock === null) return;
    const { message, at } = line.clock;
    stream.hear({ ...message, isFirst: true, ageMs: message.ageMs + performance.now() - at });
  }

  #question(timeline: string): { url: string; hasParadoxes: boolean } {
    const all = [...this.#streams]
      .map(({ subscription }) => subscription)
      .filter((subscription) => subscription.timeline === timeline);
    const plain: Query = { timeline_id: timeline, topics: TOPICS, ...filterOf(all) };
    const withParadoxes = all.find((subscription) => subscription.paradoxes);
    if (withParadoxes) {
      const url = address('v1/stream', { ...plain, ...withParadoxes.paradoxes, topics: `${TOPICS},paradoxes` });
      if (!this.#refused.has(url)) return { url, hasParadoxes: true };
    }
    return { url: address('v1/stream', plain), hasParadoxes: false };
  }

  /** Does something with each stream of a line. Paradoxes that were refused are told by no line. */
  #each(url: string, act: (stream: Stream) => void): void {
    for (const stream of this.#streams) {
      const line = this.#byTimeline.get(stream.subscription.timeline);
      if (line?.url !== url || (stream.subscription.paradoxes && !line.hasParadoxes)) continue;
      act(stream);
    }
  }

  #hear(update: ToPage): void {
    const line = [...this.#byTimeline.values()].find((candidate) => candidate.url === update.url);
    if (line === undefined) return;
    if (update.kind === 'message') {
      if (update.message.event === 'clock') line.clock = { message: update.message, at: performance.now() };
      this.#each(update.url, (stream) => stream.hear(update.message));
    } else if (update.kind === 'stranger') {
      void this.#askWho();
    } else {
      if (update.state === 'lost') reach.failed();
      if (update.state === 'open') reach.worked();
      const wasLost = line.state === 'lost';
      line.state = update.state;
      this.#each(update.url, (stream) => stream.become(update.state, update.hasGap));
      // While it was away, somebody else may have logged in.
      if (wasLost && update.state === 'open') void this.#askWho();
      if (update.state === 'refused' && line.hasParadoxes) {
        this.#refused.add(update.url);
        this.#arrange();
      }
    }
    clearTimeout(line.silence);
    if (line.state === 'open') line.silence = setTimeout(() => this.#miss(update.url), SILENT_MS);
  }

  /** A line that is silent counts as lost, and the hub is asked for it again. */
  #miss(url: string): void {
    this.#hear({ kind: 'state', url, state: 'lost', hasGap: false });
    this.#connect();
  }

  async #askWho(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      await session.read();
      if (session.user !== null) this.#connect();
    } catch {
      // Unreachable again: the line tells.
    }
    this.#isAsking = false;
  }
}

/** What a filter on a line concerns. */
const FILTERED = ['events', 'interventions'];

/** Returns the filter that a line can have: that of all who want to be told of events. Others need all of them. */
function filterOf(all: readonly Subscription[]): Query {
  const filters = all
    .filter(({ events }) => events.some((name) => FILTERED.includes(name)))
    .map(({ filter }) => filter);
  const [first] = filters;
  const isShared = filters.every((filter) => JSON.stringify(filter) === JSON.stringify(first));
  return isShared ? (first ?? {}) : {};
}

const exchange = new Exchange();
