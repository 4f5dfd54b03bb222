import type { Minor } from '../api/emulation.ts';
import { NAMESPACES } from '../api/known-resources.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { methodNotAllowed, notFound, unknownError } from '../api/status.ts';
import { toStoredJson } from '../codec/stored-object.ts';
import type { Health } from '../outbound/health-probe.ts';
import { CachedEntry } from '../storage/cached-entry.ts';
import { NO_REVISION, type Revision } from '../storage/revision.ts';
import type { Entry, ListPage, ListQuery, Store } from '../storage/store.ts';
import { errorText } from '../util/error-text.ts';

type AskHealth = (url: URL, timeoutMs: number) => Promise<Health>;

/** Kubernetes' bound. */
const TIMEOUT_MS = 20_000;

/** Their default ports, and the only ones that Kubernetes asks, too (registry/core/rest). */
const PORTS: ReadonlyMap<string, number> = new Map([
  ['controller-manager', 10257],
  ['scheduler', 10259],
]);
const STORAGE = 'etcd-0';
const NAMES = [...PORTS.keys(), STORAGE].sort();

/** Component statuses are not stored: each request asks the components anew. */
export class ComponentStatuses implements Store {
  readonly #store: Pick<Store, 'list'>;
  readonly #ask: AskHealth;
  readonly #minor: Minor;

  constructor(store: Pick<Store, 'list'>, ask: AskHealth, minor: Minor) {
    this.#store = store;
    this.#ask = ask;
    this.#minor = minor;
  }

  /** @throws StatusError for an unknown component, in Kubernetes' words */
  async get({ name }: { readonly name: string }): Promise<Entry> {
    if (!NAMES.includes(name)) {
      if (this.#minor < 33) throw unknownError(`Component not found: ${name}`);
      throw notFound({ group: '', resource: 'componentstatus' }, name);
    }
    const { revision, ...storage } = await this.#askStorage();
    return this.#entryOf(name, storage, revision);
  }

  async list({ scope, matches = () => true }: Pick<ListQuery, 'scope' | 'matches'>): Promise<ListPage> {
    const { revision, ...storage } = await this.#askStorage();
    const names = NAMES.filter((name) => scope.name === undefined || scope.name === name);
    const entries = await Promise.all(names.map((name) => this.#entryOf(name, storage, revision)));
    return { revision, entries: entries.filter((entry) => matches(entry)) };
  }

  async watch(): Promise<never> {
    throw methodNotAllowed();
  }

  async commit(): Promise<never> {
    throw methodNotAllowed();
  }

  /** A read of the newest state succeeds only while the database answers. */
  async #askStorage(): Promise<Health & { readonly revision: Revision }> {
    try {
      const { revision } = await this.#store.list({
        ...{ resource: NAMESPACES, scope: { name: 'default' }, limit: 1 },
        freshness: { kind: 'latest' },
      });
      return { isHealthy: true, message: 'ok', revision };
    } catch (error) {
      return { isHealthy: false, message: errorText(error), revision: NO_REVISION };
    }
  }

  async #entryOf(name: string, storage: Health, revision: Revision): Promise<Entry> {
    const port = PORTS.get(name);
    const health =
      port === undefined
        ? storage
        : await this.#ask(new URL(`https://127.0.0.1:${port}/healthz`), TIMEOUT_MS);
    const status: ApiObject = {
      ...{ kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name } },
      conditions: [{ type: 'Healthy', status: health.isHealthy ? 'True' : 'False', message: health.message }],
    };
    const key = { group: '', resource: 'componentstatuses', namespace: '', name };
    return new CachedEntry({ key, revision, uid: '', json: toStoredJson(status) }, () => ({}));
  }
}
