import { Hono } from 'hono';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse, ResponseSink } from '../request/api-response.ts';

/** What a page finds beside Hono's request, which has the method, the query and the body, but no headers. */
export interface PageEnv {
  readonly Bindings: { readonly request: ApiRequest };
}

/** What is no resource: health, metrics, profiles, discovery. Each place has its pages; they are put together by `route`. */
export type Pages = Hono<PageEnv>;

/** Answers some paths, and undefined for all others. */
export type PageHandler = (request: ApiRequest) => Promise<ApiResponse | undefined>;

/** Told from other answers by being this object. */
const UNKNOWN = new Response(null, { status: 404 });

/** What a page may be sent: the only one that takes a body takes a small number. */
const MAX_BODY_BYTES = 16;

/**
 * An empty application to add pages to, which finds them by the path that was authorized. A URL would be another one: it
 * makes /metrics of /healthz/../metrics. Errors go through it to the pipeline.
 */
export function createPages(toRoute: (path: string) => string = (path) => path): Pages {
  const pages = new Hono<PageEnv>({
    // The path is decoded, and Hono decodes what it takes out of it.
    getPath: (_, options) => toRoute(options?.env?.request.path ?? '/').replaceAll('%', '%25'),
  });
  pages.notFound(() => UNKNOWN);
  pages.onError((error) => {
    throw error;
  });
  return pages;
}

export const isUnknown = (response: Response): boolean => response === UNKNOWN;

/** Pages as the pipeline asks for documents. HEAD is answered like GET: the listener leaves the body out. */
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
  // Request refuses some methods, and follows a signal only while somebody holds on to it.
  return Object.defineProperties(asked, {
    method: { value: isRead ? 'GET' : method },
    signal: { value: signal },
  });
}

/** A body that is not received before somebody reads it. */
function later(receive: () => Promise<Buffer>): ReadableStream {
  const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
    controller.enqueue(await receive());
    controller.close();
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

/** What says `transfer-encoding: chunked` is sent as it comes, all else when it is complete. */
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
  const chunks = [Buffer.from(await response.arrayBuffer())];
  return {
    kind: 'bytes',
    code,
    contentType,
    headers,
    chunks,
    compressible: !contentType.startsWith('text/'),
  };
}

async function pour(body: AsyncIterable<Uint8Array>, sink: ResponseSink): Promise<void> {
  for await (const { buffer, byteOffset, byteLength } of body) {
    if (!sink.write(Buffer.from(buffer, byteOffset, byteLength))) await sink.drained();
  }
}
