import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { onLeash } from '../leash.ts';
import { SpdyServer, type SpdyStream } from './spdy.ts';

/** Commands as node agents run them, in both protocols of their streams. */

const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3 } as const;
/** v5: the channel that follows is at its end. */
const CLOSE = 255;

export function runOverWebSocket(client: WebSocket, command: readonly string[]): void {
  const child = start(command);
  const send = (channel: number, data: Buffer): void =>
    client.send(Buffer.concat([Buffer.of(channel), data]));
  client.on('message', (message: Buffer) => {
    if (message[0] === CHANNELS.stdin) child.stdin.write(message.subarray(1));
    if (message[0] === CLOSE && message[1] === CHANNELS.stdin) child.stdin.end();
  });
  client.once('close', () => child.kill());
  client.on('error', () => {});
  child.stdout.on('data', (data: Buffer) => send(CHANNELS.stdout, data));
  child.stderr.on('data', (data: Buffer) => send(CHANNELS.stderr, data));
  child.once('close', (code) => {
    send(CHANNELS.error, statusOf(code));
    client.close(1000);
  });
}

export function runOverSpdy(socket: Duplex, command: readonly string[], query: URLSearchParams): void {
  // A terminal has sizes instead of a second output.
  const tty = query.get('tty') === '1';
  const names = tty ? ['input', 'output', 'tty'] : ['input', 'output', 'error'];
  const wanted = names.filter((name) => query.get(name) === '1').length + 1;
  const streams = new Map<string, SpdyStream>();
  const server = new SpdyServer(socket, (stream) => {
    streams.set(stream.headers.streamtype ?? '', stream);
    if (streams.size === wanted) begin();
  });
  const begin = (): void => {
    const child = start(command);
    socket.once('close', () => child.kill());
    streams.get('stdin')?.pipe(child.stdin);
    streams.get('resize')?.on('data', (size: Buffer) => streams.get('stdout')?.write(`resized to ${size}`));
    child.stdout.on('data', (data: Buffer) => streams.get('stdout')?.write(data));
    child.stderr.on('data', (data: Buffer) => streams.get('stderr')?.write(data));
    child.once('close', (code) => {
      streams.get('error')?.write(statusOf(code), () => {
        for (const stream of streams.values()) stream.end();
        setTimeout(() => server.close(), 50);
      });
    });
  };
}

function start([file = 'true', ...args]: readonly string[]): ChildProcessWithoutNullStreams {
  const child = onLeash(spawn(file, args));
  child.stdin.on('error', () => {});
  return child;
}

function statusOf(code: number | null): Buffer {
  const head = { metadata: {}, status: code === 0 ? 'Success' : 'Failure' };
  if (code === 0) return Buffer.from(JSON.stringify(head));
  const details = { causes: [{ reason: 'ExitCode', message: String(code ?? 137) }] };
  const message = `command terminated with non-zero exit code: exit status ${code}`;
  return Buffer.from(JSON.stringify({ ...head, message, reason: 'NonZeroExitCode', details }));
}
