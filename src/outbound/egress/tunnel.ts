import { Duplex } from 'node:stream';
import { Client, type ClientDuplexStream, connectivityState, credentials } from '@grpc/grpc-js';
import { errorText } from '../../util/error-text.ts';
import { type Packet, readPacket, writePacket } from './packets.ts';

type Call = ClientDuplexStream<Packet, Packet>;

/** A call of konnectivity's proxy server, good for one connection (apiserver-network-proxy, konnectivity-client). */
export interface Tunnel {
  /** @throws Error in Kubernetes' words */
  dial(address: string, signal: AbortSignal): Promise<Duplex>;
}

const METHOD = '/ProxyService/Proxy';
const DIAL_MS = 30_000;

/** @throws Error when no server listens */
export async function openTunnel(socketPath: string, signal: AbortSignal): Promise<Tunnel> {
  const client = new Client(`unix:${socketPath}`, credentials.createInsecure(), {
    'grpc.enable_retries': 0,
    // Each connection is closed with its tunnel, so none is shared with another one.
    'grpc.use_local_subchannel_pool': 1,
  });
  try {
    await ready(client, signal);
  } catch (error) {
    client.close();
    throw new Error(`failed to create connection to uds name ${socketPath}: ${errorText(error)}`, {
      cause: error,
    });
  }
  const call = client.makeBidiStreamRequest(METHOD, writePacket, readPacket);
  const close = (): void => {
    call.cancel();
    client.close();
  };
  return {
    dial: async (address, dialSignal) => {
      try {
        const connectId = await dial(call, address, dialSignal);
        return new TunnelStream(call, connectId, close);
      } catch (error) {
        close();
        throw error;
      }
    },
  };
}

/** Gives up at the first failure: callers can retry. */
async function ready(client: Client, signal: AbortSignal): Promise<void> {
  const channel = client.getChannel();
  const deadline = Date.now() + DIAL_MS;
  for (;;) {
    signal.throwIfAborted();
    const state = channel.getConnectivityState(true);
    if (state === connectivityState.READY) return;
    if (state === connectivityState.TRANSIENT_FAILURE) throw new Error('the proxy server cannot be reached');
    const changed = Promise.withResolvers<void>();
    channel.watchConnectivityState(state, deadline, (error) =>
      error === undefined ? changed.resolve() : changed.reject(error),
    );
    await changed.promise;
  }
}

/** Returns the id of the connection, in the proxy server's form. */
async function dial(call: Call, address: string, signal: AbortSignal): Promise<Packet['connectId']> {
  const random = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
  const answered = Promise.withResolvers<Packet['connectId']>();
  const hear = (packet: Packet): void => {
    if (packet.type === 'DIAL_CLS') answered.reject(new Error('dial closed'));
    if (packet.type !== 'DIAL_RSP') return;
    if (packet.error === '') answered.resolve(packet.connectId);
    else answered.reject(new Error(packet.error));
    call.pause();
  };
  const fail = (error: Error): void => answered.reject(error);
  const end = (): void => answered.reject(new Error('tunnel closed'));
  const abort = (): void => {
    call.write({ type: 'DIAL_CLS', random });
    answered.reject(new Error('dial timeout, backstop'));
  };
  call.on('data', hear).on('end', end);
  // The listener stays: an aborted call emits an error at any time.
  call.on('error', fail);
  signal.addEventListener('abort', abort, { once: true });
  try {
    call.write({ type: 'DIAL_REQ', protocol: 'tcp', address, random });
    return await answered.promise;
  } finally {
    signal.removeEventListener('abort', abort);
    call.removeListener('data', hear).removeListener('end', end);
  }
}

/** Below the default message limit of gRPC servers, 4 MiB. */
const MAX_DATA_BYTES = 1024 * 1024;

/** The connection behind a tunnel, with the methods that Node's HTTP and TLS expect of a socket. */
class TunnelStream extends Duplex {
  readonly #call: Call;
  readonly #connectId: Packet['connectId'];
  readonly #close: () => void;
  #isOver = false;

  constructor(call: Call, connectId: Packet['connectId'], close: () => void) {
    super({ autoDestroy: true });
    this.#call = call;
    this.#connectId = connectId;
    this.#close = close;
    call.on('data', (packet: Packet) => this.#hear(packet));
    call.on('end', () => this.push(null));
    call.on('error', (error: Error) => this.destroy(error));
  }

  #hear(packet: Packet): void {
    // Data after the end is dropped.
    if (this.#isOver) return;
    if (packet.type === 'DATA' && packet.data !== undefined && packet.data.length > 0) {
      if (!this.push(packet.data)) this.#call.pause();
    } else if (packet.type === 'CLOSE_RSP') {
      this.#isOver = true;
      if (packet.error === '') this.push(null);
      else this.destroy(new Error(packet.error));
    }
  }

  override _read(): void {
    this.#call.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const connectId = this.#connectId;
    for (let at = 0; at < chunk.length; at += MAX_DATA_BYTES) {
      const data = chunk.subarray(at, at + MAX_DATA_BYTES);
      const isLast = at + MAX_DATA_BYTES >= chunk.length;
      this.#call.write({ type: 'DATA', connectId, data }, isLast ? done : undefined);
    }
    if (chunk.length === 0) done();
  }

  /** The protocol knows no half of a connection: this ends both. */
  override _final(done: (error?: Error | null) => void): void {
    this.#call.write({ type: 'CLOSE_REQ', connectId: this.#connectId }, () => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#call.write({ type: 'CLOSE_REQ', connectId: this.#connectId });
    this.#call.end();
    // Let the goodbye leave before the call is broken off.
    setImmediate(this.#close);
    done(error);
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
