import type { HttpsGet } from './http-client.ts';

/** Creates the way to documents. `ca` in PEM form; undefined: the authorities that the host trusts. */
export type CreateGet = (ca: string | undefined) => HttpsGet;

/** A document by its address and the authority of its server. */
export interface NamedDocument {
  readonly ca: string | undefined;
  readonly url: string;
}

/** Threads that need a document for the same reason ask within this time. Their own pauses between fetches are longer. */
const KEPT_MS = 1000;

interface Fetched {
  readonly atMs: number;
  readonly text: Promise<string>;
}

/**
 * SharedDocuments fetches the key sets of identity providers once for all threads of a server: a token with an unknown key, which any
 * caller can send, costs the provider no more with many threads than with one.
 */
export class SharedDocuments {
  readonly #create: CreateGet;
  readonly #nowMs: () => number;
  readonly #gets = new Map<string, HttpsGet>();
  readonly #fetched = new Map<string, Fetched>();

  constructor(create: CreateGet, nowMs: () => number = () => performance.now()) {
    this.#create = create;
    this.#nowMs = nowMs;
  }

  /** What a caller may see only with an authorization is not shared. */
  readonly createGet: CreateGet = (ca) => (url, options) =>
    options?.authorization === undefined ? this.get({ ca, url }) : this.#getOf(ca)(url, options);

  /** A failed fetch is not kept. @throws Error */
  get({ ca, url }: NamedDocument): Promise<string> {
    const nowMs = this.#nowMs();
    for (const [key, { atMs }] of this.#fetched) if (nowMs - atMs >= KEPT_MS) this.#fetched.delete(key);
    const key = `${url} ${ca ?? ''}`;
    const known = this.#fetched.get(key);
    if (known !== undefined) return known.text;
    const fetched = { atMs: nowMs, text: this.#getOf(ca)(url) };
    this.#fetched.set(key, fetched);
    fetched.text.catch(() => {
      if (this.#fetched.get(key) === fetched) this.#fetched.delete(key);
    });
    return fetched.text;
  }

  #getOf(ca: string | undefined): HttpsGet {
    const known = this.#gets.get(ca ?? '');
    if (known !== undefined) return known;
    const get = this.#create(ca);
    this.#gets.set(ca ?? '', get);
    return get;
  }
}

/** As {@link SharedDocuments.createGet}, in a thread other than the one that has them. */
export const documentsElsewhere =
  (
    create: CreateGet,
    getThere: (asked: NamedDocument, signal: AbortSignal | undefined) => Promise<string>,
  ): CreateGet =>
  (ca) => {
    let own: HttpsGet | undefined;
    return (url, options) => {
      if (options?.authorization === undefined) return getThere({ ca, url }, options?.signal);
      own ??= create(ca);
      return own(url, options);
    };
  };
