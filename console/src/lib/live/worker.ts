/** The hub as a SharedWorker: one for all tabs of a session. */
import { Hub } from './hub';

const hub = new Hub();

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port) hub.join(port);
});
