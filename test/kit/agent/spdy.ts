import { Duplex } from 'node:stream';
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib';
import { SPDY_DICTIONARY } from '../../../src/proxy/spdy-session.ts';

/** As much of SPDY/3.1 as clients of Kubernetes speak: streams, their headers, pings. There is no flow control among them. */

const VERSION = 0x8003;
const FIN = 1;
const Frame = { synStream: 1, synReply: 2, reset: 3, ping: 6, goAway: 7 } as const;

export type SpdyHeaders = Readonly<Record<string, string>>;

export class SpdyStream extends Duplex {
  readonly headers: SpdyHeaders;
  readonly #send: (data: Buffer, fin: boolean, done: () => void) => void;

  constructor(headers: SpdyHeaders, send: (data: Buffer, fin: boolean, done: () => void) => void) {
    super();
    this.headers = headers;
    this.#send = send;
    this.on('error', () => {});
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#send(chunk, false, done);
  }

  override _final(done: () => void): void {
    this.#send(Buffer.alloc(0), true, done);
  }
}

/** The server's side of a connection. `onStream` gets each stream that the client opens, once it is accepted. */
export class SpdyServer {
  readonly #socket: Duplex;
  readonly #onStream: (stream: SpdyStream) => void;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #inflate: Inflate = createInflate({ dictionary: SPDY_DICTIONARY });
  readonly #deflate: Deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
  #rest = Buffer.alloc(0);

  constructor(socket: Duplex, onStream: (stream: SpdyStream) => void) {
    this.#socket = socket;
    this.#onStream = onStream;
    socket.on('error', () => {});
    socket.once('close', () => {
      for (const stream of this.#streams.values()) stream.destroy();
    });
    void this.#run();
  }

  close(): void {
    this.#socket.end();
  }

  async #run(): Promise<void> {
    try {
      for await (const chunk of this.#socket) {
        this.#rest = Buffer.concat([this.#rest, chunk as Buffer]);
        await this.#frames();
      }
    } catch {
      // The connection broke: its streams learn it by its close.
    }
    for (const stream of this.#streams.values()) stream.push(null);
  }

  async #frames(): Promise<void> {
    while (this.#rest.length >= 8) {
      const length = this.#rest.readUInt32BE(4) & 0xffffff;
      if (this.#rest.length < 8 + length) return;
      const head = this.#rest.subarray(0, 8);
      const body = this.#rest.subarray(8, 8 + length);
      this.#rest = this.#rest.subarray(8 + length);
      if ((head.readUInt16BE(0) & 0x8000) === 0) this.#data(head, body);
      else await this.#control(head.readUInt16BE(2), head.readUInt8(4), body);
    }
  }

  #data(head: Buffer, body: Buffer): void {
    const stream = this.#streams.get(head.readUInt32BE(0) & 0x7fffffff);
    if (body.length > 0) stream?.push(Buffer.from(body));
    if ((head.readUInt8(4) & FIN) !== 0) stream?.push(null);
  }

  async #control(type: number, flags: number, body: Buffer): Promise<void> {
    switch (type) {
      case Frame.synStream:
        return this.#open(body.readUInt32BE(0), flags, await this.#headers(body.subarray(10)));
      case Frame.reset:
        this.#streams.get(body.readUInt32BE(0))?.destroy();
        return;
      case Frame.ping:
        this.#socket.write(control(Frame.ping, 0, body));
        return;
      case Frame.goAway:
        this.#socket.end();
        return;
      default:
        return;
    }
  }

  async #open(id: number, flags: number, headers: SpdyHeaders): Promise<void> {
    const stream = new SpdyStream(headers, (data, fin, done) => {
      if (this.#socket.destroyed) return done();
      const head = Buffer.alloc(8);
      head.writeUInt32BE(id, 0);
      head.writeUInt32BE(((fin ? FIN : 0) << 24) | data.length, 4);
      this.#socket.write(Buffer.concat([head, data]), () => done());
    });
    this.#streams.set(id, stream);
    const reply = Buffer.alloc(4);
    reply.writeUInt32BE(id);
    this.#socket.write(
      control(Frame.synReply, 0, Buffer.concat([reply, await this.#compress(Buffer.alloc(4))])),
    );
    if ((flags & FIN) !== 0) stream.push(null);
    this.#onStream(stream);
  }

  async #headers(compressed: Buffer): Promise<SpdyHeaders> {
    const block = await pass(this.#inflate, compressed);
    const headers: Record<string, string> = {};
    let at = 4;
    const text = (): string => {
      const length = block.readUInt32BE(at);
      at += 4 + length;
      return block.toString('latin1', at - length, at);
    };
    for (let left = block.readUInt32BE(0); left > 0; left -= 1) headers[text()] = text();
    return headers;
  }

  #compress(block: Buffer): Promise<Buffer> {
    return pass(this.#deflate, block);
  }
}

function control(type: number, flags: number, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(VERSION, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE((flags << 24) | body.length, 4);
  return Buffer.concat([head, body]);
}

/** One block through a (de)compressor that remembers those before it. */
function pass(through: Inflate | Deflate, block: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const collect = (chunk: Buffer): void => void chunks.push(chunk);
    through.on('data', collect);
    through.write(block);
    through.flush(constants.Z_SYNC_FLUSH, () =>
      setImmediate(() => {
        through.off('data', collect);
        resolve(Buffer.concat(chunks));
      }),
    );
  });
}
