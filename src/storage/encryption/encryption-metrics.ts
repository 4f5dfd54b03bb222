import { LRUCache } from 'lru-cache';
import { hashedLabel } from '../../observability/hashed-label.ts';
import {
  type Cell,
  type Distribution,
  exponential,
  Histogram,
  type Instrument,
  Numbers,
} from '../../observability/instruments.ts';
import { OK, statusOf } from '../../outbound/grpc-status.ts';

export type Direction = 'to_storage' | 'from_storage';

/** Bounds for work in this process, from 5 µs on, and for plugin calls, from 0.1 ms on, as in Kubernetes. */
const TRANSFORMATION_BOUNDS = exponential(5e-6, 2, 25);
const GENERATION_BOUNDS = exponential(5e-6, 2, 14);
const CALL_BOUNDS = exponential(0.0001, 2, 20);
/** Keys with metrics; the least recently used ones are dropped. */
const MAX_KEYS = 100;

/**
 * Metrics of encryption at rest under Kubernetes' names (apiserver/storage/value/metrics.go and
 * encrypt/envelope/metrics/metrics.go). They are there before the server has a page for them.
 */
export class EncryptionMetrics {
  readonly instruments: readonly Instrument[];
  readonly generations = new KeyGenerations();
  readonly #server: string;
  readonly #now: () => number;
  readonly #durations = new Histogram(
    {
      name: 'apiserver_storage_transformation_duration_seconds',
      help: 'Latencies in seconds of value transformation operations.',
      labels: ['transformation_type', 'transformer_prefix'],
    },
    TRANSFORMATION_BOUNDS,
  );
  readonly #operations = new Numbers('counter', {
    name: 'apiserver_storage_transformation_operations_total',
    help: 'Transformations of stored values, by their outcome.',
    labels: ['transformation_type', 'transformer_prefix', 'status'],
  });
  readonly #misses = new Numbers('counter', {
    name: 'apiserver_storage_envelope_transformation_cache_misses_total',
    help: 'How often a KMS plugin had to be asked for a key that was not in memory.',
  });
  readonly #calls = new Histogram(
    {
      name: 'apiserver_envelope_encryption_kms_operations_latency_seconds',
      help: 'Durations of calls to KMS plugins, by the status code of gRPC.',
      labels: ['provider_name', 'method_name', 'grpc_status_code'],
    },
    CALL_BOUNDS,
  );
  readonly #uses = new Numbers('counter', {
    name: 'apiserver_envelope_encryption_key_id_hash_total',
    help: 'How often a key of a KMS plugin was used.',
    labels: ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'],
  });
  readonly #lastUses = new Numbers('gauge', {
    name: 'apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds',
    help: 'When a key of a KMS plugin was last used.',
    labels: ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'],
  });
  readonly #reports = new Numbers('gauge', {
    name: 'apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds',
    help: 'When a KMS plugin last said that this is its key.',
    labels: ['provider_name', 'key_id_hash', 'apiserver_id_hash'],
  });
  readonly #invalid = new Numbers('counter', {
    name: 'apiserver_envelope_encryption_invalid_key_id_from_status_total',
    help: 'How often a KMS plugin gave a key id that is none.',
    labels: ['provider_name', 'error'],
  });
  readonly #seeds = new Numbers('gauge', {
    name: 'apiserver_envelope_encryption_dek_source_cache_size',
    help: 'Keys of a KMS plugin in memory; after a restart about as many calls are needed.',
    labels: ['provider_name'],
  });
  readonly #used = new LRUCache<string, KeyUses>({ max: MAX_KEYS, dispose: ({ forget }) => forget() });
  readonly #reported = new LRUCache<string, { readonly cell: Cell; forget(): void }>({
    max: MAX_KEYS,
    dispose: ({ forget }) => forget(),
  });

  /** `server` marks its samples among those of other servers. */
  constructor(server = '', now: () => number = Date.now) {
    this.#server = hashedLabel(server);
    this.#now = now;
    this.instruments = [
      ...[this.#durations, this.#operations, this.#misses, this.#calls, this.#uses, this.#lastUses],
      ...[this.#reports, this.#invalid, this.#seeds, ...this.generations.instruments],
    ];
  }

  /** `prefix`: Kubernetes' prefix of such values. The provider keeps the result. */
  transformations(direction: Direction, prefix: string): Transformations {
    return new Transformations(this.#durations.at(direction, prefix), (status) =>
      this.#operations.at(direction, prefix, status),
    );
  }

  /** Counts a read of bytes that no provider knows. */
  unknownRead(): void {
    this.#operations.at('from_storage', 'unknown', statusOf(new Error())).add();
  }

  /** Counts a seed that was not in memory. */
  missed(): void {
    this.#misses.at().add();
  }

  called(plugin: string, method: string, durationMs: number, error: unknown): void {
    this.#calls.at(plugin, method, statusOf(error)).observe(durationMs / 1000);
  }

  keyUsed(direction: Direction, plugin: string, keyId: string): void {
    const name = `${direction} ${plugin} ${keyId}`;
    let uses = this.#used.get(name);
    if (uses === undefined) {
      const labels = [direction, plugin, hashedLabel(keyId), this.#server];
      const forget = (): void => {
        this.#uses.remove(...labels);
        this.#lastUses.remove(...labels);
      };
      uses = { count: this.#uses.at(...labels), last: this.#lastUses.at(...labels), forget };
      this.#used.set(name, uses);
    }
    uses.count.add();
    uses.last.value = this.#now() / 1000;
  }

  keyReported(plugin: string, keyId: string): void {
    const name = `${plugin} ${keyId}`;
    let report = this.#reported.get(name);
    if (report === undefined) {
      const labels = [plugin, hashedLabel(keyId), this.#server];
      report = { cell: this.#reports.at(...labels), forget: () => this.#reports.remove(...labels) };
      this.#reported.set(name, report);
    }
    report.cell.value = this.#now() / 1000;
  }

  invalidKeyReported(plugin: string, error: 'empty' | 'too_long'): void {
    this.#invalid.at(plugin, error).add();
  }

  seedsKept(plugin: string, count: number): void {
    this.#seeds.at(plugin).value = count;
  }
}

interface KeyUses {
  readonly count: Cell;
  readonly last: Cell;
  forget(): void;
}

/** Metrics of one provider in one direction. */
export class Transformations {
  readonly #duration: Distribution;
  readonly #countOf: (status: string) => Cell;
  readonly #succeeded: Cell;

  constructor(duration: Distribution, countOf: (status: string) => Cell) {
    this.#duration = duration;
    this.#countOf = countOf;
    this.#succeeded = countOf(OK);
  }

  /** Runs the work and measures it, at once where it can. @throws what the work throws */
  measure<Result>(work: () => Result | Promise<Result>): Result | Promise<Result> {
    const begunMs = performance.now();
    try {
      const result = work();
      if (result instanceof Promise) return this.#measureLater(result, begunMs);
      this.#succeed(begunMs);
      return result;
    } catch (error) {
      this.#countOf(statusOf(error)).add();
      throw error;
    }
  }

  async #measureLater<Result>(work: Promise<Result>, begunMs: number): Promise<Result> {
    try {
      const result = await work;
      this.#succeed(begunMs);
      return result;
    } catch (error) {
      this.#countOf(statusOf(error)).add();
      throw error;
    }
  }

  #succeed(begunMs: number): void {
    this.#succeeded.add();
    this.#duration.observe((performance.now() - begunMs) / 1000);
  }
}

/** KeyGenerations measures the making of keys. */
class KeyGenerations {
  readonly #durations = new Histogram(
    {
      name: 'apiserver_storage_data_key_generation_duration_seconds',
      help: 'Latencies in seconds of data encryption key(DEK) generation operations.',
    },
    GENERATION_BOUNDS,
  );
  readonly #failures = new Numbers('counter', {
    name: 'apiserver_storage_data_key_generation_failures_total',
    help: 'Total number of failed data encryption key(DEK) generation operations.',
  });
  readonly instruments: readonly Instrument[] = [this.#durations, this.#failures];

  measure(make: () => Buffer): Buffer {
    const begunMs = performance.now();
    try {
      const key = make();
      this.#durations.at().observe((performance.now() - begunMs) / 1000);
      return key;
    } catch (error) {
      this.#failures.at().add();
      throw error;
    }
  }
}
