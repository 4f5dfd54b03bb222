import { errorText } from '../util/error-text.ts';
import { aborted } from '../util/pause.ts';
import type { KnownDocuments, RemoteState } from './known-documents.ts';
import { keyOf, type RemoteVersion } from './managed-api-services.ts';
import type { Discovered } from './remote-discovery.ts';
import { readAggregated, readPlain } from './remote-discovery.ts';
import { type Fetched, type FetchParts, fetchRemote, type Wanted } from './remote-fetch.ts';
import { readDocument, readIndex } from './remote-openapi.ts';
import type { RemoteVersions } from './remote-versions.ts';
import { type Outcome, Repeated } from './repeated.ts';

interface RemoteDocumentsParts extends FetchParts {
  readonly remote: RemoteVersions;
  /** Takes what is read. */
  readonly known: KnownDocuments;
  readonly onError: (error: unknown) => void;
}

/** Kubernetes' interval. */
const PACE = { everyMs: 60_000, backoff: { firstMs: 500, longestMs: 60_000 } };
const MB = 1024 * 1024;
const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');

/** Limits of size and time. Documents of a whole kube-apiserver have half the size. */
const DISCOVERY = { bytes: 4 * MB, ms: 5000 };
const INDEX = { bytes: MB, ms: 5000 };
const DOCUMENT = { bytes: 8 * MB, ms: 30_000 };

/**
 * Reads other servers' discovery and OpenAPI documents. Each server is read in the background at its own pace; wrong or missing
 * answers of one affect only its own group versions.
 */
export class RemoteDocuments {
  readonly #parts: RemoteDocumentsParts;
  readonly #servers = new Map<string, Server>();
  readonly #begun = Promise.withResolvers<void>();

  constructor(parts: RemoteDocumentsParts) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = this.#parts.remote.onChange(() => this.#settle());
    this.#settle();
    this.#begun.resolve();
    await aborted(signal);
    stop();
    for (const { repeated } of this.#servers.values()) repeated.end();
    this.#servers.clear();
  }

  /** Resolves when each server was tried once, whether it answered or not. */
  async asked(): Promise<void> {
    await this.#begun.promise;
    await Promise.all([...this.#servers.values()].map(({ asked }) => asked));
  }

  #settle(): void {
    const versions = Map.groupBy(this.#parts.remote.all(), ({ server }) => server);
    for (const [key, { repeated }] of this.#servers) {
      if (versions.has(key)) continue;
      repeated.end();
      this.#servers.delete(key);
    }
    for (const [key, own] of versions) {
      const known = this.#servers.get(key);
      if (known === undefined) this.#begin(key, own);
      else known.take(own);
    }
    this.#tell();
  }

  #begin(key: string, versions: readonly RemoteVersion[]): void {
    const server = new Server(this.#parts, versions, () => this.#tell());
    this.#servers.set(key, server);
    server.repeated.begin();
  }

  #tell(): void {
    this.#parts.known.take(new Map([...this.#servers].map(([key, { state }]) => [key, state])));
  }
}

class Server {
  state: RemoteState = { discovered: new Map(), isFresh: false, urls: new Map(), document: undefined };
  readonly repeated: Repeated;
  readonly #asked = Promise.withResolvers<void>();
  readonly #parts: RemoteDocumentsParts;
  readonly #tell: () => void;
  /** By path. */
  readonly #etags = new Map<string, string>();
  #versions: readonly RemoteVersion[];

  constructor(parts: RemoteDocumentsParts, versions: readonly RemoteVersion[], tell: () => void) {
    this.#parts = parts;
    this.#tell = tell;
    this.#versions = versions;
    this.repeated = new Repeated((signal) => this.#ask(signal), PACE);
  }

  /** Resolves when its resources were requested once, or need not be. */
  get asked(): Promise<void> {
    return this.#asked.promise;
  }

  take(versions: readonly RemoteVersion[]): void {
    const before = describe(this.#versions);
    this.#versions = versions;
    if (describe(versions) === before) return;
    // The documents were filtered for other group versions.
    this.#etags.clear();
    this.repeated.hurry();
  }

  async #ask(signal: AbortSignal): Promise<Outcome> {
    const versions = this.#versions.filter(({ isAvailable }) => isAvailable);
    const [one] = versions;
    // It is read when it becomes available.
    if (one === undefined) {
      this.#asked.resolve();
      return 'well';
    }
    const asked = await Promise.all([
      this.#try(() => this.#askResources(versions, signal), signal),
      this.#try(() => this.#askIndex(one, versions, signal), signal),
      this.#try(() => this.#askDocument(one, versions, signal), signal),
    ]);
    return asked.every(Boolean) ? 'well' : 'failed';
  }

  /** False: it failed, which is reported. Never rejects. */
  async #try(ask: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
    try {
      await ask();
      return true;
    } catch (error) {
      if (signal.aborted) return true;
      this.#parts.onError(error);
      return false;
    } finally {
      if (!signal.aborted) this.#tell();
    }
  }

