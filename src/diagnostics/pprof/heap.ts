import { type Runtime, Session } from 'node:inspector/promises';
import { pause } from '../../util/pause.ts';
import { encodeProfile, type Frame, type Sample } from './encode.ts';

/** As often as Go's runtime looks at an allocation. */
const INTERVAL_BYTES = 512 * 1024;
/** For a while, and for what is gone again too. */
const ALLOCATIONS_INTERVAL_BYTES = 32 * 1024;

/**
 * Samples from the start on which functions allocate what is still in memory: sizes and names of functions, and nothing of
 * what is in memory. The engine has one sampler, so this is the only one who uses it.
 */
export class HeapSampler {
  readonly #session = new Session();
  /** What was begun must be finished before something else is: true once it samples. */
  #sampling: Promise<unknown>;

  /** Not enabled: nobody can ask. */
  constructor(enabled: boolean) {
    this.#session.connect();
    this.#sampling = enabled ? this.#begin() : Promise.resolve();
    this.#sampling.catch(() => {});
  }

  /** What is in memory, or only what of it came within the time, in pprof's format, packed. */
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

  /** Which functions allocate (`.heapprofile`). What {@link inUse} shows begins anew with it. */
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

/** What the engine tells beyond what the protocol's types say. */
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

/** One for each place that holds memory, with the functions that led there. */
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
