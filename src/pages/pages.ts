import { Hono } from 'hono';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse, ResponseSink } from '../request/api-response.ts';

/** Given to each page beside Hono's request, which has the method, the query and the body, but no headers. */
interface PageEnv {
  readonly Bindings: { readonly request: ApiRequest };
}

/** Documents that are no resources: health, metrics, profiles, discovery. `route` puts the pages of several rooms together. */
export type Pages = Hono<PageEnv>;

/** Answers some paths, and undefined for all others. */
type PageHandler = (request: ApiRequest) => Promise<ApiResponse | undefined>;

/** The answer for unknown paths, recognized by identity. */
const UNKNOWN = new Response(null, { status: 404 });

/** The only page that takes a body takes a small number. */
const MAX_BODY_BYTES = 16;

/**
 * An empty application to add pages to. It routes by the authorized path, not by a URL, which would turn /healthz/../metrics
 * into /metrics. Errors pass through it to the pipeline.
 */
export function createPages(toRoute: (path: string) => string = (path) => path): Pages {
  const pages = new Hono<PageEnv>({
    // The path is decoded already, and Hono decodes parameters once more.
    getPath: (_, options) => toRoute(options?.env?.request.path ?? '/').replaceAll('%', '%25'),
  });
  pages.notFound(() => UNKNOWN);
  pages.onError((error) => {
    throw error;
  });
  return pages;
}

/** The answer of a page for an unknown path. */
export const unknownPage = (): Response => UNKNOWN;

export const isUnknown = (response: Response): boolean => response === UNKNOWN;

/** Adapts pages to the pipeline. HEAD is answered like GET; the listener leaves the body out. */
export const toPageHandler =
  (pages: Pages): PageHandler =>
  async (request) => {
    const response = await pages.fetch(toRequest(request), { request });
    return isUnknown(response) ? undefined : toApiResponse(response);
  };

function toRequest(request: ApiRequest): Request {
  const { method, query, signal } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  const asked = new Request(
    `http://localhost/?${query}`,
    isRead ? {} : { method: 'POST', duplex: 'half', body: later(() => request.body(MAX_BODY_BYTES)) },
  );
  // The constructor of Request refuses some methods, and its signal would follow ours only while something refers to it.
  return Object.defineProperties(asked, {
    method: { value: isRead ? 'GET' : method },
    signal: { value: signal },
  });
}

/** A body that is received when it is read. */
function later(receive: () => Promise<Buffer>): ReadableStream {
  const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
    controller.enqueue(await receive());
    controller.close();
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

/** Bodies that are made while they are sent, by their responses. */
const PIECES = new WeakMap<Response, Iterable<Buffer>>();

/** An answer that is too large to build as a whole: see BytesResponse.rest. */
export function inPieces(pieces: Iterable<Buffer>, headers: Readonly<Record<string, string>>): Response {
  const response = new Response(null, { headers });
  PIECES.set(response, pieces);
  return response;
}

/** A response with `transfer-encoding: chunked` is streamed; any other but those in pieces is sent when it is complete. */
async function toApiResponse(response: Response): Promise<ApiResponse> {
  const { status: code, body } = response;
  const {
    'content-type': contentType = '',
    'transfer-encoding': coding,
    ...headers
  } = Object.fromEntries(response.headers);
  if (coding === 'chunked' && body !== null) {
    return { kind: 'stream', code, contentType, headers, run: (sink) => pour(body, sink) };
  }
  const rest = PIECES.get(response);
  return {
    kind: 'bytes',
    code,
    contentType,
    headers,
    ...(rest === undefined ? { chunks: [Buffer.from(await response.arrayBuffer())] } : { chunks: [], rest }),
    compressible: !contentType.startsWith('text/'),
  };
}

async function pour(body: AsyncIterable<Uint8Array>, sink: ResponseSink): Promise<void> {
  for await (const { buffer, byteOffset, byteLength } of body) {
    if (!sink.write(Buffer.from(buffer, byteOffset, byteLength))) await sink.drained();
  }
}

export const PLAIN_TEXT = 'text/plain; charset=utf-8';

export const plainText = (code: number, text: string, contentType = PLAIN_TEXT): Response =>
  new Response(text, {
    status: code,
    headers: { 'content-type': contentType, 'x-content-type-options': 'nosniff' },
  });
