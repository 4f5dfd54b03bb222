import { createServer, type Server } from 'node:http';
import { resolve } from 'node:path';
import { blameFlag, explainFlag } from '../../options/flag.ts';
import { ownFlags } from '../../options/storage.ts';
import { makeFolder } from '../../util/make-folder.ts';
import { aborted } from '../../util/pause.ts';
import { stopSignal } from '../stop-signal.ts';
import { copyIn, ensureTemplate } from '../warm-start.ts';
import { readWords, valueIn } from './argument-words.ts';
import { publishEtcd, readUrl, withdrawEtcd } from './etcd-address.ts';
import { beginSpare, claimSpare } from './spares.ts';

const LISTEN = '--listen-client-urls';
/** The suite starts first. */
const SPARE_AFTER_MS = 4000;

/** Serves a database until a signal, or the end of the parent, ends it. Other flags of etcd are accepted. @throws UsageError, Error */
export async function runEtcd(args: readonly string[]): Promise<void> {
  const words = readWords(args);
  const listen = readUrl(valueIn(words, 'listen-client-urls') ?? 'http://localhost:2379');
  const dataDir = resolve(valueIn(words, 'data-dir') ?? 'default.etcd');
  const stop = stopSignal({ exitsWithParent: true });
  const progress = (message: string): void => void process.stderr.write(`${message}\n`);
  explainFlag(ownFlags.dataDir.shown, () => makeFolder(dataDir));
  const health = { isGood: false };
  // Before the database, because another program may have the port.
  const server = await serveHealth(listen, health);
  const template = await ensureTemplate(progress, stop);
  const beginNext = (): void => beginSpare(template, valueIn(words, 'keep-ready') ?? '0s');
  const next = setTimeout(beginNext, SPARE_AFTER_MS);
  const database = await openDatabase(template, { dataDir, stop, progress });
  try {
    const { url, spare } = database;
    publishEtcd(listen.port, spare === undefined ? { url } : { url, spare });
    health.isGood = true;
    await Promise.race([aborted(stop), database.failed]);
  } finally {
    server.closeAllConnections();
    server.close();
    withdrawEtcd(listen.port);
    await database.close();
    clearTimeout(next);
    beginNext();
  }
}

interface OpenDatabase {
  readonly url: string;
  readonly spare?: string;
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** That of a spare, or a new one. */
async function openDatabase(
  template: string,
  {
    dataDir,
    stop,
    progress,
  }: { readonly dataDir: string; readonly stop: AbortSignal; readonly progress: (message: string) => void },
): Promise<OpenDatabase> {
  const spare = await claimSpare(template);
  if (spare !== undefined) {
    const failed = spare.ended().then(() => {
      if (stop.aborted) return new Promise<never>(() => {});
      throw new Error('the process that has the database has ended: start the suite again');
    });
    return { url: spare.url, spare: spare.socket, failed, close: async () => spare.close() };
  }
  const postgres = copyIn(dataDir, template, progress);
  await postgres.start();
  return { url: postgres.url, failed: new Promise<never>(() => {}), close: () => postgres.stop() };
}

/** As etcd answers. @throws Error that names the flag */
function serveHealth({ hostname, port }: URL, health: { readonly isGood: boolean }): Promise<Server> {
  const server = createServer(({ url }, response) => {
    const isHealth = url === '/health';
    const code = health.isGood ? 200 : 503;
    response.writeHead(isHealth ? code : 404, { 'content-type': 'application/json' });
    response.end(isHealth ? `{"health":"${health.isGood}","reason":""}` : '{}');
  });
  return new Promise((done, reject) => {
    server.once('error', (error) => reject(blameFlag(LISTEN, error)));
    server.listen(Number(port), hostname.replace(/^\[|\]$/g, ''), () => done(server));
  });
}
