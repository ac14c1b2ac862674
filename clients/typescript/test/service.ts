/** Starts one service for all tests. */
import type { TestProject } from 'vitest/node';
import { Service } from '../src/testing.js';

declare module 'vitest' {
  export interface ProvidedContext {
    url: string;
    key: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const service = await Service.start();
  project.provide('url', service.baseUrl);
  project.provide('key', await service.apiKey());
  return () => service.stop();
}
