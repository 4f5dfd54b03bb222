import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { processFlags } from '../options/process.ts';
import { ownFlags } from '../options/storage.ts';
import { newestMigration } from '../storage/postgres/migration/migration.ts';
import { makeFolder } from '../util/make-folder.ts';
import { pause } from '../util/pause.ts';
import { describeVersion } from '../version.ts';
import { cacheFolder, useTemplate } from './embedded/cluster-template.ts';
import { EmbeddedPostgres } from './embedded/embedded-postgres.ts';
import { claimFolder, livingOwner } from './embedded/owner.ts';

/** A cluster takes seconds to make; on a busy machine a minute. */
const MAKING_MS = 180_000;
const POLL_MS = 50;

/** Settings of a PostgreSQL whose content is worth nothing after a crash of the machine. */
export const UNSYNCED: readonly string[] = ['fsync=off', 'full_page_writes=off', 'shared_buffers=32MB'];

function templateFolder(): string {
  const version = createHash('sha256').update(`${describeVersion()} ${newestMigration()}`).digest('hex');
  return join(cacheFolder(), `cluster-${version.slice(0, 12)}`);
}

/** Path of the template of this version; undefined: none was made, or it has gone. */
export function findTemplate(): string | undefined {
  const template = templateFolder();
  if (!existsSync(template)) return undefined;
  useTemplate(template);
  return template;
}

/** Path of the template of this version, made where it is missing. @throws Error with a message of one line */
export async function ensureTemplate(
  progress: (message: string) => void,
  stop: AbortSignal,
): Promise<string> {
  const template = templateFolder();
  const deadline = Date.now() + MAKING_MS;
  const making = `${template}.making`;
  while (!existsSync(template)) {
    stop.throwIfAborted();
    if (Date.now() > deadline) throw new Error(`${making} does not become a cluster: remove it`);
    // Of several processes that start at once, one makes it.
    if (claims(making)) await make(making, template, { progress, stop });
    else await pause(POLL_MS, stop);
  }
  useTemplate(template);
  return template;
}

/** A PostgreSQL, not started, with a copy of the template in the folder. */
export function copyIn(
  folder: string,
  template: string,
  onProgress: (message: string) => void,
): EmbeddedPostgres {
  // Root's PostgreSQL runs as another account, which passes.
  if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  return new EmbeddedPostgres({
    ...{ folder: join(folder, 'postgres'), port: 0, settings: UNSYNCED, onProgress },
    template: join(template, 'postgres'),
  });
}

function claims(making: string): boolean {
  makeFolder(making, { mode: 0o755 });
  if (livingOwner(making) !== undefined) return false;
  try {
    claimFolder(making);
    return true;
  } catch {
    return false;
  }
}

/** Lets a server start and end there. */
async function make(
  making: string,
  template: string,
  { progress, stop }: { readonly progress: (message: string) => void; readonly stop: AbortSignal },
): Promise<void> {
  progress(`making a cluster to copy from, once, in ${template}`);
  const partial = join(making, 'data');
  rmSync(partial, { recursive: true, force: true });
  // The account of root's PostgreSQL passes.
  chmodSync(making, 0o711);
  await runOnce(partial, stop);
  stop.throwIfAborted();
  if (!existsSync(template)) renameSync(partial, template);
  rmSync(making, { recursive: true, force: true });
}

/** The same program, which the ready file says has started, until it has ended in order. */
async function runOnce(dataDir: string, stop: AbortSignal): Promise<void> {
  const readyFile = join(dataDir, '..', 'ready.json');
  const main = resolve(process.argv[1] ?? '');
  // Seldom needed, and ten times the code of the rest.
  const [{ listenerFlags }, { namespaceFlags }] = await Promise.all([
    import('../options/serving.ts'),
    import('../options/writing.ts'),
  ]);
  const flags = [
    `${listenerFlags.securePort.shown}=0`,
    `${ownFlags.dataDir.shown}=${dataDir}`,
    `${processFlags.readyFile.shown}=${readyFile}`,
    // A copy makes them itself, unless its server is to leave them out.
    `${namespaceFlags.fillsNamespaces.shown}=false`,
    processFlags.exitsWithParent.shown,
  ];
  const child = spawn(process.execPath, [main, 'start', ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  while (!existsSync(readyFile) && child.exitCode === null && !stop.aborted) await pause(POLL_MS, stop);
  child.kill('SIGTERM');
  const code = await ended;
  if (code !== 0) throw new Error(`the cluster to copy from could not be made: ${said.trim()}`);
}
