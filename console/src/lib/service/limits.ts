import { service } from './api';

/** Returns the limits of the service by name. */
export async function readLimits(): Promise<Record<string, number>> {
  return (await service.limits()).limits as Record<string, number>;
}
