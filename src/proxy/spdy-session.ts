import { Duplex } from 'node:stream';
import { constants, createDeflate, type Deflate } from 'node:zlib';

/**
 * The client's side of SPDY/3.1, as far as node agents speak it: streams with headers, data, pings. Agents use no flow control,
 * so an unread stream holds up the whole connection. Their replies to a new stream say nothing, so they are not decompressed.
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

  /** Resolves when the receiver is ready for more. */
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
  /** Resolves when the connection has ended, for any reason. */
  readonly ended: Promise<void>;

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on('error', () => {});
    this.ended = this.#run();
  }

  /** Calls must not overlap, because the headers of all streams are compressed as one text. */
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
        this.#rest = Buffer.concat([this.#rest, chunk]);
        await this.#readFrames();
      }
    } catch {
      // A broken connection counts as ended; its streams have their own state.
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
        // zlib hands out the last piece in the next turn.
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

/** The dictionary of header compression: SPDY/3, section 2.6.10.1. 1423 bytes, Adler-32 e3c6a7c2. */

const WORDS =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow ' +
  'authorization cache-control connection content-base content-encoding content-language content-length ' +
  'content-location content-md5 content-range content-type date etag expect expires from host if-match ' +
  'if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma ' +
  'proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade ' +
  'user-agent vary via warning www-authenticate method get status';
const MORE_WORDS = 'version HTTP/1.1 url public set-cookie keep-alive origin';

const TEXT =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden' +
  '404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable' +
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT' +
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,' +
  'publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.';

function counted(word: string): Buffer {
  const bytes = Buffer.alloc(4 + word.length);
  bytes.writeUInt32BE(word.length);
  bytes.write(word, 4, 'latin1');
  return bytes;
}

export const SPDY_DICTIONARY = Buffer.concat([
  ...[...WORDS.split(' '), '200 OK', ...MORE_WORDS.split(' ')].map(counted),
  Buffer.from(TEXT, 'latin1'),
]);
