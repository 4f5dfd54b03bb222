import type { ApiRequest } from '../../request/api-request.ts';
import type { ApiResponse } from '../../request/api-response.ts';
import type { PortCaller } from '../../util/port-calls.ts';
import type { AnsweredPage, AskedPage } from './thread-contract.ts';

type PageRequest = Pick<ApiRequest, 'method' | 'path' | 'query' | 'headers' | 'signal' | 'body'>;
type PageHandler = (request: ApiRequest) => Promise<ApiResponse | undefined>;

/** The pages of the whole server. Discovery is each thread's own, and so are the files of the machine's logs. */
const OF_SERVER = [
  '/healthz',
  '/livez',
  '/readyz',
  '/metrics',
  '/debug/',
  '/flagz',
  '/statusz',
  '/.well-known/openid-configuration',
  '/openid/',
];

export const isOfServer = (path: string): boolean => OF_SERVER.some((prefix) => path.startsWith(prefix));

/** Names a thread of which a profile is wanted: 0 is the main one, and without it the one that answers. */
export const threadOf = (query: URLSearchParams): number | undefined => {
  const thread = query.get('thread');
  return thread !== null && /^\d{1,2}$/.test(thread) ? Number(thread) : undefined;
};

/** The command line is the main thread's. */
export const isProfile = (path: string): boolean =>
  path.startsWith('/debug/pprof') && path !== '/debug/pprof/cmdline';

export const noThread = (thread: number): AnsweredPage => ({
  ...{ code: 404, contentType: 'text/plain; charset=utf-8', headers: {} },
  body: Buffer.from(`no thread ${thread} serves\n`),
});

/** The only page that takes a body takes a small number. */
const MAX_BODY_BYTES = 16;

export async function toAskedPage(request: PageRequest): Promise<AskedPage> {
  const { method, path, query } = request;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? await request.body(MAX_BODY_BYTES) : Buffer.alloc(0);
  return { method, path, query: query.toString(), accept: request.headers.accept ?? '', body };
}

/** Answers a page of this thread for another one. */
export async function answerPage(
  handler: PageHandler,
  { method, path, query, accept, body }: AskedPage,
  caller: PortCaller,
): Promise<AnsweredPage | undefined> {
  const request: PageRequest = {
    ...{ method, path },
    query: new URLSearchParams(query),
    headers: { accept },
    body: async () => body,
    get signal() {
      return caller.signal;
    },
  };
  // These pages look at nothing else of a request.
  const response = await handler(request as ApiRequest);
  if (response === undefined) return undefined;
  if (response.kind !== 'bytes') throw new Error(`${path} cannot be answered by another thread`);
  const { code, contentType, headers = {}, chunks, rest = [] } = response;
  return { code, contentType, headers, body: Buffer.concat([...chunks, ...rest]) };
}

export const toResponse = ({ code, contentType, headers, body }: AnsweredPage): ApiResponse => ({
  ...{ kind: 'bytes', code, contentType, headers },
  chunks: [body],
  compressible: !contentType.startsWith('text/'),
});
