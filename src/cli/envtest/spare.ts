import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { admissionFlags } from '../../options/admission.ts';
import { authorizationFlags } from '../../options/authorization.ts';
import { DEFAULT_CLUSTER_IP_RANGE, serviceFlags } from '../../options/cluster-services.ts';
import { UsageError } from '../../options/flag.ts';
import { listenerFlags } from '../../options/serving.ts';
import { parseDuration } from '../../util/duration.ts';
import { aborted } from '../../util/pause.ts';
import { claimFolder } from '../embedded/owner.ts';
import { explainRefusal } from '../explain-refusal.ts';
import { stopSignal } from '../stop-signal.ts';
import { copyIn, findTemplate } from '../warm-start.ts';
import { readWords, valueIn } from './argument-words.ts';
import { type FromSpare, SpareChannel, type ToSpare } from './spare-channel.ts';
import { CLAIMED, SOCKET, spareFolder } from './spares.ts';
import { type SuiteDatabase, serveSuite } from './suite-server.ts';

/** As suites begin: what the flags need is loaded and compiled. */
const REHEARSAL = [
  ...[`${authorizationFlags.modes.shown}=RBAC`, `${admissionFlags.disabled.shown}=ServiceAccount`],
  ...[`${listenerFlags.bindAddress.shown}=127.0.0.1`, `${listenerFlags.securePort.shown}=0`],
  ...[`${serviceFlags.clusterIpRanges.shown}=${DEFAULT_CLUSTER_IP_RANGE}`, '--etcd-servers=here'],
];
/** Each loads more of what answers requests. */
const REHEARSED_REQUESTS = 5;
const LOOK_MS = 1000;

/** Waits for a suite, and ends with it, or with the folder that has the template. @see spares.ts */
export async function runSpare(args: readonly string[]): Promise<void> {
  const keepMs = parseDuration(valueIn(readWords(args), 'keep-ready') ?? '') ?? 0;
  const template = findTemplate();
  if (template === undefined) return;
  const folder = spareFolder(template, process.pid);
  // Not those above it: they may have gone meanwhile.
  mkdirSync(folder, { mode: 0o700 });
  claimFolder(folder);
  const life = new AbortController();
  const stop = AbortSignal.any([life.signal, stopSignal()]);
  const isLeft = (): boolean => !existsSync(folder) || !existsSync(template);
  // From the beginning: without its folder, a rehearsal would wait for its database for ever.
  const looking = setInterval(() => isLeft() && life.abort(), LOOK_MS);
  const postgres = copyIn(folder, template, () => {});
  try {
    await postgres.start();
    await rehearse(folder, { url: postgres.url, template }, stop);
    if (stop.aborted) return;
    const spare = new Spare({ folder, database: { url: postgres.url, template }, end: () => life.abort() });
    await spare.listen();
    const unused = setTimeout(() => spare.isClaimed || life.abort(), keepMs);
    await aborted(stop);
    clearTimeout(unused);
    await spare.close();
  } finally {
    clearInterval(looking);
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Serves once, until some requests were answered. */
async function rehearse(folder: string, database: SuiteDatabase, stop: AbortSignal): Promise<void> {
  const over = new AbortController();
  const request = (port: number): Promise<void> =>
    new Promise((done) => {
      const asked = get({ port, host: '127.0.0.1', path: '/readyz', rejectUnauthorized: false }, (answer) =>
        answer.resume().once('end', done),
      );
      asked.once('error', () => done());
    });
  const askAll = async (port: number): Promise<void> => {
    for (let count = 0; count < REHEARSED_REQUESTS; count += 1) await request(port);
    over.abort();
  };
  const words = readWords([...REHEARSAL, `${listenerFlags.certDir.shown}=${join(folder, 'rehearsal')}`]);
  await serveSuite(words, database, {
    stop: AbortSignal.any([over.signal, stop]),
    onReady: (port) => void askAll(port),
  });
}

interface SpareParts {
  readonly folder: string;
  readonly database: SuiteDatabase;
  readonly end: () => void;
}

class Spare {
  isClaimed = false;
  readonly #parts: SpareParts;
  readonly #server: Server;
  /** The run of the server; undefined: none runs. */
  #running: Promise<void> | undefined;
  readonly #over = new AbortController();

  constructor(parts: SpareParts) {
    this.#parts = parts;
    this.#server = createServer((socket) => this.#hear(socket));
  }

  listen(): Promise<void> {
    return new Promise((done, reject) => {
      this.#server.once('error', reject);
      // By its name alone, because a path may be longer than a socket's address.
      process.chdir(this.#parts.folder);
      // Who may connect has a server started: root's folder is open to others.
      const usual = process.umask(0o077);
      this.#server.listen(SOCKET, done);
      process.umask(usual);
    });
  }

  async close(): Promise<void> {
    this.#over.abort();
    this.#server.close();
    await this.#running;
  }

  #hear(socket: Socket): void {
    const stop = new AbortController();
    const channel = new SpareChannel<FromSpare, ToSpare>(socket, (message) => {
      if (message.say === 'stop') stop.abort();
      else if (message.say === 'claim') this.#claim(channel);
      else if (this.#running !== undefined) channel.send({ say: 'busy' });
      else
        this.#running = this.#serve(channel, message, stop.signal).finally(() => {
          this.#running = undefined;
        });
    });
    void channel.ended().then(() => stop.abort());
  }

  #claim(channel: SpareChannel<FromSpare, ToSpare>): void {
    if (this.isClaimed) {
      channel.close();
      return;
    }
    this.isClaimed = true;
    writeFileSync(join(this.#parts.folder, CLAIMED), '');
    void channel.ended().then(() => this.#parts.end());
    channel.send({ say: 'claimed', url: this.#parts.database.url });
  }

  /** In the folder and the environment of the stand-in, and with its output. */
  async #serve(
    channel: SpareChannel<FromSpare, ToSpare>,
    { args, folder, environment }: Extract<ToSpare, { say: 'serve' }>,
    stop: AbortSignal,
  ): Promise<void> {
    const giveBack = [relay('stdout', channel), relay('stderr', channel)];
    try {
      process.chdir(folder);
      for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
      Object.assign(process.env, environment);
      const turn = { stop: AbortSignal.any([stop, this.#over.signal]), onReady: () => {} };
      await serveSuite(readWords(args), this.#parts.database, turn);
      channel.send({ say: 'ended' });
    } catch (error) {
      channel.send({ say: 'failed', reason: explainRefusal(error), isUsage: error instanceof UsageError });
    } finally {
      for (const undo of giveBack) undo();
    }
  }
}

/** Sends what this process writes to the stand-in. Answers what undoes it. */
function relay(stream: 'stdout' | 'stderr', channel: SpareChannel<FromSpare, ToSpare>): () => void {
  const own = process[stream].write;
  process[stream].write = (chunk: string | Uint8Array, ...others: unknown[]): boolean => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = others.find((one): one is () => void => typeof one === 'function');
    channel.send({ say: 'wrote', stream, text }, () => done?.());
    return true;
  };
  return () => {
    process[stream].write = own;
  };
}
