/** Files that the browser saves, and how large they are. */

/** Returns an amount of data as people say it. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`;
  return bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

/** Lets the browser save a text as a file. */
export function save(name: string, text: string, type = 'text/plain'): void {
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

/** Lets the browser save what may be too large for a text: browsers keep large blobs on disk. */
export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun when click returns; the address is needed no longer than that.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

/** Returns a timeline's id as a part of the name of a file. */
export function fileName(timeline: string): string {
  return timeline.replaceAll(/[^\w.-]/g, '_');
}
