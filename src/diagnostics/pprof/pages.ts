import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import type { ApiResponse, ResponseSink, StreamResponse } from '../../request/api-response.ts';
import { type PageHandler, type PageRequest, plainText } from '../answers.ts';
import type { Contention } from './contention.ts';
import { recordAllocations, recordCpuProfile } from './cpu.ts';

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 600;

const PROFILES: Readonly<Record<string, string>> = {
  allocs: 'which functions allocate, sampled for ?seconds=; a .heapprofile for Chrome',
  block: 'how long ready work waited for the event loop; needs --contention-profiling',
  cmdline: 'the command line of the process',
  goroutine: 'what the process waits for: handles and requests of the event loop',
  heap: 'everything in memory; a .heapsnapshot for Chrome. The server stands still while it is taken',
  profile: 'where time goes, for ?seconds=; a .cpuprofile for Chrome',
};

/** /debug/pprof/, in forms that Chrome's DevTools (Performance, Memory) and VS Code open. */
export function createProfilePages(contention: Contention): PageHandler {
  // Two at once would stop each other: the engine records one at a time.
  let busy = false;
  const alone = async (work: () => Promise<ApiResponse>): Promise<ApiResponse> => {
    if (busy) return plainText(500, 'Could not enable profiling: another profile is being recorded\n');
    busy = true;
    try {
      return await work();
    } finally {
      busy = false;
    }
  };
  return (request) => {
    const { path } = request;
    if (path === '/debug/pprof') return redirect();
    const match = /^\/debug\/pprof\/(\w*)$/.exec(path);
    switch (match?.[1]) {
      case '':
        return plainText(200, indexPage(), 'text/html; charset=utf-8');
      case 'profile':
        return timed(request, (ms) =>
          alone(async () => profile(await recordCpuProfile(ms, request.signal), 'cpuprofile')),
        );
      case 'allocs':
        return timed(request, (ms) =>
          alone(async () => profile(await recordAllocations(ms, request.signal), 'heapprofile')),
        );
      case 'heap':
        return heapSnapshot();
      case 'block':
      case 'mutex':
        return plainText(200, contention.report());
      case 'cmdline':
        return plainText(200, process.argv.join('\0'));
      case 'goroutine':
        return plainText(200, activity());
      default:
        return undefined;
    }
  };
}

const redirect = (): ApiResponse => ({
  kind: 'bytes',
  code: 302,
  contentType: '',
  headers: { location: '/debug/pprof/' },
  chunks: [],
  compressible: false,
});

function timed(
  { query }: PageRequest,
  record: (durationMs: number) => Promise<ApiResponse>,
): Promise<ApiResponse> | ApiResponse {
  const asked = query.get('seconds');
  const seconds = asked === null ? DEFAULT_SECONDS : Number(asked);
  if (!(seconds > 0 && seconds <= MAX_SECONDS))
    return plainText(400, `seconds must be above 0 and at most ${MAX_SECONDS}\n`);
  return record(seconds * 1000);
}

const profile = (text: string, ending: string): ApiResponse => ({
  kind: 'bytes',
  code: 200,
  contentType: 'application/json',
  headers: download(ending),
  chunks: [Buffer.from(text)],
  compressible: true,
});

const download = (ending: string): Record<string, string> => ({
  'content-disposition': `attachment; filename="pg-apiserver-${process.pid}.${ending}"`,
  'x-content-type-options': 'nosniff',
});

/** Streamed: it is larger than the heap it shows. */
const heapSnapshot = (): StreamResponse => ({
  kind: 'stream',
  code: 200,
  contentType: 'application/json',
  headers: download('heapsnapshot'),
  run: async (sink: ResponseSink) => {
    for await (const chunk of getHeapSnapshot()) if (!sink.write(toBuffer(chunk))) await sink.drained();
  },
});

const toBuffer = (chunk: unknown): Buffer => (Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));

function activity(): string {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const lines = [...counts].sort(([, a], [, b]) => b - a).map(([name, count]) => `${count}\t${name}`);
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return `${lines.join('\n')}\n\nheap\t${used} of ${limit} bytes\n`;
}

function indexPage(): string {
  const rows = Object.entries(PROFILES).map(
    ([name, what]) => `<tr><td><a href="${name}">${name}</a></td><td>${what}</td></tr>`,
  );
  return `<!doctype html><html><head><title>/debug/pprof/</title></head><body>
<h1>/debug/pprof/</h1><table>${rows.join('\n')}</table></body></html>
`;
}
