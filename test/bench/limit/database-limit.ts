import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../../src/cli/embedded/embedded-postgres.ts';
import type { WriteVerb } from '../../../src/storage/revision-log.ts';
import { migrateDatabase } from '../../storage/postgres/migrate-database.ts';
import { cpuSeconds } from '../measure/proc.ts';
import { type RowTemplate, RowWriter, slices } from './rows.ts';

export interface LimitFigures {
  readonly rate: number;
  readonly cpuPer1000: number;
  /** Cores the load generator used for it. */
  readonly loadCores?: number;
}

export interface RowsLimit {
  readonly template: RowTemplate;
  readonly verb: WriteVerb;
  readonly batch: number;
  readonly durationMs: number;
}

/** How many objects updates go through, and how many deletes there are at most. */
const UPDATED_OBJECTS = 1000;
const DELETED_OBJECTS = 10_000;
const LOAD_BATCH = 500;

/** A PostgreSQL of its own, with the same settings and schema, that no server reads from. */
export class DatabaseLimit implements AsyncDisposable {
  readonly #folder: string;
  readonly #postgres: EmbeddedPostgres;
  #runs = 0;

  static async start(): Promise<DatabaseLimit> {
    const limit = new DatabaseLimit();
    await limit.#postgres.start();
    await migrateDatabase({ urls: [limit.#postgres.url], poolSize: 1 });
    return limit;
  }

  private constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-bench-limit-'));
    // The account PostgreSQL runs under when we are root must be able to pass.
    chmodSync(this.#folder, 0o755);
    this.#postgres = new EmbeddedPostgres({
      folder: this.#folder,
      port: 0,
      settings: [],
      onProgress: () => {},
    });
  }

  /** The same rows, through commit_revisions alone. */
  async measure({ template, verb, batch, durationMs }: RowsLimit): Promise<LimitFigures> {
    this.#runs += 1;
    const own = { ...template, namespace: `run-${this.#runs}` };
    await using writer = await RowWriter.connect(this.#postgres.url, own);
    const objects = verb === 'create' ? 0 : verb === 'update' ? UPDATED_OBJECTS : DELETED_OBJECTS;
    for (const slice of slices(0, objects, LOAD_BATCH)) await writer.write('create', slice);
    const pids = [this.#postgres.pid ?? 0];
    const cpuBefore = cpuSeconds(pids);
    const startedAt = performance.now();
    let written = 0;
    for (const slice of turns(verb, batch, objects)) {
      if (performance.now() > startedAt + durationMs) break;
      await writer.write(verb, slice);
      written += slice.length;
    }
    const seconds = (performance.now() - startedAt) / 1000;
    return { rate: written / seconds, cpuPer1000: (cpuSeconds(pids) - cpuBefore) / (written / 1000) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#postgres.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Creates go on for ever, updates go round, deletes end with the last object. */
function* turns(verb: WriteVerb, batch: number, objects: number): Generator<number[]> {
  if (verb === 'delete') {
    yield* slices(0, objects, batch);
    return;
  }
  for (let first = 0; ; first += batch) {
    const numbers = Array.from({ length: batch }, (_, index) => first + index);
    yield verb === 'create' ? numbers : numbers.map((number) => number % objects);
  }
}
