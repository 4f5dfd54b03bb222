import type { Readable } from 'node:stream';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { snapshotPage } from '../../diagnostics/diagnostic-pages.ts';
import { plainText } from '../../pages/pages.ts';
import type { AnsweredPage, AskedPage } from './thread-contract.ts';
import { threadOf } from './thread-pages.ts';

/** The serving threads, as their pages for debugging need them. */
export interface ThreadsToDebug {
  /** Undefined: the thread does not serve. */
  profile(asked: AskedPage): Promise<AnsweredPage | undefined> | undefined;
  /** Undefined: the thread does not serve. */
  heapSnapshot(thread: number): Promise<Readable> | undefined;
}

/** Pages of the debug socket about the serving thread that ?thread= names, before those of the main thread, which is 0. */
export function createThreadDebugPages(threads: () => ThreadsToDebug | undefined): Hono {
  const missing = (thread: number): Response => plainText(404, `no thread ${thread} serves\n`);
  const queryOf = ({ req }: Context): URLSearchParams => new URL(req.url).searchParams;
  const ofThread =
    (answer: (context: Context, thread: number) => Promise<Response>): MiddlewareHandler =>
    (context, next) => {
      const thread = threadOf(queryOf(context)) ?? 0;
      return thread === 0 ? next() : answer(context, thread);
    };
  return new Hono()
    .use(
      '/debug/pprof/*',
      ofThread(async (context, thread) => {
        const { method, path } = context.req;
        const query = queryOf(context).toString();
        const asked = { method, path, query, accept: '', body: Buffer.alloc(0) };
        const page = await threads()?.profile(asked);
        if (page === undefined) return missing(thread);
        const headers = { ...page.headers, 'content-type': page.contentType } as Record<string, string>;
        return new Response(new Uint8Array(page.body), { status: page.code, headers });
      }),
    )
    .use(
      '/debug/heapsnapshot',
      ofThread(async (_, thread) => {
        const snapshot = await threads()?.heapSnapshot(thread);
        return snapshot === undefined ? missing(thread) : snapshotPage(snapshot);
      }),
    );
}
