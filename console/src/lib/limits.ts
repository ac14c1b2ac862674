import { call } from './api';

/** Returns the limits of the service by name. */
export async function readLimits(): Promise<Record<string, number>> {
  return (await call<{ limits: Record<string, number> }>('GET', 'v1/limits')).limits;
}
