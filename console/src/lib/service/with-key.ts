import { Settings } from '../../../../clients/typescript/src/settings';
import { Service } from './api';

/** Returns a client that authenticates with an API key. */
export function serviceWithKey(apiKey: string): Service {
  const baseUrl = new URL('.', document.baseURI).href;
  return new Service(new Settings({ baseUrl, apiKey, retries: { attempts: 1 } }));
}
