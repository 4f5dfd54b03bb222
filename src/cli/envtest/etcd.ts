import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../../options/flag.ts';
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

/** Serves a database until a signal, or the end of the parent, ends it. Other flags of etcd are accepted. @throws UsageError, Error */
export async function runEtcd(args: readonly string[]): Promise<void> {
  const words = readWords(args);
  const listen = readUrl(valueIn(words, 'listen-client-urls') ?? 'http://localhost:2379');
  const dataDir = resolve(valueIn(words, 'data-dir') ?? 'default.etcd');
  const stop = stopSignal({ exitsWithParent: true });
  const progress = (message: string): void => void process.stderr.write(`${message}\n`);
  mkdirSync(dataDir, { recursive: true });
  // Root's PostgreSQL runs as another account, which passes.
  if (process.getuid?.() === 0) chmodSync(dataDir, 0o711);
  const postgres = new EmbeddedPostgres({
    ...{ folder: join(dataDir, 'postgres'), port: 0, settings: UNSYNCED, onProgress: progress },
    template: join(await ensureTemplate(progress, stop), 'postgres'),
  });
  await postgres.start();
  const file = urlFile(listen.port);
  let server: Server | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    writeFileSync(file, postgres.url, { mode: 0o600 });
    server = await serveHealth(listen);
    await aborted(stop);
  } finally {
    server?.closeAllConnections();
    server?.close();
    rmSync(file, { force: true });
    await postgres.stop();
  }
}

/** Of several, the first. @throws UsageError */
export function readUrl(texts: string, flag = '--listen-client-urls'): URL {
  const [first = ''] = texts.split(',');
  const url = URL.canParse(first) ? new URL(first) : undefined;
  if (url?.protocol === 'http:' && url.port !== '') return url;
  throw new UsageError(`${flag}: ${JSON.stringify(first)} is not like http://127.0.0.1:2379`);
}

/** As etcd answers. */
function serveHealth({ hostname, port }: URL): Promise<Server> {
  const server = createServer(({ url }, response) => {
    const isHealth = url === '/health';
    response.writeHead(isHealth ? 200 : 404, { 'content-type': 'application/json' });
    response.end(isHealth ? '{"health":"true","reason":""}' : '{}');
  });
  return new Promise((done, reject) => {
    server.once('error', reject);
    server.listen(Number(port), hostname.replace(/^\[|\]$/g, ''), () => done(server));
  });
}
