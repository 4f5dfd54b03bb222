import type { SigningKeyStore, StoredSigningKey } from '../../storage/signing-keys.ts';

/** Half of the time between two looks of a thread: all have seen a key within three seconds. */
const KEPT_MS = 1000;

interface Listed {
  readonly atMs: number;
  readonly keys: Promise<readonly StoredSigningKey[]>;
}

/** SharedSigningKeys lists the keys for all serving threads: one query for those that look within this time. A failed one is not kept. */
export class SharedSigningKeys implements SigningKeyStore {
  readonly #store: SigningKeyStore;
  readonly #nowMs: () => number;
  #listed: Listed | undefined;

  constructor(store: SigningKeyStore, nowMs: () => number = () => performance.now()) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  list(): Promise<readonly StoredSigningKey[]> {
    const atMs = this.#nowMs();
    if (this.#listed !== undefined && atMs - this.#listed.atMs < KEPT_MS) return this.#listed.keys;
    const listed = { atMs, keys: this.#store.list() };
    this.#listed = listed;
    listed.keys.catch(() => {
      if (this.#listed === listed) this.#listed = undefined;
    });
    return listed.keys;
  }
}
