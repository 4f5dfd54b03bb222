import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { openSession, tlsOf } from './connections.ts';
import type { WatchJob } from './jobs.ts';

/** An open watch's bytes, as they come. Over HTTP/1.1 the chunks' sizes are among them. */
export interface WatchListener {
  data(watcher: number, chunk: Buffer): void;
  ended(watcher: number): void;
}

export type CloseWatches = () => void;

/** Handshakes at once: more only wait for each other. */
const OPENING = 50;

/** Resolves when every watch has been answered. */
export async function openWatches(job: WatchJob, listener: WatchListener): Promise<CloseWatches> {
  return job.protocol === 'h2' ? openStreams(job, listener) : openSockets(job, listener);
}

const pathOf = ({ path }: WatchJob, watcher: number): string => path.replaceAll('$N', String(watcher));

async function openStreams(job: WatchJob, listener: WatchListener): Promise<CloseWatches> {
  const sessions = await Promise.all(Array.from({ length: job.connections }, () => openSession(job.target)));
  await inTurns(job.watchers, async (watcher) => {
    const session = sessions[watcher % sessions.length];
    if (session !== undefined) await openStream(session, { job, watcher, listener });
  });
  return () => {
    for (const session of sessions) session.destroy();
  };
}

interface Opening {
  readonly job: WatchJob;
  readonly watcher: number;
  readonly listener: WatchListener;
}

function openStream(session: ClientHttp2Session, { job, watcher, listener }: Opening): Promise<void> {
  return new Promise((resolve, reject) => {
    const { token } = job.target;
    const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const stream: ClientHttp2Stream = session.request({ ':path': pathOf(job, watcher), ...credentials });
    stream.once('response', ({ ':status': status }) => {
      if (status === 200) resolve();
      else reject(new Error(`a watch was answered ${status}`));
    });
    stream.on('data', (chunk: Buffer) => listener.data(watcher, chunk));
    stream.once('error', reject);
    stream.once('close', () => listener.ended(watcher));
  });
}

/**
 * HTTP/1.1 spoken by hand: the reply is only counted, and thousands of parsers would cost the generator more than all the
 * rest.
 */
async function openSockets(job: WatchJob, listener: WatchListener): Promise<CloseWatches> {
  const sockets: TLSSocket[] = [];
  await inTurns(job.watchers, async (watcher) => {
    sockets.push(await openSocket({ job, watcher, listener }));
  });
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

function openSocket({ job, watcher, listener }: Opening): Promise<TLSSocket> {
  const { hostname, port, host } = new URL(job.target.url);
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: hostname, port: Number(port), ...tlsOf(job.target) });
    const { token } = job.target;
    const credentials = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
    socket.write(`GET ${pathOf(job, watcher)} HTTP/1.1\r\nHost: ${host}\r\n${credentials}\r\n`);
    let head = '';
    const onHead = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.removeListener('data', onHead);
      socket.on('data', (later: Buffer) => listener.data(watcher, later));
      const rest = head.slice(end + 4);
      if (rest !== '') listener.data(watcher, Buffer.from(rest, 'latin1'));
      if (head.startsWith('HTTP/1.1 200')) resolve(socket);
      else reject(new Error(`a watch was answered ${head.slice(9, 200)}`));
    };
    socket.on('data', onHead);
    socket.once('error', reject);
    socket.once('close', () => listener.ended(watcher));
  });
}

async function inTurns(count: number, open: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const take = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await open(next - 1);
    }
  };
  await Promise.all(Array.from({ length: OPENING }, take));
}
