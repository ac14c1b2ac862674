import { isAborted } from './api';

interface Options {
  onerror?: (error: unknown) => void;
  /** Milliseconds to wait before the request. */
  delay?: number;
}

/** Sends the request of an effect. Returns the effect's cleanup, after which no callback is called. */
export function request<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  ondone: (body: T) => void,
  { onerror, delay }: Options = {},
): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  const begin = (): void =>
    void ask(signal).then(
      (body) => {
        if (!signal.aborted) ondone(body);
      },
      (error: unknown) => {
        if (!signal.aborted && !isAborted(error)) onerror?.(error);
      },
    );
  let timer: ReturnType<typeof setTimeout> | undefined;
  if (delay === undefined) begin();
  else timer = setTimeout(begin, delay);
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}
