import type { JsonValue } from '../api/object-meta.ts';
import type { Resources } from './found-resources.ts';
import type {
  Blame,
  Explanation,
  Restore,
  RestoreSpec,
  Revision,
  RevisionList,
  Timeline,
  TimelineEntry,
} from './history-types.ts';
import { isNoSuchPath, type Kubectl, ServerError } from './kubectl.ts';
import { readJson } from './read-json.ts';
import { CommandError } from './usage-error.ts';

const ROOT = '/apis/history.cluster.io/v1alpha1';
const PAGE = 500;

export interface RevisionsQuery {
  /** Required values by field: `object.name`, `user`, `verb` … */
  readonly fields?: Readonly<Record<string, string | undefined>>;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Most revisions; all by default. */
  readonly limit?: number | undefined;
}

interface RevisionsPage {
  readonly items: readonly Revision[];
  /** Where a watch can begin without missing changes. */
  readonly resourceVersion: string;
}

interface Oldest {
  readonly revision: string;
  readonly at: string | undefined;
}

type WatchEvent =
  | { readonly type: 'ADDED' | 'BOOKMARK'; readonly object: Revision }
  | { readonly type: 'ERROR'; readonly object: WatchFailure };

export interface WatchFailure {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
}

/** A resource that only servers with history have. */
const REVISIONS = 'revisions.history.cluster.io';

interface HistoryClientOptions {
  readonly kubectl: Kubectl;
  readonly server: string;
  readonly resources: Resources;
}

/** Reads and restores through the server's group history.cluster.io. */
export class HistoryClient {
  readonly #kubectl: Kubectl;
  readonly #server: string;
  readonly #resources: Resources;

  constructor({ kubectl, server, resources }: HistoryClientOptions) {
    this.#kubectl = kubectl;
    this.#server = server;
    this.#resources = resources;
  }

  /** Newest first. @throws CommandError */
  async *pages(query: RevisionsQuery): AsyncGenerator<RevisionsPage> {
    let left = query.limit ?? Number.POSITIVE_INFINITY;
    for (let token: string | undefined; left > 0; ) {
      const limit = Math.min(PAGE, left);
      const page = toQuery(query, { limit: String(limit), continue: token });
      const list = await this.#read<RevisionList>(`${ROOT}/revisions?${page}`);
      const items = list.items ?? [];
      yield { items, resourceVersion: list.metadata?.resourceVersion ?? '0' };
      left -= items.length;
      token = list.metadata?.continue;
      if (token === undefined || token === '') return;
    }
  }

  /** All pages together. @throws CommandError */
  async revisions(query: RevisionsQuery): Promise<readonly Revision[]> {
    const all: Revision[] = [];
    for await (const { items } of this.pages(query)) all.push(...items);
    return all;
  }

  /** The begin of history; undefined: history is complete. @throws CommandError */
  async oldest(): Promise<Oldest | undefined> {
    try {
      await this.#read(`${ROOT}/revisions?limit=1&since=1`);
    } catch (error) {
      if (!(error instanceof ServerError) || error.reason !== 'Expired') throw error;
      const [, revision, at] = /from revision (\d+)(?: \(([^)]+)\))?/.exec(error.message) ?? [];
      if (revision !== undefined) return { revision, at };
    }
    return undefined;
  }

  /** @throws CommandError */
  revision(number: string): Promise<Revision> {
    return this.#read(`${ROOT}/revisions/${number}`);
  }

  /** @throws CommandError */
  why(number: string): Promise<Explanation> {
    return this.#read(`${ROOT}/revisions/${number}/why`);
  }

  /** The timeline of an object and its dependents, or of a namespace (`namespace:shop`); oldest first. @throws CommandError */
  async timeline(
    reference: string,
    { since, until }: Pick<RevisionsQuery, 'since' | 'until'>,
  ): Promise<readonly TimelineEntry[]> {
    const entries: TimelineEntry[] = [];
    for (let token: string | undefined; token !== ''; ) {
      const query = toQuery({ since, until }, { limit: String(PAGE), continue: token });
      const page: Timeline = await this.#read(`${ROOT}/timelines/${encodeURIComponent(reference)}?${query}`);
      entries.push(...(page.entries ?? []));
      token = page.continue ?? '';
    }
    return entries;
  }

  /** @throws CommandError */
  blame(reference: string, asOf: string | undefined): Promise<Blame> {
    return this.#read(`${ROOT}/blames/${encodeURIComponent(reference)}${asOfQuery(asOf)}`);
  }

  /** @throws CommandError */
  async restore(spec: RestoreSpec, { isDryRun }: { readonly isDryRun: boolean }): Promise<Restore> {
    const body = {
      apiVersion: 'history.cluster.io/v1alpha1',
      kind: 'Restore',
      metadata: { generateName: 'restore-' },
      spec,
    };
    const path = `${ROOT}/restores${isDryRun ? '?dryRun=All' : ''}`;
    return readJson(await this.#kubectl.create(path, body).catch((error) => this.#refuse(error)));
  }

  /** The object or list at a path, now or in the past; undefined: none. @throws CommandError */
  async object(path: string, asOf: string | undefined): Promise<JsonValue | undefined> {
    // Another server would ignore asOf, and return the present state.
    if (asOf !== undefined && !(await this.#resources.has(REVISIONS))) throw noHistory(this.#server);
    try {
      return readJson(await this.#kubectl.get(`${path}${asOfQuery(asOf)}`));
    } catch (error) {
      if (error instanceof ServerError && error.reason === 'NotFound' && !isNoSuchPath(error))
        return undefined;
      throw error;
    }
  }

  async *watch(
    { fields }: RevisionsQuery,
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    const flags = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion };
    const query = toQuery({ ...(fields && { fields }) }, flags);
    for await (const line of this.#kubectl.lines(`${ROOT}/revisions?${query}`, signal)) yield readJson(line);
  }

  async #read<T>(path: string): Promise<T> {
    return readJson(await this.#kubectl.get(path).catch((error) => this.#refuse(error)));
  }

  /** @throws CommandError where the server lacks the path, or else the error */
  #refuse(error: unknown): never {
    throw isNoSuchPath(error) ? noHistory(this.#server) : error;
  }
}

const asOfQuery = (asOf: string | undefined): string =>
  asOf === undefined ? '' : `?asOf=${encodeURIComponent(asOf)}`;

function toQuery(
  { fields = {}, since, until }: RevisionsQuery,
  more: Record<string, string | undefined>,
): URLSearchParams {
  const selector = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => `${field}=${escapeSelector(value ?? '')}`)
    .join(',');
  const all = { ...(selector === '' ? {} : { fieldSelector: selector }), since, until, ...more };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(all)) if (value !== undefined) query.set(name, value);
  return query;
}

/** Escapes special characters of field selectors, as apimachinery's fields.EscapeValue does. */
const escapeSelector = (value: string): string => value.replaceAll(/[\\,=]/g, (sign) => `\\${sign}`);

const noHistory = (server: string): CommandError =>
  new CommandError(
    `${server} keeps no history: it is no pg-apiserver, or one from before the API group history.cluster.io`,
  );
