import type { Readable } from 'node:stream';
import type { ApiRequest } from '../request/api-request.ts';
import type { ResponseHeaders, StreamResponse } from '../request/api-response.ts';

/** An answer's body on to the client, no faster than the client reads. */
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
        for await (const chunk of body) if (!sink.write(chunk as Buffer)) await sink.drained();
      } catch (error) {
        // A client that has left need not be told that the rest does not come.
        if (!request.signal.aborted) throw error;
      } finally {
        body.destroy();
      }
    },
  };
}
