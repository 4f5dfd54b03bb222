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

/** Reads and restores through the server's group history.cluster.io. */

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

export interface HistoryClient {
  /** Newest first. @throws CommandError */
  pages(query: RevisionsQuery): AsyncGenerator<RevisionsPage>;
  /** All pages together. @throws CommandError */
  revisions(query: RevisionsQuery): Promise<readonly Revision[]>;
  /** The begin of history; undefined: history is complete. @throws CommandError */
  oldest(): Promise<Oldest | undefined>;
  /** @throws CommandError */
  revision(number: string): Promise<Revision>;
  /** @throws CommandError */
  why(number: string): Promise<Explanation>;
  /** The timeline of an object and its dependents, or of a namespace (`namespace:shop`); oldest first. @throws CommandError */
  timeline(
    reference: string,
    query: Pick<RevisionsQuery, 'since' | 'until'>,
  ): Promise<readonly TimelineEntry[]>;
  /** @throws CommandError */
  blame(reference: string, asOf: string | undefined): Promise<Blame>;
  /** @throws CommandError */
  restore(spec: RestoreSpec, isDryRun: boolean): Promise<Restore>;
  /** The object or list at a path, now or in the past; undefined: none. @throws CommandError */
  object(path: string, asOf: string | undefined): Promise<JsonValue | undefined>;
  watch(query: RevisionsQuery, resourceVersion: string, signal: AbortSignal): AsyncGenerator<WatchEvent>;
}

/** A resource that only servers with history have. */
const REVISIONS = 'revisions.history.cluster.io';

interface HistoryClientOptions {
  readonly kubectl: Kubectl;
  readonly server: string;
  readonly resources: Resources;
}

export function createHistoryClient({ kubectl, server, resources }: HistoryClientOptions): HistoryClient {
  const read = async <T>(path: string): Promise<T> => {
    try {
      return readJson(await kubectl.get(path));
    } catch (error) {
      throw isNoSuchPath(error) ? noHistory(server) : error;
    }
  };
  const client: HistoryClient = {
    async *pages(query) {
      let left = query.limit ?? Number.POSITIVE_INFINITY;
      for (let token: string | undefined; left > 0; ) {
        const limit = Math.min(PAGE, left);
        const list = await read<RevisionList>(
          `${ROOT}/revisions?${toQuery(query, { limit: String(limit), continue: token })}`,
        );
        const items = list.items ?? [];
        yield { items, resourceVersion: list.metadata?.resourceVersion ?? '0' };
        left -= items.length;
        token = list.metadata?.continue;
        if (token === undefined || token === '') return;
      }
    },
    async revisions(query) {
      const all: Revision[] = [];
      for await (const { items } of client.pages(query)) all.push(...items);
      return all;
    },
    async oldest() {
      try {
        await read(`${ROOT}/revisions?limit=1&since=1`);
      } catch (error) {
        if (!(error instanceof ServerError) || error.reason !== 'Expired') throw error;
        const [, revision, at] = /from revision (\d+)(?: \(([^)]+)\))?/.exec(error.message) ?? [];
        if (revision !== undefined) return { revision, at };
      }
      return undefined;
    },
    revision: (number) => read(`${ROOT}/revisions/${number}`),
    why: (number) => read(`${ROOT}/revisions/${number}/why`),
    async timeline(reference, { since, until }) {
      const entries: TimelineEntry[] = [];
      for (let token: string | undefined; token !== ''; ) {
        const query = toQuery({ since, until }, { limit: String(PAGE), continue: token });
        const page: Timeline = await read(`${ROOT}/timelines/${encodeURIComponent(reference)}?${query}`);
        entries.push(...(page.entries ?? []));
        token = page.continue ?? '';
      }
      return entries;
    },
    blame: (reference, asOf) => read(`${ROOT}/blames/${encodeURIComponent(reference)}${asOfQuery(asOf)}`),
    async restore(spec, isDryRun) {
      const body = {
        apiVersion: 'history.cluster.io/v1alpha1',
        kind: 'Restore',
        metadata: { generateName: 'restore-' },
        spec,
      };
      try {
        return readJson(await kubectl.create(`${ROOT}/restores${isDryRun ? '?dryRun=All' : ''}`, body));
      } catch (error) {
        throw isNoSuchPath(error) ? noHistory(server) : error;
      }
    },
    async object(path, asOf) {
      // Another server would ignore asOf, and return the present state.
      if (asOf !== undefined && !(await resources.has(REVISIONS))) throw noHistory(server);
      try {
        return readJson(await kubectl.get(`${path}${asOfQuery(asOf)}`));
      } catch (error) {
        if (error instanceof ServerError && error.reason === 'NotFound' && !isNoSuchPath(error))
          return undefined;
        throw error;
      }
    },
    async *watch(query, resourceVersion, signal) {
      const flags = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion };
      const { fields } = query;
      for await (const line of kubectl.lines(
        `${ROOT}/revisions?${toQuery({ ...(fields && { fields }) }, flags)}`,
        signal,
      )) {
        yield readJson(line);
      }
    },
  };
  return client;
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
