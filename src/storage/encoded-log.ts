import type { GroupResource } from '../api/names.ts';
import { endTurn, runTogether } from '../util/concurrency.ts';
import { StorageError } from './errors.ts';
import type { ObjectKey } from './key.ts';
import { JSON_MEDIA_TYPE, type ObjectEncoding } from './object-encoding.ts';
import { NO_REVISION, type Revision } from './revision.ts';
import {
  type Change,
  type ChangeFeed,
  type ChangeQuery,
  type ChangeSink,
  type ChangeWithPrevious,
  type Committer,
  type EncodedBytes,
  type HistoricalList,
  type HistoricalPage,
  type RevisionLog,
  type RevisionReader,
  type StoredObject,
  storedBytesOf,
  type Write,
} from './revision-log.ts';

/** How long decoding may hold the event loop at a time. */
const TURN_MS = 10;

/**
 * A log whose objects are stored in other forms than JSON: writes go through the encodings in their order, and what comes back
 * through those that know it. Everything behind it sees JSON alone. An object that cannot be decoded comes as unreadable, with the
 * reason, and stands in nobody's way.
 */
export class EncodedLog implements RevisionLog {
  readonly committer: Committer;
  readonly feed: DecodedFeed;
  readonly reader: RevisionReader;
  readonly #encodings: readonly ObjectEncoding[];

  constructor(log: RevisionLog, encodings: readonly ObjectEncoding[]) {
    this.#encodings = encodings;
    const codec = new Codec(encodings);
    this.committer = new EncodingCommitter(log.committer, codec);
    this.feed = new DecodedFeed(log.feed, codec);
    this.reader = new DecodingReader(log.reader, codec);
  }

  /** Whether what is stored as this media type, undefined for JSON, would be stored as another one now. */
  isOutdated(resource: GroupResource, storedAs: string | undefined): boolean {
    let mediaType: string | undefined = JSON_MEDIA_TYPE;
    for (const encoding of this.#encodings) {
      mediaType = encoding.formOf(resource, mediaType);
      if (mediaType === undefined) return false;
    }
    return mediaType !== (storedAs ?? JSON_MEDIA_TYPE);
  }
}

type Decoded<Encoded> = Encoded | Promise<Encoded>;

class Codec {
  readonly #encodings: readonly ObjectEncoding[];
  /** One string for all objects that are stored alike. */
  readonly #mediaTypes = new Map<string, string>();

  constructor(encodings: readonly ObjectEncoding[]) {
    this.#encodings = encodings;
  }

