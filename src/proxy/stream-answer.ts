import type { Readable } from 'node:stream';
import type { ApiRequest } from '../request/api-request.ts';
import type { ResponseHeaders, StreamResponse } from '../request/api-response.ts';

/** Passes the body of an answer on to the client, no faster than the client reads. */
export function streamAnswer(
  request: ApiRequest,
  body: Readable,
  head: { readonly code: number; readonly contentType: string; readonly headers: ResponseHeaders },
): StreamResponse {
  return {
    kind: 'stream',
    ...head,
    run: async (sink) => {
      sink.open();
      try {
        for await (const chunk of body) if (!sink.write(chunk)) await sink.drained();
      } catch (error) {
        // A client that has gone needs no error.
        if (!request.signal.aborted) throw error;
      } finally {
        body.destroy();
      }
    },
  };
}

/**
 * The first `maxBytes` of a stream as text; the rest is not read. A stream that breaks off gives the text received until then.
 */
export async function readStart(stream: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const part of stream) {
      const chunk: Buffer = part;
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes >= maxBytes) break;
    }
  } catch {
    // The client went away.
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxBytes);
}
