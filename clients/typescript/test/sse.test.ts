import { describe, expect, it } from 'vitest';
import { EventReader } from '../src/sse.js';

describe('server-sent events', () => {
  it('are parsed from chunks of any size', () => {
    const text =
      'id: 1\n\nevent: progress\ndata: {"a":1}\n\n: heartbeat\n\nid: 7\nevent: result\r\n' +
      'data: one\r\ndata: two\r\n\r\ndata:naïve ü\n\ndata: incomplete\n';
    const bytes = new TextEncoder().encode(text);
    for (const size of [1, 3, 7, 1_000]) {
      const reader = new EventReader();
      const events = [];
      for (let at = 0; at < bytes.length; at += size) events.push(...reader.push(bytes.slice(at, at + size)));
      expect(events).toEqual([
        { event: 'progress', id: '1', data: '{"a":1}' },
        { event: 'result', id: '7', data: 'one\ntwo' },
        { event: 'message', id: '7', data: 'naïve ü' },
      ]);
    }
  });
});
