import { Duplex } from 'node:stream';
import { constants, createDeflate, type Deflate } from 'node:zlib';
import { SPDY_DICTIONARY } from './spdy-dictionary.ts';

/**
 * The client's side of SPDY/3.1, as far as node agents speak it: streams with headers, data, pings. They use no flow control
 * of the protocol, so a stream that nobody reads holds up the whole connection; and what they answer a new stream with says
 * nothing, so that it is not even decompressed.
 */

/** Control bit and version. */
const CONTROL = 0x8003;
const FIN = 1;
const FRAME_HEAD_BYTES = 8;
const Type = { synStream: 1, synReply: 2, reset: 3, ping: 6, goAway: 7 } as const;
/** Larger writes go in several frames, so that streams take turns. */
const MAX_DATA_BYTES = 32 * 1024;

type Send = (data: Buffer, fin: boolean, done: (error?: Error | null) => void) => void;

export class SpdyStream extends Duplex {
  readonly #send: Send;
  #wake: () => void = () => {};

  constructor(send: Send) {
    super({ autoDestroy: false });
    this.#send = send;
    this.on('error', () => {});
  }

  /** Resolves when more may come. */
  async receive(data: Buffer): Promise<void> {
    if (this.readableEnded || this.destroyed || this.push(data)) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  override _read(): void {
    this.#wake();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#wake();
    done(error);
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const first = chunk.subarray(0, MAX_DATA_BYTES);
    const rest = chunk.subarray(MAX_DATA_BYTES);
    this.#send(first, false, (error) => {
      if (rest.length === 0 || error) done(error);
      else this._write(rest, _encoding, done);
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#send(Buffer.alloc(0), true, done);
  }
}

export class SpdySession {
  readonly #socket: Duplex;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #deflate: Deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
  #nextId = 1;
  #rest: Buffer = Buffer.alloc(0);
  #over = false;
  /** Resolves when the connection has ended, however it did. */
  readonly ended: Promise<void>;

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on('error', () => {});
    this.ended = this.#run();
  }

  /** To be called one after the other: the headers of all streams are compressed as one text. */
  async open(headers: Readonly<Record<string, string>>): Promise<SpdyStream> {
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = new SpdyStream((data, fin, done) => this.#sendData(id, data, fin, done));
    this.#streams.set(id, stream);
    const head = Buffer.alloc(10);
    head.writeUInt32BE(id);
    const block = await this.#compress(encodeHeaders(headers));
    if (this.#over) endStream(stream);
    else this.#socket.write(controlFrame(Type.synStream, Buffer.concat([head, block])));
    return stream;
  }

  destroy(): void {
    this.#socket.destroy();
    this.#deflate.destroy();
  }

  #sendData(id: number, data: Buffer, fin: boolean, done: (error?: Error | null) => void): void {
    if (this.#socket.destroyed) {
      done(new Error('the connection is closed'));
      return;
    }
    const head = Buffer.alloc(FRAME_HEAD_BYTES);
    head.writeUInt32BE(id, 0);
    head.writeUInt32BE(((fin ? FIN : 0) << 24) | data.length, 4);
    this.#socket.write(Buffer.concat([head, data]), done);
  }

  async #run(): Promise<void> {
    try {
      for await (const chunk of this.#socket) {
        this.#rest = Buffer.concat([this.#rest, chunk as Buffer]);
        await this.#readFrames();
      }
    } catch {
      // A broken connection is an ended one: its streams say how far they came.
    }
    this.#over = true;
    for (const stream of this.#streams.values()) endStream(stream);
    this.destroy();
  }

  async #readFrames(): Promise<void> {
    while (this.#rest.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + (this.#rest.readUInt32BE(4) & 0xffffff);
      if (this.#rest.length < end) return;
      const frame = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end);
      if (frame.readUInt16BE(0) === CONTROL) this.#control(frame);
      else await this.#data(frame);
    }
  }

  async #data(frame: Buffer): Promise<void> {
    const stream = this.#streams.get(frame.readUInt32BE(0) & 0x7fffffff);
    if (stream === undefined) return;
    if (frame.length > FRAME_HEAD_BYTES) await stream.receive(frame.subarray(FRAME_HEAD_BYTES));
    if ((frame.readUInt8(4) & FIN) !== 0) endStream(stream);
  }

  #control(frame: Buffer): void {
    const type = frame.readUInt16BE(2);
    const body = frame.subarray(FRAME_HEAD_BYTES);
    if (type === Type.ping) this.#socket.write(controlFrame(Type.ping, body));
    const ends = type === Type.reset || (type === Type.synReply && (frame.readUInt8(4) & FIN) !== 0);
    if (!ends || body.length < 4) return;
    const stream = this.#streams.get(body.readUInt32BE(0));
    if (stream !== undefined) endStream(stream);
  }

  #compress(block: Buffer): Promise<Buffer> {
    const deflate = this.#deflate;
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      if (deflate.destroyed) return resolve(Buffer.alloc(0));
      deflate.once('close', () => resolve(Buffer.alloc(0)));
      const collect = (chunk: Buffer): void => void chunks.push(chunk);
      deflate.on('data', collect);
      deflate.write(block);
      deflate.flush(constants.Z_SYNC_FLUSH, () => {
        // The last piece is handed out in the turn after this.
        setImmediate(() => {
          deflate.off('data', collect);
          resolve(Buffer.concat(chunks));
        });
      });
    });
  }
}

function endStream(stream: SpdyStream): void {
  if (!stream.readableEnded && !stream.destroyed) stream.push(null);
}

function controlFrame(type: number, body: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUInt16BE(CONTROL, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}

/** SPDY/3, section 2.6.10: a count, then names and values, each behind its length. */
function encodeHeaders(headers: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(headers);
  const pieces = [uint32(entries.length)];
  for (const text of entries.flat()) {
    const bytes = Buffer.from(text, 'latin1');
    pieces.push(uint32(bytes.length), bytes);
  }
  return Buffer.concat(pieces);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
