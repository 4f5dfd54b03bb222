import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse, ResponseHeaders } from '../request/api-response.ts';

/** All that a page about the server needs of a request; the debug socket has no more. */
export type PageRequest = Pick<ApiRequest, 'method' | 'path' | 'query' | 'signal' | 'body'>;

/** Answers some paths, and undefined for all others. */
export type PageHandler = (
  request: PageRequest,
) => Promise<ApiResponse | undefined> | ApiResponse | undefined;

const HEADERS: ResponseHeaders = { 'x-content-type-options': 'nosniff' };

export const plainText = (
  code: number,
  text: string,
  contentType = 'text/plain; charset=utf-8',
): ApiResponse => ({
  kind: 'bytes',
  code,
  contentType,
  headers: HEADERS,
  chunks: [Buffer.from(text)],
  compressible: false,
});

/** The first of the handlers that knows the path. */
export function firstOf(handlers: readonly PageHandler[]): PageHandler {
  return async (request) => {
    for (const handler of handlers) {
      const response = await handler(request);
      if (response !== undefined) return response;
    }
    return undefined;
  };
}
