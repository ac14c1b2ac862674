/** File downloads and file sizes. */

/** Returns a size with its unit. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`;
  return bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

/** Downloads a text as a file. */
export function save(name: string, text: string, type = 'text/plain'): void {
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

/** Downloads a blob. Browsers keep large blobs on disk, so this suits data too large for a string. */
export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has started when `click` returns, so the URL can be revoked.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

/** Returns a timeline ID in a form safe for file names. */
export function fileName(timeline: string): string {
  return timeline.replaceAll(/[^\w.-]/g, '_');
}
