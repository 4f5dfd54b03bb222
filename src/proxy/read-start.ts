import type { Readable } from 'node:stream';

/**
 * The text that a stream begins with: one that has no end costs no more than what is shown of it, and is let go. What breaks off
 * is shown as far as it came.
 */
export async function readStart(stream: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes >= maxBytes) break;
    }
  } catch {
    // The client went away.
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxBytes);
}
