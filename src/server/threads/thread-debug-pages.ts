import type { Readable } from 'node:stream';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { snapshotPage } from '../../diagnostics/diagnostic-pages.ts';
import { plainText } from '../../pages/pages.ts';
import type { AnsweredPage, AskedPage } from './thread-contract.ts';
import { noThread, threadOf } from './thread-pages.ts';

/** The serving threads, as their pages for debugging need them. */
export interface ThreadsToDebug {
  /** Undefined: there is no such profile. */
  profile(asked: AskedPage): Promise<AnsweredPage | undefined>;
  /** Undefined: the thread does not serve. */
  heapSnapshot(thread: number): Promise<Readable> | undefined;
}

/** Pages of the debug socket about the serving thread that ?thread= names, before those of the main thread, which is 0. */
export function createThreadDebugPages(threads: () => ThreadsToDebug | undefined): Hono {
  const toResponse = (page: AnsweredPage): Response => {
    const headers = { ...page.headers, 'content-type': page.contentType } as Record<string, string>;
    return new Response(new Uint8Array(page.body), { status: page.code, headers });
  };
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
        const running = threads();
        if (running === undefined) return toResponse(noThread(thread));
        const page = await running.profile(asked);
        return page === undefined ? plainText(404, 'there is no such profile\n') : toResponse(page);
      }),
    )
    .use(
      '/debug/heapsnapshot',
      ofThread(async (_, thread) => {
        const snapshot = await threads()?.heapSnapshot(thread);
        return snapshot === undefined ? toResponse(noThread(thread)) : snapshotPage(snapshot);
      }),
    );
}