  /** @throws StorageError unwritable */
  encode(write: Write): Decoded<Write> {
    if (this.#encodings.length === 0) return write;
    let bytes: Decoded<EncodedBytes> = { bytes: write.json, mediaType: JSON_MEDIA_TYPE };
    for (const encoding of this.#encodings) {
      bytes =
        bytes instanceof Promise
          ? bytes.then((known) => encoding.encode(write.key, known))
          : encoding.encode(write.key, bytes);
    }
    return bytes instanceof Promise ? bytes.then((known) => toWrite(write, known)) : toWrite(write, bytes);
  }

  /** The object with its JSON, or unreadable. */
  decode<Stored extends StoredObject>(stored: Stored): Decoded<Stored> {
    const { key, encoded } = stored;
    const decoded = this.#decode(key, encoded);
    if (decoded === undefined) return stored;
    const storedAs = encoded?.mediaType;
    const mediaType = storedAs === undefined ? {} : { storedAs: this.#share(storedAs) };
    const { encoded: _, ...rest } = stored;
    const toStored = (json: DecodedJson): Stored => ({ ...(rest as Stored), ...mediaType, ...json });
    return decoded instanceof Promise ? decoded.then(toStored) : toStored(decoded);
  }

  decodeBoth(change: ChangeWithPrevious): Decoded<ChangeWithPrevious> {
    const after = this.decode(change);
    const before =
      change.previousJson === undefined ? undefined : this.#decode(change.key, change.previousEncoded);
    if (after === change && before === undefined) return change;
    const storedBytes = storedBytesOf(change);
    const join = (whole: ChangeWithPrevious, previous: DecodedJson | undefined): ChangeWithPrevious => {
      const { previousEncoded: _, ...rest } = whole;
      return { ...rest, storedBytes, ...toPrevious(previous) };
    };
    if (after instanceof Promise || before instanceof Promise)
      return Promise.all([after, before]).then(([whole, previous]) => join(whole, previous));
    return join(after, before);
  }

  /** Undefined: it is JSON already. */
  #decode(key: ObjectKey, encoded: EncodedBytes | undefined): Decoded<DecodedJson> | undefined {
    if (encoded === undefined) {
      const refusal = this.#refusal(key);
      return refusal === undefined ? undefined : { json: NO_JSON, unreadable: refusal };
    }
    try {
      const bytes = this.#toJson(key, encoded);
      if (!(bytes instanceof Promise)) return { json: bytes.bytes };
      return bytes.then(({ bytes: json }) => ({ json }), toUnreadable);
    } catch (error) {
      return toUnreadable(error);
    }
  }

  /** Why bytes that are JSON already are not to be believed. */
  #refusal(key: ObjectKey): string | undefined {
    for (const encoding of this.#encodings) {
      const refusal = encoding.refuses?.(key, JSON_MEDIA_TYPE);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  #toJson(key: ObjectKey, encoded: EncodedBytes): Decoded<EncodedBytes> {
    let known = encoded;
    // Each takes one form off; none puts on what another took off.
    for (let step = 0; known.mediaType !== JSON_MEDIA_TYPE && step <= this.#encodings.length; step += 1) {
      const { mediaType } = known;
      const encoding = this.#encodings.find((one) => one.handles(mediaType));
      if (encoding === undefined)
        throw new Error(`it is stored as ${mediaType}, which this server is not configured to read`);
      const decoded = encoding.decode(key, known);
      if (decoded instanceof Promise) return decoded.then((next) => this.#toJson(key, next));
      known = decoded;
    }
    return known;
  }

  #share(mediaType: string): string {
    const known = this.#mediaTypes.get(mediaType);
    if (known !== undefined) return known;
    if (this.#mediaTypes.size >= MAX_MEDIA_TYPES) this.#mediaTypes.clear();
    this.#mediaTypes.set(mediaType, mediaType);
    return mediaType;
  }
}

const MAX_MEDIA_TYPES = 10_000;

interface DecodedJson {
  readonly json: Buffer;
  readonly unreadable?: string;
}

const NO_JSON = Buffer.alloc(0);

const toUnreadable = (error: unknown): DecodedJson => ({
  json: NO_JSON,
  unreadable: error instanceof Error ? error.message : String(error),
});

const toWrite = (write: Write, encoded: EncodedBytes): Write =>
  encoded.mediaType === JSON_MEDIA_TYPE ? write : { ...write, encoded };

function toPrevious(previous: DecodedJson | undefined): Partial<ChangeWithPrevious> {
  if (previous === undefined) return {};
  const { json: previousJson, unreadable } = previous;
  return { previousJson, ...(unreadable === undefined ? {} : { previousUnreadable: unreadable }) };
}

class EncodingCommitter implements Committer {
  readonly #committer: Committer;
  readonly #codec: Codec;

  constructor(committer: Committer, codec: Codec) {
    this.#committer = committer;
    this.#codec = codec;
  }

  async commit(write: Write): Promise<Revision> {
    return this.#committer.commit(await this.#encode(write));
  }

  /** Most are encoded at once, so that writes of one turn still go together. */
  #encode(write: Write): Decoded<Write> {
    try {
      const encoded = this.#codec.encode(write);
      return encoded instanceof Promise ? encoded.catch(toUnwritable) : encoded;
    } catch (error) {
      return toUnwritable(error);
    }
  }
}

function toUnwritable(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new StorageError({ kind: 'unwritable', reason }, { cause: error });
}

class DecodingReader implements RevisionReader {
  readonly #reader: RevisionReader;
  readonly #codec: Codec;

