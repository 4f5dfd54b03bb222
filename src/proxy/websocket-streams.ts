import type { WebSocket } from 'ws';
import { readStart } from './read-start.ts';
import type { SpdySession, SpdyStream } from './spdy-session.ts';

/**
 * The streams of a command between a client that speaks `v5.channel.k8s.io` over a websocket and an agent that speaks
 * `v4.channel.k8s.io` over SPDY. Messages begin with the number of their channel; 255 and a number says that a channel is at
 * its end, which is what the older protocols on websockets could not say.
 */
export const CHANNEL_PROTOCOL = 'v5.channel.k8s.io';
export const AGENT_PROTOCOL = 'v4.channel.k8s.io';

const Channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

export interface CommandStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

interface AgentStreams {
  readonly error: SpdyStream;
  readonly stdin: SpdyStream | undefined;
  readonly stdout: SpdyStream | undefined;
  readonly stderr: SpdyStream | undefined;
  readonly resize: SpdyStream | undefined;
}

/** Until the command has ended or one side is gone. Never rejects. */
export async function joinCommand(
  client: WebSocket,
  session: SpdySession,
  wanted: CommandStreams,
): Promise<void> {
  client.once('close', () => session.destroy());
  // Nothing that comes before the streams are there may be lost.
  client.pause();
  const streams = await openStreams(session, wanted);
  await send(client, firstChannel(wanted), Buffer.alloc(0));
  client.on('message', (message: Buffer) => receive(client, message, streams));
  client.resume();
  const [status] = await Promise.all([
    readStart(streams.error, MAX_STATUS_BYTES),
    copy(streams.stdout, client, Channel.stdout),
    copy(streams.stderr, client, Channel.stderr),
  ]);
  await send(client, Channel.error, Buffer.from(status === '' ? BROKEN_OFF : status));
  client.close(1000);
  session.destroy();
}

/** How a command ended, as a Status: a code and a sentence. */
const MAX_STATUS_BYTES = 1024 * 1024;

/** What the client hears when the agent went away without a word about the command. */
const BROKEN_OFF = JSON.stringify({
  metadata: {},
  status: 'Failure',
  message: 'Internal error occurred: the connection to the node agent was lost',
  reason: 'InternalError',
  code: 500,
});

/** In the order in which agents wait for them; a terminal has no output of errors of its own. */
async function openStreams(session: SpdySession, wanted: CommandStreams): Promise<AgentStreams> {
  const open = (streamtype: string): Promise<SpdyStream> => session.open({ streamtype });
  return {
    error: await open('error'),
    stdin: wanted.stdin ? await open('stdin') : undefined,
    stdout: wanted.stdout ? await open('stdout') : undefined,
    stderr: wanted.stderr && !wanted.tty ? await open('stderr') : undefined,
    resize: wanted.tty ? await open('resize') : undefined,
  };
}

/** An empty message tells the client that all is connected. */
function firstChannel({ stdout, stderr }: CommandStreams): number {
  if (stdout) return Channel.stdout;
  return stderr ? Channel.stderr : Channel.error;
}

function receive(client: WebSocket, message: Buffer, { stdin, resize }: AgentStreams): void {
  const [channel, ended] = message;
  if (channel === Channel.close) {
    if (ended === Channel.stdin) stdin?.end();
    return;
  }
  const stream = channel === Channel.stdin ? stdin : channel === Channel.resize ? resize : undefined;
  if (stream === undefined || stream.writableEnded) return;
  if (stream.write(message.subarray(1))) return;
  client.pause();
  stream.once('drain', () => client.resume());
}

async function copy(stream: SpdyStream | undefined, client: WebSocket, channel: number): Promise<void> {
  if (stream === undefined) return;
  try {
    for await (const chunk of stream) await send(client, channel, chunk as Buffer);
  } catch {
    // How the command ended is told by the error channel.
  }
}

/** Resolves when the message is on its way, or the client gone. */
function send(client: WebSocket, channel: number, data: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (client.readyState === client.OPEN) {
      client.send(Buffer.concat([Buffer.of(channel), data]), { binary: true }, () => resolve());
    } else resolve();
  });
}
