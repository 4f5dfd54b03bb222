import type { BytesResponse } from './api-response.ts';

/** A line of text in place of a Status, as Go's http.Error writes it. */
export const plainAnswer = (code: number, text: string): BytesResponse => ({
  kind: 'bytes',
  code,
  contentType: 'text/plain; charset=utf-8',
  headers: { 'x-content-type-options': 'nosniff' },
  chunks: [Buffer.from(`${text}\n`)],
  compressible: false,
});

/**
 * The answer for an unknown path. A path below one with routes gets a Status instead (Kubernetes: go-restful answers there, and
 * everywhere else the handler at the end of the chain of servers, util/notfoundhandler).
 */
export const pageNotFound = (): BytesResponse => plainAnswer(404, '404 page not found');
