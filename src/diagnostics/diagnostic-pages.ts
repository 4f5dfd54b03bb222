import { Session } from 'node:inspector/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import { Hono, type HonoRequest } from 'hono';
import type { HealthMetrics } from '../observability/health-metrics.ts';
import type { MetricFamily } from '../observability/instruments.ts';
import { EXPOSITION_TYPE, type Metrics } from '../observability/metrics.ts';
import { plainText } from '../pages/pages.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';
import { pause } from '../util/pause.ts';
import type { HeapSampler } from './profiles.ts';

/** /metrics. `others`: the families of other threads. */
export const createMetricPages = (
  metrics: Metrics,
  others: () => Promise<readonly (readonly MetricFamily[])[]> = async () => [],
): Hono =>
  new Hono().get('/metrics', async () => plainText(200, await metrics.text(await others()), EXPOSITION_TYPE));

/** /metrics/slis: GET, and DELETE where `canReset`. */
export function createHealthMetricPages(metrics: HealthMetrics, canReset: boolean): Hono {
  const pages = new Hono().get('/metrics/slis', () => plainText(200, metrics.text(), EXPOSITION_TYPE));
  if (!canReset) return pages;
  return pages.delete('/metrics/slis', () => {
    metrics.reset();
    return plainText(200, 'metrics reset\n');
  });
}

export interface VerbosityControl {
  readonly verbosity: number;
  /** Takes effect at once, or resolves when it has. */
  setVerbosity(level: number): void | Promise<void>;
}

/** /debug/flags/v: PUT a number to set the verbosity of the log. */
export function createFlagPages(log: VerbosityControl): Hono {
  const list = (): Response => plainText(200, `v\t${log.verbosity}\n`);
  return new Hono()
    .all('/debug/flags', list)
    .all('/debug/flags/', list)
    .put('/debug/flags/v', async ({ req }) => {
      const text = (await req.text()).trim();
      if (!/^\d{1,3}$/.test(text)) return plainText(400, `${JSON.stringify(text)} is not a whole number\n`);
      await log.setVerbosity(Number(text));
      return plainText(200, `successfully set klog.logging.verbosity to ${text}\n`);
    })
    .all('/debug/flags/v', () => plainText(406, 'unsupported http method\n'));
}

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 600;

const PROFILES: Readonly<Record<string, string>> = {
  allocs: 'which functions allocate, sampled for ?seconds=; a .heapprofile for Chrome',
  block: 'how long ready work waited for the event loop; needs --contention-profiling',
  cmdline: 'the command line of the process',
  goroutine: 'what the process waits for: handles and requests of the event loop',
  heap: 'which functions allocated what is in memory, sampled since the start or the last allocs, or for ?seconds=; for pprof',
  profile: 'where time goes, for ?seconds=; a .cpuprofile for Chrome',
};

/** /debug/pprof/: the heap for pprof, the others in forms that Chrome's DevTools (Performance, Memory) and VS Code open. */
export function createProfilePages(contention: Contention, heap: HeapSampler): Hono {
  const recorder = new Recorder();
  const waits = (): Response => plainText(200, contention.report());
  return new Hono()
    .all('/debug/pprof', (context) => context.redirect('/debug/pprof/'))
    .all('/debug/pprof/', () => plainText(200, indexPage(), 'text/html; charset=utf-8'))
    .all('/debug/pprof/profile', ({ req }) => recorder.answer(req, CPU))
    .all('/debug/pprof/allocs', ({ req }) =>
      recorder.answer(req, {
        ...CPU,
        ending: '.heapprofile',
        record: (durationMs, signal) => heap.recordAllocations(durationMs, signal),
      }),
    )
    .all('/debug/pprof/heap', ({ req }) =>
      recorder.answer(req, {
        type: 'application/octet-stream',
        ending: '.heap.pb.gz',
        defaultSeconds: 0,
        record: (durationMs, signal) => heap.inUse(durationMs, signal),
      }),
    )
    .all('/debug/pprof/block', waits)
    .all('/debug/pprof/mutex', waits)
    .all('/debug/pprof/cmdline', () => plainText(200, process.argv.map(hidePasswords).join('\0')))
    .all('/debug/pprof/goroutine', () => plainText(200, activity()));
}

/** All of memory, Secrets included. Served over the debug socket alone, whose users can read the process's memory anyway. */
export const createSnapshotPages = (): Hono =>
  new Hono().all('/debug/heapsnapshot', () => snapshotPage(getHeapSnapshot()));

/** Streams it, because a snapshot is larger than the heap. */
export const snapshotPage = (snapshot: Readable): Response =>
  download(Readable.toWeb(snapshot), 'application/json', '.heapsnapshot', { 'transfer-encoding': 'chunked' });

interface Recording {
  readonly type: string;
  readonly ending: string;
  /** 0: recorded at once. */
  readonly defaultSeconds: number;
  record(durationMs: number, signal: AbortSignal): Promise<string | Buffer>;
}

const CPU: Recording = {
  type: 'application/json',
  ending: '.cpuprofile',
  defaultSeconds: DEFAULT_SECONDS,
  record: recordCpuProfile,
};

/** Allows one recording at a time, because the engine does. */
class Recorder {
  #busy = false;

  async answer(request: HonoRequest, { type, ending, defaultSeconds, record }: Recording): Promise<Response> {
    const asked = request.query('seconds');
    const seconds = Number(asked ?? defaultSeconds);
    if (asked !== undefined && !(seconds > 0 && seconds <= MAX_SECONDS))
      return plainText(400, `seconds must be above 0 and at most ${MAX_SECONDS}\n`);
    if (this.#busy) return plainText(500, 'Could not enable profiling: another profile is being recorded\n');
    this.#busy = true;
    try {
      return download(await record(seconds * 1000, request.raw.signal), type, ending);
    } finally {
      this.#busy = false;
    }
  }
}

const download = (
  body: string | Buffer | ReadableStream,
  type: string,
  ending: string,
  headers = {},
): Response =>
  new Response(Buffer.isBuffer(body) ? new Uint8Array(body) : body, {
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="pg-apiserver-${process.pid}${ending}"`,
      'x-content-type-options': 'nosniff',
      ...headers,
    },
  });

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

/** A CPU profile as Chrome's DevTools and VS Code open it (`.cpuprofile`). Ends early when the signal aborts. */
async function recordCpuProfile(durationMs: number, signal: AbortSignal): Promise<string> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 1000 });
    await session.post('Profiler.start');
    await pause(durationMs, signal);
    const { profile } = await session.post('Profiler.stop');
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}

/**
 * --contention-profiling. Where Go reports threads that wait for locks, this reports work that waits for the event loop.
 */
export class Contention {
  readonly #delays: ReturnType<typeof monitorEventLoopDelay> | undefined;

  constructor(enabled: boolean) {
    this.#delays = enabled ? monitorEventLoopDelay({ resolution: 10 }) : undefined;
    this.#delays?.enable();
  }

  close(): void {
    this.#delays?.disable();
  }

  report(): string {
    if (this.#delays === undefined) return 'not recorded: start the server with --contention-profiling\n';
    const delays = this.#delays;
    const ms = (ns: number): string => `${(ns / 1e6).toFixed(3)}ms`;
    const lines = [50, 75, 90, 99, 99.9, 100].map((at) => `p${at}\t${ms(delays.percentile(at))}`);
    const { eventLoopUtilization } = performance;
    const busy = (eventLoopUtilization().utilization * 100).toFixed(1);
    return `event loop delay, ${delays.count} samples\nmean\t${ms(delays.mean)}\n${lines.join('\n')}\nbusy\t${busy}%\n`;
  }
}
