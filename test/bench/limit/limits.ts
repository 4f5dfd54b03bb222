import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClusterCertificates, ensureCertificates } from '../../../src/cli/certificates.ts';
import type { GeneratorCalls, Protocol, RequestsJob, Target, WatchJob } from '../load/jobs.ts';
import { cpuSeconds } from '../measure/proc.ts';
import { Worker } from '../process/worker.ts';
import { DatabaseLimit, type LimitFigures, type RowsLimit } from './database-limit.ts';
import type { LimitCalls } from './limit-server.ts';

type Generator = Worker<GeneratorCalls>;

/** What was sent by the server under test, to be sent again by nothing but Node.js. */
export interface SentBytes {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const EVENTS_TIMEOUT_MS = 60_000;
const WARM_UP_MS = 500;

/** Measures limits on the machine as it is now, with the generator that has just measured the server. */
export class Limits implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-bench-certificates-'));
  #certificates: Promise<ClusterCertificates> | undefined;
  #database: Promise<DatabaseLimit> | undefined;

  async rows(limit: RowsLimit): Promise<LimitFigures> {
    this.#database ??= DatabaseLimit.start();
    return (await this.#database).measure(limit);
  }

  /** The same requests, answered with the same bytes. */
  async bytes(generator: Generator, job: RequestsJob, sent: SentBytes): Promise<LimitFigures> {
    await using worker = new Worker<LimitCalls>('limit/limit-server.ts');
    const target = await this.#serveBytes(worker, job.protocol, sent);
    await generator.call('requests', { ...job, target, durationMs: Math.min(WARM_UP_MS, job.durationMs) });
    const cpuBefore = cpuSeconds([worker.pid]);
    const { plans, seconds, cores } = await generator.call('requests', { ...job, target });
    const count = plans.reduce((sum, plan) => sum + plan.count, 0);
    const cpu = cpuSeconds([worker.pid]) - cpuBefore;
    return { rate: count / seconds, cpuPer1000: cpu / (count / 1000), loadCores: cores };
  }

  /** A frame of so many bytes, so many times to as many connections. */
  async frames(
    generator: Generator,
    job: WatchJob,
    frames: { bytes: number; times: number },
  ): Promise<LimitFigures> {
    await using worker = new Worker<LimitCalls>('limit/limit-server.ts');
    const { serving, ca } = await this.#ensure();
    const port = await worker.call('serveFrames', { cert: serving.certificate, key: serving.key });
    const target = { url: `https://127.0.0.1:${port}`, ca };
    await generator.call('openWatches', { ...job, target, protocol: 'h1', delays: false });
    const cpuBefore = cpuSeconds([worker.pid]);
    const sending = worker.call('sendFrames', { frame: frameOf(frames.bytes), times: frames.times });
    const events = job.watchers * frames.times;
    const result = await generator.call('awaitEvents', { events, timeoutMs: EVENTS_TIMEOUT_MS });
    await sending;
    const cpu = cpuSeconds([worker.pid]) - cpuBefore;
    await generator.call('closeWatches', undefined);
    const rate = result.events / result.spanSeconds;
    return { rate, cpuPer1000: cpu / (result.events / 1000), loadCores: result.cores };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#database)?.[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #serveBytes(worker: Worker<LimitCalls>, protocol: Protocol, sent: SentBytes): Promise<Target> {
    const { serving, ca } = await this.#ensure();
    const pair = { cert: serving.certificate, key: serving.key };
    const port = await worker.call('serveBytes', { ...sent, ...pair, protocol });
    return { url: `https://127.0.0.1:${port}`, ca };
  }

  #ensure(): Promise<ClusterCertificates> {
    this.#certificates ??= ensureCertificates(this.#folder, []);
    return this.#certificates;
  }
}

/** Ends as an event does, so that the generator counts it as one. */
const frameOf = (bytes: number): Buffer =>
  Buffer.from(`${'x'.repeat(Math.max(0, Math.round(bytes) - 2))}}\n`);
