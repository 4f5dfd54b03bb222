import { runTogether } from '../util/concurrency.ts';
import { aborted } from '../util/pause.ts';
import { Pace } from '../util/turns.ts';
import { NO_REVISION, type Revision } from './revision.ts';
import type { Change, ChangeFeed, ChangeSink } from './revision-log.ts';
import { decodeAll, type StoredCodec } from './stored-codec.ts';

/**
 * DecodedFeed decodes the changes of a feed. Changes that decode at once are applied at once; when one must wait for a key, it and
 * all later ones are applied in order once the key is there.
 */
export class DecodedFeed implements ChangeFeed {
  readonly #feed: ChangeFeed;
  readonly #codec: StoredCodec;
  #sink: DecodingSink | undefined;

  constructor(feed: ChangeFeed, codec: StoredCodec) {
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

  hurry(): void {
    this.#feed.hurry();
  }

  /** Loads the state anew, with the objects that have become readable. @throws what the sink throws */
  async renew(): Promise<void> {
    await this.#sink?.renew();
  }
}

class DecodingSink implements ChangeSink {
  readonly #sink: ChangeSink;
  readonly #codec: StoredCodec;
  readonly #broken = Promise.withResolvers<never>();
  #waiting: (readonly Change[])[] = [];
  #isDraining = false;
  #loading: Promise<unknown> = Promise.resolve();
  /** Rises when the sink leaves a history, so that decodings under way are dropped. */
  #epoch = 0;
  /** The loaded state includes the changes up to here; they are not applied again. */
  #floor: Revision = NO_REVISION;

  constructor(sink: ChangeSink, codec: StoredCodec) {
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

  /** Runs loads one after the other: of two at once, the older might end last. */
  #load(reason: 'compacted' | 'rewound'): Promise<Revision> {
    const load = this.#loading.then(() => this.#sink.reset(reason));
    this.#loading = load.catch(() => {});
    return load;
  }

  untilBroken(signal: AbortSignal): Promise<void> {
    return Promise.race([aborted(signal), this.#broken.promise]);
  }

  end(): void {
    this.#forget();
  }

  #forget(): void {
    this.#epoch += 1;
    this.#waiting = [];
    this.#isDraining = false;
  }

  /** Undefined: decoding must wait, or takes too long. */
  #decodeNow(changes: readonly Change[]): readonly Change[] | undefined {
    const pace = new Pace({ stepsBetween: 1 });
    const decoded: Change[] = [];
    for (const change of changes) {
      const one = this.#codec.decode(change);
      if (one instanceof Promise || (decoded.length > 0 && pace.isOver())) return undefined;
      decoded.push(one);
    }
    return decoded;
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    const epoch = this.#epoch;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        const decoded = await decodeAll(next, (one) => this.#codec.decode(one));
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