  constructor(reader: RevisionReader, codec: Codec) {
    this.#reader = reader;
    this.#codec = codec;
  }

  currentRevision(): Promise<Revision> {
    return this.#reader.currentRevision();
  }

  compactedRevision(): Promise<Revision> {
    return this.#reader.compactedRevision();
  }

  async get(key: ObjectKey): Promise<StoredObject | undefined> {
    const stored = await this.#reader.get(key);
    return stored === undefined ? undefined : this.#codec.decode(stored);
  }

  /** What is encoded follows the rest, decoded while that comes. */
  async loadCurrent(
    begin: (revision: Revision) => void,
    batch: (objects: readonly StoredObject[]) => void,
  ): Promise<void> {
    const decode = (one: StoredObject): Decoded<StoredObject> => this.#codec.decode(one);
    let decoding = new DecodingQueue(decode, batch);
    await this.#reader.loadCurrent(
      (revision) => {
        decoding.end();
        decoding = new DecodingQueue(decode, batch);
        begin(revision);
      },
      (objects) => {
        const plain = objects.filter(({ encoded }) => encoded === undefined);
        if (plain.length > 0) batch(plain.map((one) => decode(one) as StoredObject));
        if (plain.length < objects.length)
          decoding.add(objects.filter(({ encoded }) => encoded !== undefined));
      },
    );
    await decoding.drained();
  }

