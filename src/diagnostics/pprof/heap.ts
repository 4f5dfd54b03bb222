import { type Runtime, Session } from 'node:inspector/promises';
import { pause } from '../../util/pause.ts';
import { encodeProfile, type Frame, type Sample } from './encode.ts';

/** The sampling interval of Go's runtime. */
const INTERVAL_BYTES = 512 * 1024;
/** A finer interval, for recordings of limited time that include freed memory. */
const ALLOCATIONS_INTERVAL_BYTES = 32 * 1024;

/**
 * Samples, from the start on, which functions allocated the memory in use: sizes and names of functions, no contents. The engine
 * has one sampler, so nothing else may use it.
 */
export class HeapSampler {
  readonly #session = new Session();
  /** Settles when sampling has begun. Every other command waits for it. */
  #sampling: Promise<unknown>;

  /** When it is not enabled, nothing may call the other methods. */
  constructor(enabled: boolean) {
    this.#session.connect();
    this.#sampling = enabled ? this.#begin() : Promise.resolve();
    this.#sampling.catch(() => {});
  }

  /** The memory in use, or only the part allocated within `durationMs`, in pprof's format, gzipped. */
  async inUse(durationMs: number, signal: AbortSignal): Promise<Buffer> {
    await this.#sampling;
    const after = durationMs > 0 ? latest(await this.#read()) : 0;
    await pause(durationMs, signal);
    return encodeProfile({
      samples: samplesOf(await this.#read(), after),
      types: [{ type: 'inuse_space', unit: 'bytes' }],
      period: { type: 'space', unit: 'bytes', value: INTERVAL_BYTES },
      durationMs,
    });
  }

  /** Which functions allocate (`.heapprofile`). Restarts the sampling that {@link inUse} reports. */
  async recordAllocations(durationMs: number, signal: AbortSignal): Promise<string> {
    await this.#sampling;
    await this.#session.post('HeapProfiler.stopSampling');
    try {
      await this.#session.post('HeapProfiler.startSampling', {
        samplingInterval: ALLOCATIONS_INTERVAL_BYTES,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      });
      await pause(durationMs, signal);
      const { profile } = await this.#session.post('HeapProfiler.stopSampling');
      return JSON.stringify(profile);
    } finally {
      this.#sampling = this.#begin();
      await this.#sampling;
    }
  }

  close(): void {
    this.#session.disconnect();
  }

  #begin(): Promise<unknown> {
    return this.#session.post('HeapProfiler.startSampling', { samplingInterval: INTERVAL_BYTES });
  }

  async #read(): Promise<SampledHeap> {
    const { profile } = await this.#session.post('HeapProfiler.getSamplingProfile');
    return profile as unknown as SampledHeap;
  }
}

/** Fields that the engine sends and the protocol's types lack. */
interface SampledHeap {
  readonly head: SampledNode;
  /** `ordinal` grows with time. */
  readonly samples: readonly { readonly size: number; readonly nodeId: number; readonly ordinal: number }[];
}

interface SampledNode {
  readonly callFrame: Runtime.CallFrame;
  readonly id: number;
  readonly children: readonly SampledNode[];
}

const latest = ({ samples }: SampledHeap): number =>
  samples.reduce((last, { ordinal }) => Math.max(last, ordinal), 0);

/** One sample for each place that allocated memory, with its call stack. */
function samplesOf({ head, samples }: SampledHeap, after: number): Sample[] {
  const sizes = new Map<number, number>();
  for (const { nodeId, size, ordinal } of samples) {
    if (ordinal > after) sizes.set(nodeId, (sizes.get(nodeId) ?? 0) + size);
  }
  const found: Sample[] = [];
  const visit = (node: SampledNode, callers: readonly Frame[]): void => {
    const stack = node === head ? callers : [toFrame(node.callFrame), ...callers];
    const size = sizes.get(node.id);
    if (size !== undefined) found.push({ stack, values: [size] });
    for (const child of node.children) visit(child, stack);
  };
  visit(head, []);
  return found;
}

const toFrame = ({ functionName, url, lineNumber }: Runtime.CallFrame): Frame => ({
  name: functionName === '' ? '(anonymous)' : functionName,
  file: url,
  // The engine counts from 0, and has no line for its own functions.
  line: Math.max(0, lineNumber + 1),
});
