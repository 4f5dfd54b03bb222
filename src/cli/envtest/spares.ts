import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { livingOwner } from '../embedded/owner.ts';
import { type FromSpare, SpareChannel, type ToSpare } from './spare-channel.ts';

/**
 * A spare is a process that is ready to serve the next suite: it has a database, a copy of the template, and has served on it once, so
 * that all its code is loaded and compiled. One is kept beside those that suites use. Its folder is beside the template.
 */
export const spareFolder = (template: string, pid: number): string => `${template}.spare-${pid}`;

/** In its folder. */
export const SOCKET = 'socket';
export const CLAIMED = 'claimed';

/** A folder of that age whose process does not live was left behind. */
const LEFT_MS = 60_000;

const foldersOf = (template: string): readonly string[] =>
  readdirSync(dirname(template))
    .filter((name) => name.startsWith(`${basename(template)}.spare-`))
    .map((name) => join(dirname(template), name));

/** Undefined: no process listens there. By its name in its folder, because a path may be longer than a socket's address. */
export function connectTo<Sent, Heard>(
  socket: string,
  onMessage: (message: Heard) => void,
): Promise<SpareChannel<Sent, Heard> | undefined> {
  return new Promise((done) => {
    const connection = connectInFolder(socket);
    connection?.once('error', () => done(undefined));
    connection?.once('connect', () => done(new SpareChannel(connection, onMessage)));
    if (connection === undefined) done(undefined);
  });
}

function connectInFolder(socket: string): Socket | undefined {
  const here = process.cwd();
  try {
    process.chdir(dirname(socket));
  } catch {
    // It has gone meanwhile.
    return undefined;
  }
  const connection = connect(basename(socket));
  process.chdir(here);
  return connection;
}

interface ClaimedSpare {
  readonly url: string;
  readonly socket: string;
  ended(): Promise<void>;
  /** Ends it, and its database. */
  close(): void;
}

/** Takes a spare that is ready; undefined: there is none. */
export async function claimSpare(template: string): Promise<ClaimedSpare | undefined> {
  for (const folder of foldersOf(template)) {
    const socket = join(folder, SOCKET);
    if (!existsSync(socket) || existsSync(join(folder, CLAIMED))) continue;
    const answer = Promise.withResolvers<string | undefined>();
    const channel = await connectTo<ToSpare, FromSpare>(socket, (message) =>
      answer.resolve(message.say === 'claimed' ? message.url : undefined),
    );
    if (channel === undefined) continue;
    const ended = channel.ended();
    void ended.then(() => answer.resolve(undefined));
    channel.send({ say: 'claim' });
    const url = await answer.promise;
    if (url !== undefined) return { url, socket, ended: () => ended, close: () => channel.close() };
    channel.close();
  }
  return undefined;
}

/** Begins the next spare, unless one is ready or under way. `keep`: a duration; none is kept for 0s. */
export function beginSpare(template: string, keep: string): void {
  if (Number.parseFloat(keep) === 0) return;
  const folders = foldersOf(template);
  for (const folder of folders) removeIfLeft(folder);
  if (folders.some((folder) => livingOwner(folder) !== undefined && !existsSync(join(folder, CLAIMED))))
    return;
  const args = [resolve(process.argv[1] ?? ''), 'envtest', 'spare', `--keep-ready=${keep}`];
  spawn(process.execPath, args, { detached: true, stdio: 'ignore', cwd: '/' })
    .on('error', () => {})
    .unref();
}

function removeIfLeft(folder: string): void {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || livingOwner(folder) !== undefined || Date.now() - stat.mtimeMs < LEFT_MS) return;
  rmSync(folder, { recursive: true, force: true });
}