  async listAt(query: HistoricalList): Promise<HistoricalPage> {
    const page = await this.#reader.listAt(query);
    return { ...page, objects: await inTurns(page.objects, (one) => this.#codec.decode(one)) };
  }

  async changesBetween(query: ChangeQuery): Promise<ChangeWithPrevious[]> {
    const changes = await this.#reader.changesBetween(query);
    return inTurns(changes, (one) => this.#codec.decodeBoth(one));
  }
}

/** How many wait for a key at a time. */
const AT_ONCE = 64;

/** Decodes all, in their order. Others get their turn in between. */
async function inTurns<Item>(items: readonly Item[], decode: (item: Item) => Decoded<Item>): Promise<Item[]> {
  const decoded: Decoded<Item>[] = [];
  let turnEndsMs = performance.now() + TURN_MS;
  let waiting = 0;
  for (const item of items) {
    const one = decode(item);
    decoded.push(one);
    if (one instanceof Promise) waiting += 1;
    if (waiting >= AT_ONCE) {
      await Promise.all(decoded.slice(-AT_ONCE));
      waiting = 0;
    } else if (performance.now() > turnEndsMs) {
      await endTurn();
      turnEndsMs = performance.now() + TURN_MS;
    }
  }
  return Promise.all(decoded);
}

/** Decodes what comes, batch by batch, and hands it on. */
class DecodingQueue {
  readonly #decode: (one: StoredObject) => Decoded<StoredObject>;
  readonly #batch: (objects: readonly StoredObject[]) => void;
  #tail: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(
    decode: (one: StoredObject) => Decoded<StoredObject>,
    batch: (objects: readonly StoredObject[]) => void,
  ) {
    this.#decode = decode;
    this.#batch = batch;
  }

  add(objects: readonly StoredObject[]): void {
    this.#tail = this.#tail.then(async () => {
      if (this.#isOver) return;
      const decoded = await inTurns(objects, this.#decode);
      if (!this.#isOver) this.#batch(decoded);
    });
    // Who drains hears of it.
    this.#tail.catch(() => {});
  }

  /** What it was given is to be forgotten. */
  end(): void {
    this.#isOver = true;
  }

  /** @throws what `batch` throws */
  drained(): Promise<void> {
    return this.#tail;
  }
}

/**
 * Changes as the feed brings them. Those that are decoded at once are applied at once; where a key must be waited for, they and all
 * that come after them are applied in their order once it is there.
 */
export class DecodedFeed implements ChangeFeed {
  readonly #feed: ChangeFeed;
  readonly #codec: Codec;
  #sink: DecodingSink | undefined;

  constructor(feed: ChangeFeed, codec: Codec) {
    this.#feed = feed;
    this.#codec = codec;
  }

  async run(from: Revision, sink: ChangeSink, signal: AbortSignal): Promise<void> {
    const decoding = new DecodingSink(sink, this.#codec);
    this.#sink = decoding;
    const loops = [
      (either: AbortSignal) => this.#feed.run(from, decoding, either),
      (either: AbortSignal) => decoding.untilBroken(either),
    ];
    await runTogether(loops, signal).finally(() => decoding.end());
  }

  /** Begins with a new state, in which objects that can be read by now are read. @throws what the sink throws */
  async renew(): Promise<void> {
    await this.#sink?.renew();
  }
}

class DecodingSink implements ChangeSink {
  readonly #sink: ChangeSink;
  readonly #codec: Codec;
  readonly #broken = Promise.withResolvers<never>();
  #waiting: (readonly Change[])[] = [];
  #isDraining = false;
  #loading: Promise<unknown> = Promise.resolve();
  /** What is being decoded belongs to a history that the sink has left. */
  #epoch = 0;
  /** The state up to here was loaded, and is not to be applied again. */
  #floor: Revision = NO_REVISION;

  constructor(sink: ChangeSink, codec: Codec) {
    this.#sink = sink;
    this.#codec = codec;
    this.#broken.promise.catch(() => {});
  }

  apply(changes: readonly Change[]): void {
    const fresh = changes.every(({ revision }) => revision > this.#floor)
      ? changes
      : changes.filter(({ revision }) => revision > this.#floor);
    if (fresh.length === 0) return;
    if (!this.#isDraining) {
      const decoded = this.#decodeNow(fresh);
      if (decoded !== undefined) {
        this.#sink.apply(decoded);
        return;
      }
    }
    this.#waiting.push(fresh);
    if (!this.#isDraining) void this.#drain();
  }

  async reset(reason: 'compacted' | 'rewound'): Promise<Revision> {
    this.#forget();
    return this.#load(reason);
  }

  async renew(): Promise<void> {
    this.#forget();
    this.#isDraining = true;
    const epoch = this.#epoch;
    try {
      const floor = await this.#load('compacted');
      if (this.#epoch !== epoch) return;
      this.#floor = floor;
    } catch (error) {
      this.#broken.reject(error);
      throw error;
    }
    await this.#drain();
  }

  /** One after the other: of two loads under way, the older might be the last to end. */
  #load(reason: 'compacted' | 'rewound'): Promise<Revision> {
    const load = this.#loading.then(() => this.#sink.reset(reason));
    this.#loading = load.catch(() => {});
    return load;
  }

  untilBroken(signal: AbortSignal): Promise<void> {
    const over = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return Promise.race([over, this.#broken.promise]);
  }

  end(): void {
    this.#forget();
  }

  #forget(): void {
    this.#epoch += 1;
    this.#waiting = [];
    this.#isDraining = false;
  }

  /** Undefined: it takes longer than a moment. */
  #decodeNow(changes: readonly Change[]): readonly Change[] | undefined {
    const endsMs = performance.now() + TURN_MS;
    const decoded: Change[] = [];
    for (const change of changes) {
      const one = this.#codec.decode(change);
      if (one instanceof Promise || (decoded.length > 0 && performance.now() > endsMs)) return undefined;
      decoded.push(one);
    }
    return decoded;
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    const epoch = this.#epoch;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        const decoded = await inTurns(next, (one) => this.#codec.decode(one));
        if (this.#epoch !== epoch) return;
        const fresh = decoded.filter(({ revision }) => revision > this.#floor);
        if (fresh.length > 0) this.#sink.apply(fresh);
      }
      this.#isDraining = false;
    } catch (error) {
      this.#broken.reject(error);
    }
  }
}
