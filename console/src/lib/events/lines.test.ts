import { expect, it } from 'vitest';
import { linesOf } from './lines';

it('exported event is one line without server fields and empty fields', () => {
  const events = [
    { event_id: 'a', time: '1969-07-16T13:32:00Z', description: 'It lifts off.', position: 7, timeline_id: 'demo' },
    { event_id: 'b', time: '1969-07-20T20:17:40Z', description: 'Line\nend', name: null, causes: [{ event_id: 'a' }] },
  ];
  expect(linesOf(events).split('\n')).toEqual([
    '{"event_id":"a","time":"1969-07-16T13:32:00Z","description":"It lifts off."}',
    '{"event_id":"b","time":"1969-07-20T20:17:40Z","description":"Line\\nend","causes":[{"event_id":"a"}]}',
    '',
  ]);
});
