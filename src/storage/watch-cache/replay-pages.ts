import { getOrAdd } from '../../util/get-or-add.ts';
import type { Scope } from '../key.ts';
import type { Revision } from '../revision.ts';
import { type AppliedChange, isInScope } from './applied-change.ts';
import type { WatchedResource } from './watched-resource.ts';

/** Changes of one scope, oldest first. It has no others after the requested revision and up to `upTo`. */
export interface ReplayPage {
  readonly changes: readonly AppliedChange[];
  readonly upTo: Revision;
}

/** All changes of a resource in a scope from one revision to another; they are final. */
export class HistoryPage {
  readonly cache: WatchedResource;
  readonly scope: Scope;
  readonly after: Revision;
  readonly upTo: Revision;
  readonly sizeBytes: number;
  readonly #changes: readonly AppliedChange[];
  /** By namespace and name, for watchers of single objects. */
  #byName: Map<string, AppliedChange[]> | undefined;

  constructor(page: {
    cache: WatchedResource;
    scope: Scope;
    after: Revision;
    upTo: Revision;
    changes: readonly AppliedChange[];
  }) {
    this.cache = page.cache;
    this.scope = page.scope;
    this.after = page.after;
    this.upTo = page.upTo;
    this.#changes = page.changes;
    this.sizeBytes = page.changes.reduce((bytes, change) => bytes + change.sizeBytes, 0);
  }

  /** Whether it covers the scope after this revision, if only by having no changes. */
  serves(scope: Scope, after: Revision): boolean {
    return covers(this.scope, scope) && this.after <= after && after < this.upTo;
  }

  part(scope: Scope, after: Revision): ReplayPage {
    const { upTo } = this;
    const changes = this.#within(scope);
    return {
      changes: after === this.after ? changes : changes.filter(({ revision }) => revision > after),
      upTo,
    };
  }

  #within(scope: Scope): readonly AppliedChange[] {
    const { namespace, name } = scope;
    if (name === this.scope.name && namespace === this.scope.namespace) return this.#changes;
    if (name === undefined || namespace === undefined)
      return this.#changes.filter((change) => isInScope(change, scope));
    this.#byName ??= groupByName(this.#changes);
    return this.#byName.get(`${namespace}\0${name}`) ?? [];
  }
}

/** Whether `outer` contains all of `inner`. */
export const covers = (outer: Scope, inner: Scope): boolean =>
  (outer.namespace === undefined || outer.namespace === inner.namespace) &&
  (outer.name === undefined || outer.name === inner.name);

function groupByName(changes: readonly AppliedChange[]): Map<string, AppliedChange[]> {
  const groups = new Map<string, AppliedChange[]>();
  for (const change of changes) {
    const object = change.entry ?? change.previous;
    if (object === undefined) continue;
    const key = `${object.namespace}\0${object.name}`;
    getOrAdd(groups, key, () => []).push(change);
  }
  return groups;
}

/** For all resources together. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_PAGES = 128;

/** ReplayPages keeps the pages requested lately, within bounds. */
export class ReplayPages {
  /** In the order they were read. */
  #pages: HistoryPage[] = [];
  #sizeBytes = 0;
  readonly #used = new Set<HistoryPage>();

  add(page: HistoryPage): void {
    this.#pages.push(page);
    this.#used.add(page);
    this.#sizeBytes += page.sizeBytes;
    while (this.#sizeBytes > MAX_BYTES || this.#pages.length > MAX_PAGES) this.#drop();
  }

  find(cache: WatchedResource, scope: Scope, after: Revision): HistoryPage | undefined {
    const page = this.#pages.findLast((one) => one.cache === cache && one.serves(scope, after));
    if (page !== undefined) this.#used.add(page);
    return page;
  }

  /** Drops pages that were not requested since the last turn. */
  turn(): void {
    this.#pages = this.#pages.filter((page) => this.#used.has(page));
    this.#sizeBytes = this.#pages.reduce((bytes, page) => bytes + page.sizeBytes, 0);
    this.#used.clear();
  }

  #drop(): void {
    const [page] = this.#pages.splice(0, 1);
    if (page === undefined) return;
    this.#sizeBytes -= page.sizeBytes;
    this.#used.delete(page);
  }
}
