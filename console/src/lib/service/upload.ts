/** Uploads with progress. */
import { ApiConnectionError, logout, readJson, rejection } from './api';
import { address, type Query } from './base';

interface UploadOptions {
  query?: Query;
  type: string;
  /** Content encoding of the file. The service decompresses it. */
  encoding?: string | null;
  signal: AbortSignal;
  /** Receives the number of bytes sent so far. */
  onsent: (bytes: number) => void;
}

/**
 * Uploads a file as the request body and returns the response body, or throws an `ApiError`. Uses XMLHttpRequest, which
 * streams the file from disk and reports progress; `fetch` does not.
 */
export function upload<T>(path: string, file: Blob, options: UploadOptions): Promise<T> {
  const { query, type, encoding, signal, onsent } = options;
  return new Promise<T>((done, failed) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    request.open('POST', address(path, query));
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('Content-Type', type);
    if (encoding) request.setRequestHeader('Content-Encoding', encoding);
    request.upload.onprogress = (event) => onsent(event.loaded);
    request.onabort = () => failed(new DOMException('The upload was canceled.', 'AbortError'));
    request.onerror = () => failed(new ApiConnectionError('no response received'));
    request.onload = () => {
      if (request.status === 401) logout.listener();
      const headers = new Headers();
      for (const name of ['Retry-After', 'X-Request-Id']) {
        const value = request.getResponseHeader(name);
        if (value !== null) headers.set(name, value);
      }
      const response = new Response(request.responseText, { status: request.status, headers });
      if (response.ok) readJson<T>(response).then(done, failed);
      else rejection(response).then(failed, failed);
    };
    request.onloadend = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) failed(new DOMException('The upload was canceled.', 'AbortError'));
    else {
      signal.addEventListener('abort', abort);
      request.send(file);
    }
  });
}
