import { methodNotAllowed } from '../api/status.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { History } from '../storage/history.ts';
import type { Store } from '../storage/store.ts';
import type { ToldResources } from '../verbs/call.ts';
import { Blames } from './blames.ts';
import type { HistoryParts } from './parts.ts';
import { HistoryReads } from './reads.ts';
import { Revisions } from './revisions.ts';
import { SharedRows } from './shared-rows.ts';
import { Timelines } from './timelines.ts';

type Reads = Pick<Store, 'get' | 'list'>;
type Read = (parts: HistoryParts, request: AuthorizedResourceRequest) => Reads;
type Tell = (request: AuthorizedResourceRequest, subresource: string) => Store;

/** Resources that can only be read by name refuse other verbs. */
const REFUSED: Pick<Store, 'watch' | 'commit'> = {
  watch: async () => {
    throw methodNotAllowed();
  },
  commit: async () => {
    throw methodNotAllowed();
  },
};

/** Creates the readable resources of history.cluster.io. `why`: revisions/why, for one client. */
export function createHistory(parts: HistoryParts, why: Read): ToldResources {
  const shared = new WeakMap<History, SharedRows>();
  const sharedOf = (history: History): SharedRows => {
    const rows = shared.get(history) ?? new SharedRows(history);
    shared.set(history, rows);
    return rows;
  };
  const reads = new HistoryReads();
  const bounded = (request: AuthorizedResourceRequest, read: Read): Reads => ({
    get: (...asked) => reads.run(parts, request, (counted) => read(counted, request).get(...asked)),
    list: (...asked) => reads.run(parts, request, (counted) => read(counted, request).list(...asked)),
  });
  const byName =
    (read: Read): Tell =>
    (request) => ({ ...REFUSED, ...bounded(request, read) });
  const explained = byName(why);
  const revisions: Tell = (request) => {
    const watched = new Revisions(parts, request, sharedOf);
    return {
      ...bounded(request, (counted) => new Revisions(counted, request, sharedOf)),
      watch: (...asked) => watched.watch(...asked),
      commit: REFUSED.commit,
    };
  };
  return new Map<string, Tell>([
    [
      'history.cluster.io/revisions',
      (request, subresource) => (subresource === 'why' ? explained : revisions)(request, subresource),
    ],
    ['history.cluster.io/blames', byName((counted, request) => new Blames(counted, request))],
    ['history.cluster.io/timelines', byName((counted, request) => new Timelines(counted, request))],
  ]);
}
