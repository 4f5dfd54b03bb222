import type { Scope } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { ChangeWithPrevious, RevisionReader } from '../revision-log.ts';
import { AppliedChange } from './applied-change.ts';
import type { ResourceCache } from './resource-cache.ts';

/** Changes read from SQL at a time. */
const PAGE = 500;

/** Changes of one resource, oldest first. `upTo`: there are no others in the scope after the asked revision and up to this one. */
export interface ReplayPage {
  readonly changes: readonly AppliedChange[];
  readonly upTo: Revision;
}

/** What the memory of a resource has forgotten, for watchers that come from before it. */
export class Replay {
  readonly #reader: RevisionReader;

  constructor(reader: RevisionReader) {
    this.#reader = reader;
  }

  /**
   * The first changes after a revision that is below the floor of the cache's memory.
   * @throws StorageError compacted
   */
  async next(cache: ResourceCache, scope: Scope, after: Revision): Promise<ReplayPage> {
    const { resource } = cache;
    const upTo = cache.recent.floor;
    const read = await this.#reader.changesBetween({ resource, scope, after, upTo, limit: PAGE });
    const changes = read.map((change) => toApplied(change, cache));
    const last = read.at(-1)?.revision;
    return { changes, upTo: read.length < PAGE || last === undefined ? upTo : last };
  }
}

function toApplied(change: ChangeWithPrevious, cache: ResourceCache): AppliedChange {
  const { revision, previousJson } = change;
  const entry = cache.toEntry(change);
  if (change.verb === 'delete')
    return new AppliedChange({ revision, entry: undefined, previous: entry }, undefined);
  const previous =
    previousJson === undefined
      ? undefined
      : cache.toEntry({ ...change, json: previousJson, revision: change.previous ?? revision });
  return new AppliedChange({ revision, entry, previous }, undefined);
}
