import { type Runtime, Session } from 'node:inspector/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BackwardWriter } from '../codec/protobuf/backward-writer.ts';
import { pause } from '../util/pause.ts';

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

/** A function, where it begins. */
interface Frame {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

interface Sample {
  /** The innermost function first. */
  readonly stack: readonly Frame[];
  /** One for each type of the profile. */
  readonly values: readonly number[];
}

interface ValueType {
  readonly type: string;
  readonly unit: string;
}

interface Profile {
  readonly samples: readonly Sample[];
  readonly types: readonly ValueType[];
  readonly period: ValueType & { readonly value: number };
  readonly durationMs: number;
}

/** A gzipped perftools.profiles.Profile for `go tool pprof` and other readers of its format (proto/profile.proto of pprof). */
async function encodeProfile(profile: Profile): Promise<Buffer> {
  return promisify(gzip)(new ProfileWriter().write(profile));
}

/** The wire type of values with a length. */
const BYTES = 2;

/** Writes last things first, as {@link BackwardWriter} needs, so the table of strings is filled before anything is written. */
class ProfileWriter {
  readonly #out = new BackwardWriter();
  /** The first string must be the empty one. */
  readonly #strings = new Map<string, number>([['', 0]]);
  /** A function and its location share a number, because only the beginning of the function is known. */
  readonly #frames = new Map<string, { readonly id: number; readonly frame: Frame }>();

  write({ samples, types, period, durationMs }: Profile): Buffer {
    const stacks = samples.map(({ stack, values }) => ({
      ids: stack.map((frame) => this.#idOf(frame)),
      values,
    }));
    for (const { frame } of this.#frames.values())
      for (const text of [frame.name, frame.file]) this.#string(text);
    for (const { type, unit } of [...types, period]) for (const text of [type, unit]) this.#string(text);

    this.#number(12, period.value);
    this.#valueType(11, period);
    this.#number(10, durationMs * 1e6);
    this.#number(9, BigInt(Date.now()) * 1_000_000n);
    for (const text of [...this.#strings.keys()].reverse()) this.#field(6, () => this.#out.string(text));
    for (const { id, frame } of this.#frames.values()) this.#frame(id, frame);
    for (const { ids, values } of stacks.reverse()) {
      this.#field(2, () => {
        this.#field(2, () => this.#varints(values));
        this.#field(1, () => this.#varints(ids));
      });
    }
    for (const type of [...types].reverse()) this.#valueType(1, type);
    return this.#out.finish();
  }

  #idOf(frame: Frame): number {
    const key = `${frame.name}\0${frame.file}\0${frame.line}`;
    const known = this.#frames.get(key);
    if (known !== undefined) return known.id;
    const id = this.#frames.size + 1;
    this.#frames.set(key, { id, frame });
    return id;
  }

  #string(text: string): number {
    const at = this.#strings.get(text) ?? this.#strings.size;
    this.#strings.set(text, at);
    return at;
  }

  /** A function, and the location in it. */
  #frame(id: number, { name, file, line }: Frame): void {
    this.#field(5, () => {
      this.#number(5, line);
      this.#number(4, this.#string(file));
      this.#number(2, this.#string(name));
      this.#number(1, id);
    });
    this.#field(4, () => {
      this.#field(4, () => {
        this.#number(2, line);
        this.#number(1, id);
      });
      this.#number(1, id);
    });
  }

  #valueType(field: number, { type, unit }: ValueType): void {
    this.#field(field, () => {
      this.#number(2, this.#string(unit));
      this.#number(1, this.#string(type));
    });
  }

  #varints(values: readonly number[]): void {
    for (const value of [...values].reverse()) this.#out.varint(value);
  }

  #number(field: number, value: number | bigint): void {
    this.#out.integer(value);
    this.#out.varint(field << 3);
  }

  #field(field: number, body: () => void): void {
    const before = this.#out.written;
    body();
    this.#out.varint(this.#out.written - before);
    this.#out.varint((field << 3) | BYTES);
  }
}