  async #askResources(versions: readonly RemoteVersion[], signal: AbortSignal): Promise<void> {
    try {
      this.#change({ discovered: await this.#discover(versions, signal), isFresh: true });
    } catch (error) {
      this.#change({ isFresh: false });
      throw error;
    } finally {
      this.#asked.resolve();
    }
  }

  async #discover(versions: readonly RemoteVersion[], signal: AbortSignal): Promise<Discovered> {
    const [one] = versions;
    if (one === undefined) return new Map();
    const wanted = { path: '/apis', accept: `${AGGREGATED},application/json`, limits: DISCOVERY };
    const answer = await this.#fetch(one, wanted, signal);
    if (answer.code === 304) return this.state.discovered;
    if (answer.code === 503) throw new Error(`${this.#name(one)}: ${wanted.path} was answered with 503`);
    if (answer.code === 200 && answer.contentType.includes('as=APIGroupDiscoveryList')) {
      const discovered = this.#read(one, wanted.path, () => readAggregated(answer.text));
      this.#etags.set(wanted.path, answer.etag);
      return discovered;
    }
    return this.#discoverEach(versions, signal);
  }

  /** Servers before Kubernetes 1.26 list their group versions one by one. */
  async #discoverEach(versions: readonly RemoteVersion[], signal: AbortSignal): Promise<Discovered> {
    const discovered = versions.map(async (one) => {
      const { group, version } = one;
      const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      const answer = await this.#fetch(one, { path, accept: 'application/json', limits: DISCOVERY }, signal);
      if (answer.code !== 200)
        throw new Error(`${this.#name(one)}: ${path} was answered with ${answer.code}`);
      const read = this.#read(one, path, () => readPlain(answer.text, group, version));
      return [keyOf(group, version), read] as const;
    });
    return new Map(await Promise.all(discovered));
  }

  async #askIndex(
    one: RemoteVersion,
    versions: readonly RemoteVersion[],
    signal: AbortSignal,
  ): Promise<void> {
    const wanted = { path: '/openapi/v3', accept: 'application/json', limits: INDEX };
    const answer = await this.#fetch(one, wanted, signal);
    if (answer.code !== 200) return;
    this.#change({ urls: this.#read(one, wanted.path, () => readIndex(answer.text, versions)) });
    this.#etags.set(wanted.path, answer.etag);
  }

  async #askDocument(
    one: RemoteVersion,
    versions: readonly RemoteVersion[],
    signal: AbortSignal,
  ): Promise<void> {
    const wanted = { path: '/openapi/v2', accept: 'application/json', limits: DOCUMENT };
    const answer = await this.#fetch(one, wanted, signal);
    if (answer.code !== 200) return;
    this.#change({ document: this.#read(one, wanted.path, () => readDocument(answer.text, versions)) });
    this.#etags.set(wanted.path, answer.etag);
  }

  #change(change: Partial<RemoteState>): void {
    this.state = { ...this.state, ...change };
  }

  #fetch(one: RemoteVersion, wanted: Omit<Wanted, 'etag'>, signal: AbortSignal): Promise<Fetched> {
    const etag = this.#etags.get(wanted.path) ?? '';
    return fetchRemote(this.#parts, one, { ...wanted, etag, signal });
  }

  /** @throws Error that names the server and the document */
  #read<Read>(one: RemoteVersion, path: string, read: () => Read): Read {
    try {
      return read();
    } catch (error) {
      const why = errorText(error);
      throw new Error(`${this.#name(one)}: ${path}: ${why}`, { cause: error });
    }
  }

  #name({ service }: RemoteVersion): string {
    return `${service.namespace}/${service.name}`;
  }
}

const describe = (versions: readonly RemoteVersion[]): string =>
  JSON.stringify(versions.map(({ group, version, isAvailable }) => [group, version, isAvailable]));
