import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScaleSettings } from '../arguments.ts';
import type { Target } from '../load/jobs.ts';
import type { Measured } from '../measure/usage.ts';
import { generate, SETTINGS_TO_GENERATE } from '../scale/generate.ts';
import { type Log, Shape } from '../scale/shape.ts';
import { createNamespace, type Environment } from './environment.ts';
import { OwnServer, type ServerFlags } from './own-server.ts';
import { type Started, startAgain } from './start-again.ts';

export interface KeptOptions extends ServerFlags {
  readonly size: ScaleSettings;
  readonly onProgress: (message: string) => void;
}

interface KeptLog extends Omit<Log, 'from'> {
  readonly from: string;
  readonly madeInSeconds: number;
}

const FILE = 'log.json';
/** A namespace of the log, of which all are alike. */
const LISTED = 'ns-7';

/** A server of our own on a log that was made, now or by an earlier run. */
export class KeptServer implements Environment {
  readonly own: OwnServer;
  readonly shape: Shape;
  /** Of an earlier run, which is printed again. */
  readonly madeInSeconds: number;
  readonly #namespace: string;
  #target: Target;

  /** @throws Error when the folder holds something else */
  static async open(options: KeptOptions): Promise<KeptServer> {
    const { dataDir } = options.size;
    const found = readKept(options.size);
    const own = new OwnServer({ ...options, ...(dataDir === undefined ? {} : { keptIn: dataDir }) });
    try {
      const kept = found ?? (await make(own, options));
      const { madeInSeconds, from, ...log } = kept;
      const begin = new Date(from);
      await own.startDatabase();
      // Nothing of it goes before it is asked to.
      await own.query(
        "UPDATE compaction SET history_window = clock_timestamp() - greatest(committed_at, $1) + interval '1 day'",
        [begin],
      );
      const target = await own.start();
      const namespace = await createNamespace(target);
      return new KeptServer({
        own,
        target,
        namespace,
        madeInSeconds,
        shape: new Shape({ ...log, from: begin }),
      });
    } catch (error) {
      await own[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(is: {
    own: OwnServer;
    target: Target;
    namespace: string;
    madeInSeconds: number;
    shape: Shape;
  }) {
    this.own = is.own;
    this.shape = is.shape;
    this.madeInSeconds = is.madeInSeconds;
    this.#namespace = is.namespace;
    this.#target = is.target;
  }

  get target(): Target {
    return this.#target;
  }

  get namespace(): string {
    return this.#namespace;
  }

  get measured(): Measured {
    return this.own.pids;
  }

  /** A server that remembers nothing. */
  async restart(): Promise<Started> {
    await this.own.stop();
    const started = await startAgain(this.own, LISTED);
    this.#target = started.target;
    return started;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.own[Symbol.asyncDispose]();
  }
}

function readKept({ dataDir, revisions, objects, isSmall }: ScaleSettings): KeptLog | undefined {
  if (dataDir === undefined || !existsSync(dataDir) || readdirSync(dataDir).length === 0) return undefined;
  const file = join(dataDir, FILE);
  if (!existsSync(file))
    throw new Error(`${dataDir} holds no log that was made to its end: remove it, or name another`);
  const kept: KeptLog = JSON.parse(readFileSync(file, 'utf8'));
  if (kept.revisions === revisions && kept.objects === objects && kept.isSmall === isSmall) return kept;
  const flags = `--revisions=${kept.revisions} --objects=${kept.objects}${kept.isSmall ? ' --small-objects' : ''}`;
  throw new Error(`${dataDir} was made with ${flags}: give these, or another folder`);
}

/** The server comes first, with the schema and what it makes for itself. */
async function make(own: OwnServer, { size, onProgress }: KeptOptions): Promise<KeptLog> {
  await own.start();
  const startedAt = performance.now();
  const log = await own.withSettings(SETTINGS_TO_GENERATE, (url) =>
    generate(url, size, (done) => onProgress(`made ${done} of ${size.revisions} revisions`)),
  );
  const kept = {
    ...log,
    from: log.from.toISOString(),
    madeInSeconds: (performance.now() - startedAt) / 1000,
  };
  if (size.dataDir !== undefined) writeFileSync(join(size.dataDir, FILE), JSON.stringify(kept));
  return kept;
}
