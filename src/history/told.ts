import { methodNotAllowed } from '../api/status.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { History } from '../storage/history.ts';
import type { Store } from '../storage/store.ts';
import type { ToldResources } from '../verbs/call.ts';
import { Blames } from './blames.ts';
import type { HistoryParts } from './parts.ts';
import { Revisions } from './revisions.ts';
import { SharedRows } from './shared-rows.ts';
import { Timelines } from './timelines.ts';

type Explain = (request: AuthorizedResourceRequest) => Pick<Store, 'get' | 'list'>;
type Tell = (request: AuthorizedResourceRequest, subresource: string) => Store;

/** Nothing else is asked of what can only be read by its name. */
const REFUSED: Pick<Store, 'watch' | 'commit'> = {
  watch: async () => {
    throw methodNotAllowed();
  },
  commit: async () => {
    throw methodNotAllowed();
  },
};

const byName = (store: Pick<Store, 'get' | 'list'>): Store => ({
  ...REFUSED,
  get: (...asked) => store.get(...asked),
  list: (...asked) => store.list(...asked),
});

/** The resources of history.cluster.io that are read. `why`: revisions/why, for one client. */
export function createHistory(parts: HistoryParts, why: Explain): ToldResources {
  const shared = new WeakMap<History, SharedRows>();
  const sharedOf = (history: History): SharedRows => {
    const rows = shared.get(history) ?? new SharedRows(history);
    shared.set(history, rows);
    return rows;
  };
  return new Map<string, Tell>([
    [
      'history.cluster.io/revisions',
      (request, subresource) =>
        subresource === 'why' ? byName(why(request)) : new Revisions(parts, request, sharedOf),
    ],
    ['history.cluster.io/blames', (request) => byName(new Blames(parts, request))],
    ['history.cluster.io/timelines', (request) => byName(new Timelines(parts, request))],
  ]);
}
