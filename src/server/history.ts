import { methodNotAllowed } from '../api/status.ts';
import { BlameStore } from '../history/blame/blame-store.ts';
import type { LargeWork } from '../history/large-work.ts';
import type { HistoryParts } from '../history/parts.ts';
import { ReadLimits } from '../history/read-limits.ts';
import { RevisionStore } from '../history/revisions/revision-store.ts';
import { SharedRows } from '../history/revisions/shared-rows.ts';
import { TimelineStore } from '../history/timelines/timeline-store.ts';
import { ExplanationStore } from '../history/why/explanation-store.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { History } from '../storage/history.ts';
import type { Store } from '../storage/store.ts';
import type { VirtualStores } from '../verbs/verb-call.ts';

type MakeStore = (request: AuthorizedResourceRequest, subresource: string) => Store;
type Getter = new (parts: HistoryParts, request: AuthorizedResourceRequest) => Pick<Store, 'get'>;

const refuse = async (): Promise<never> => {
  throw methodNotAllowed();
};

/** Creates the virtual stores of history.cluster.io. One thread has them once: they share the new rows. */
export function createHistoryStores(parts: HistoryParts, large: LargeWork): VirtualStores {
  const limits = new ReadLimits(large);
  const sharedOf = shareRows();
  /** Resources that can only be read by name. */
  const byName =
    (Made: Getter): MakeStore =>
    (request) => ({
      get: (...asked) => limits.run(parts, request, (counted) => new Made(counted, request).get(...asked)),
      list: refuse,
      watch: refuse,
      commit: refuse,
    });
  const why = byName(ExplanationStore);
  const revisions: MakeStore = (request) => {
    const revisionStore = (of: HistoryParts) => new RevisionStore(of, request, sharedOf);
    const watched = revisionStore(parts);
    return {
      get: (...asked) => limits.run(parts, request, (counted) => revisionStore(counted).get(...asked)),
      list: (...asked) => limits.run(parts, request, (counted) => revisionStore(counted).list(...asked)),
      watch: (...asked) => watched.watch(...asked),
      commit: refuse,
    };
  };
  return new Map<string, MakeStore>([
    [
      'history.cluster.io/revisions',
      (request, subresource) => (subresource === 'why' ? why : revisions)(request, subresource),
    ],
    ['history.cluster.io/blames', byName(BlameStore)],
    ['history.cluster.io/timelines', byName(TimelineStore)],
  ]);
}

/** The new rows of each log, once for all watches of it. */
function shareRows(): (history: History) => SharedRows {
  const shared = new WeakMap<History, SharedRows>();
  return (history) => {
    const rows = shared.get(history) ?? new SharedRows(history);
    shared.set(history, rows);
    return rows;
  };
}
