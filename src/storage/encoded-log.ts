import type { GroupResource } from '../api/names.ts';
import { errorText } from '../util/error-text.ts';
import { DecodedFeed } from './decoded-feed.ts';
import { StorageError } from './errors.ts';
import { type History, withRows } from './history.ts';
import type { ObjectKey } from './key.ts';
import { JSON_MEDIA_TYPE, type ObjectEncoding } from './object-encoding.ts';
import type { ResourceSet } from './resource-set.ts';
import type { Revision } from './revision.ts';
import type {
  ChangeQuery,
  ChangeWithPrevious,
  Committer,
  HistoricalList,
  HistoricalPage,
  RevisionLog,
  RevisionReader,
  StoredObject,
  Write,
} from './revision-log.ts';
import { type Decoded, decodeAll, StoredCodec } from './stored-codec.ts';

/**
 * EncodedLog is a log whose objects are stored in other forms than JSON. Writes pass all encodings in order, rows those that know
 * their form. Callers see JSON alone. An object that cannot be decoded is returned as unreadable, with the reason, and blocks no
 * other.
 */
export class EncodedLog implements RevisionLog {
  readonly committer: Committer;
  readonly feed: DecodedFeed;
  readonly reader: RevisionReader;
  readonly #encodings: readonly ObjectEncoding[];
  readonly #codec: StoredCodec;

  constructor(log: RevisionLog, encodings: readonly ObjectEncoding[]) {
    this.#encodings = encodings;
    const codec = new StoredCodec(encodings);
    this.#codec = codec;
    this.committer = new EncodingCommitter(log.committer, codec);
    this.feed = new DecodedFeed(log.feed, codec);
    this.reader = new DecodingReader(log.reader, codec);
  }

  /** Returns a history of this log with its objects decoded. */
  decodeHistory(history: History): History {
    return withRows(history, async (query) => {
      const page = await history.rows(query);
      if (query.states === 'none') return page;
      return { ...page, rows: await decodeAll(page.rows, (row) => this.#codec.decodeBoth(row)) };
    });
  }

  /** Whether an object stored as this media type (undefined: JSON) would now be stored as another. */
  isOutdated(resource: GroupResource, storedAs: string | undefined): boolean {
    let mediaType: string | undefined = JSON_MEDIA_TYPE;
    for (const encoding of this.#encodings) {
      mediaType = encoding.formOf(resource, mediaType);
      if (mediaType === undefined) return false;
    }
    return mediaType !== (storedAs ?? JSON_MEDIA_TYPE);
  }
}

class EncodingCommitter implements Committer {
  readonly #committer: Committer;
  readonly #codec: StoredCodec;

  constructor(committer: Committer, codec: StoredCodec) {
    this.#committer = committer;
    this.#codec = codec;
  }

  async commit(write: Write): Promise<Revision> {
    return this.#committer.commit(await this.#encode(write));
  }

  /** Encodes at once where possible, so that writes of one turn still go together. */
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
  const reason = errorText(error);
  throw new StorageError({ kind: 'unwritable', reason }, { cause: error });
}

class DecodingReader implements RevisionReader {
  readonly #reader: RevisionReader;
  readonly #codec: StoredCodec;

  constructor(reader: RevisionReader, codec: StoredCodec) {
    this.#reader = reader;
    this.#codec = codec;
  }

  currentRevision(): Promise<Revision> {
    return this.#reader.currentRevision();
  }

  compactedRevision(resource?: GroupResource): Promise<Revision> {
    return this.#reader.compactedRevision(resource);
  }

  async get(key: ObjectKey): Promise<StoredObject | undefined> {
    const stored = await this.#reader.get(key);
    return stored === undefined ? undefined : this.#codec.decode(stored);
  }

  /** Delivers plain objects at once; encoded ones follow as they are decoded. */
  async loadCurrent(
    begin: (revision: Revision) => void,
    batch: (objects: readonly StoredObject[]) => void,
    which?: ResourceSet,
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
      which,
    );
    await decoding.drained();
  }

  async listAt(query: HistoricalList): Promise<HistoricalPage> {
    const page = await this.#reader.listAt(query);
    return { ...page, objects: await decodeAll(page.objects, (one) => this.#codec.decode(one)) };
  }

  async changesBetween(query: ChangeQuery): Promise<ChangeWithPrevious[]> {
    const changes = await this.#reader.changesBetween(query);
    return decodeAll(changes, (one) => this.#codec.decodeBoth(one));
  }
}

/** DecodingQueue decodes batches in order and hands them on. */
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
      const decoded = await decodeAll(objects, this.#decode);
      if (!this.#isOver) this.#batch(decoded);
    });
    // Prevents an unhandled rejection; drained() still throws.
    this.#tail.catch(() => {});
  }

  /** Drops the batches that are left. */
  end(): void {
    this.#isOver = true;
  }

  /** @throws what `batch` throws */
  drained(): Promise<void> {
    return this.#tail;
  }
}
