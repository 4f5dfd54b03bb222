import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { blameFlag, explainFlag, UsageError } from '../../options/flag.ts';
import { ownFlags } from '../../options/storage.ts';
import { makeFolder } from '../../util/make-folder.ts';
import { aborted } from '../../util/pause.ts';
import { cacheFolder } from '../embedded/cluster-template.ts';
import { EmbeddedPostgres } from '../embedded/embedded-postgres.ts';
import { stopSignal } from '../stop-signal.ts';
import { ensureTemplate, UNSYNCED } from '../warm-start.ts';
import { readWords, valueIn } from './argument-words.ts';

/**
 * The file by which kube-apiserver's stand-in finds the database of an etcd: its URL, which only this user can read. Over HTTP any
 * user of the machine could.
 */
export const urlFile = (port: string): string => join(cacheFolder(), `etcd-${port}.url`);

const LISTEN = '--listen-client-urls';

/** Serves a database until a signal, or the end of the parent, ends it. Other flags of etcd are accepted. @throws UsageError, Error */
export async function runEtcd(args: readonly string[]): Promise<void> {
  const words = readWords(args);
  const listen = readUrl(valueIn(words, 'listen-client-urls') ?? 'http://localhost:2379');
  const dataDir = resolve(valueIn(words, 'data-dir') ?? 'default.etcd');
  const file = urlFile(listen.port);
  const stop = stopSignal({ exitsWithParent: true });
  const progress = (message: string): void => void process.stderr.write(`${message}\n`);
  explainFlag(ownFlags.dataDir.shown, () => makeFolder(dataDir));
  const health = { isGood: false };
  // Before the database, because another program may have the port.
  const server = await serveHealth(listen, health);
  // Root's PostgreSQL runs as another account, which passes.
  if (process.getuid?.() === 0) chmodSync(dataDir, 0o711);
  const postgres = new EmbeddedPostgres({
    ...{ folder: join(dataDir, 'postgres'), port: 0, settings: UNSYNCED, onProgress: progress },
    template: join(await ensureTemplate(progress, stop), 'postgres'),
  });
  try {
    await postgres.start();
    makeFolder(dirname(file));
    rmSync(file, { force: true });
    writeFileSync(file, postgres.url, { mode: 0o600 });
    health.isGood = true;
    await aborted(stop);
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(file, { force: true });
    await postgres.stop();
  }
}

/** Of several, the first. @throws UsageError */
export function readUrl(texts: string, flag = LISTEN): URL {
  const [first = ''] = texts.split(',');
  const url = URL.canParse(first) ? new URL(first) : undefined;
  if (url?.protocol === 'http:' && url.port !== '') return url;
  throw new UsageError(`${flag}: ${JSON.stringify(first)} is not like http://127.0.0.1:2379`);
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
