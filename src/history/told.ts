import { methodNotAllowed } from '../api/status.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { Store } from '../storage/store.ts';
import type { ToldResources } from '../verbs/call.ts';
import { Blames } from './blames.ts';
import type { HistoryParts } from './parts.ts';
import { Revisions } from './revisions.ts';
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
  return new Map<string, Tell>([
    [
      'history.cluster.io/revisions',
      (request, subresource) =>
        subresource === 'why' ? byName(why(request)) : new Revisions(parts, request),
    ],
    ['history.cluster.io/blames', (request) => byName(new Blames(parts, request))],
    ['history.cluster.io/timelines', (request) => byName(new Timelines(parts, request))],
  ]);
}
