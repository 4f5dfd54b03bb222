import type { EgressName } from './egress/egress-config.ts';
import type { HttpsGet } from './http-client.ts';

/** How to reach the server of documents, and how to know it. */
interface DocumentServer {
  /** PEM; undefined: the authorities that the host trusts. */
  readonly ca: string | undefined;
  /** Undefined: directly. */
  readonly egress?: EgressName | undefined;
}

/** Creates the way to documents. @throws Error for a way that is not configured */
export type CreateGet = (server: DocumentServer) => HttpsGet;

/** A document by its address and its server. */
export interface NamedDocument extends DocumentServer {
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
  readonly createGet: CreateGet = (server) => {
    const own = this.#getOf(server);
    return (url, options) =>
      options?.authorization === undefined ? this.get({ ...server, url }) : own(url, options);
  };

  /** A failed fetch is not kept. @throws Error */
  get({ url, ...server }: NamedDocument): Promise<string> {
    const nowMs = this.#nowMs();
    for (const [key, { atMs }] of this.#fetched) if (nowMs - atMs >= KEPT_MS) this.#fetched.delete(key);
    const key = `${url} ${keyOf(server)}`;
    const known = this.#fetched.get(key);
    if (known !== undefined) return known.text;
    const fetched = { atMs: nowMs, text: this.#getOf(server)(url) };
    this.#fetched.set(key, fetched);
    fetched.text.catch(() => {
      if (this.#fetched.get(key) === fetched) this.#fetched.delete(key);
    });
    return fetched.text;
  }

  #getOf(server: DocumentServer): HttpsGet {
    const key = keyOf(server);
    const known = this.#gets.get(key);
    if (known !== undefined) return known;
    const get = this.#create(server);
    this.#gets.set(key, get);
    return get;
  }
}

const keyOf = ({ ca, egress }: DocumentServer): string => `${egress ?? ''} ${ca ?? ''}`;

/** As {@link SharedDocuments.createGet}, in a thread other than the one that has them. */
export const documentsElsewhere =
  (
    create: CreateGet,
    getThere: (asked: NamedDocument, signal: AbortSignal | undefined) => Promise<string>,
  ): CreateGet =>
  (server) => {
    const own = create(server);
    return (url, options) =>
      options?.authorization === undefined
        ? getThere({ ...server, url }, options?.signal)
        : own(url, options);
  };
