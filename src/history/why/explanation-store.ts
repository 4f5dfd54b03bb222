import type { GroupResource } from '../../api/names.ts';
import type { Explanation, ExplanationLink } from '../../api/types/history/v1alpha1.ts';
import type { AuthorizedResourceRequest } from '../../request/api-request.ts';
import type { History, LoggedRevision } from '../../storage/history.ts';
import type { ObjectKey } from '../../storage/key.ts';
import type { Revision } from '../../storage/revision.ts';
import { storedBytesOf } from '../../storage/revision-log.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { refuseAsOf } from '../../verbs/as-of.ts';
import { HISTORY_API, type HistoryParts, REVISIONS } from '../parts.ts';
import { assertMayRead, ReadRights } from '../read-rights.ts';
import { findByNumber } from '../revision-by-number.ts';
import { readConditions } from '../revision-query.ts';
import { RowPresenter } from '../row-presenter.ts';
import { toSeconds, toVirtualEntry } from '../virtual-entry.ts';
import { type Explained, explain, type Link } from './explain.ts';
import { findIn } from './find-kind.ts';
import { LoggedPast, LoggedWrite, rowOf } from './logged-past.ts';
import { siblingsOf } from './siblings.ts';

/** States whose changes are shown, beside the first: an answer is written in one go, and a chain may lead through large objects. */
const MAX_CHANGED_BYTES = 3 * 1024 * 1024;

/** Answers why revisions were made, for one client. */
export class ExplanationStore implements Pick<Store, 'get'> {
  readonly #parts: HistoryParts;
  readonly #request: AuthorizedResourceRequest;
  readonly #presenter: RowPresenter;
  readonly #rights: ReadRights;

  constructor(parts: HistoryParts, request: AuthorizedResourceRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#presenter = new RowPresenter(parts);
    this.#rights = new ReadRights(request, parts);
  }

  /** @throws StatusError 400 for asOf: an explanation has one time */
  async get({ name }: ObjectKey): Promise<Entry | undefined> {
    refuseAsOf(this.#request.query);
    const { historyOf, registry } = this.#parts;
    const { resource } = readConditions(this.#request.query, registry);
    const row = await findByNumber(name, resource, this.#parts);
    if (row === undefined) return undefined;
    const history = historyOf(resource ?? REVISIONS);
    await assertMayRead(row, this.#rights, this.#request);
    const begin = await history.begin();
    const { signal } = this.#request;
    const find = findIn(registry);
    const isElsewhere = (of: GroupResource): boolean => historyOf(of) !== history;
    const write = new LoggedWrite(row);
    await write.parse();
    const explained = await explain(write, {
      past: () => new LoggedPast({ history, begin, find, isElsewhere, signal }),
      mayRead: (cause) => this.#rights.mayRead(cause),
    });
    const explanation = await this.#explain(row, explained);
    const siblings = await this.#siblings(explained, history, begin.revision);
    return toVirtualEntry({ ...explanation, ...(siblings.length === 0 ? {} : { siblings }) }, row.revision);
  }

  async #explain(row: LoggedRevision, { links, unknown }: Explained): Promise<Explanation> {
    const shown: ExplanationLink[] = [];
    let sizeBytes = 0;
    for (const link of links) {
      sizeBytes += storedBytesOf(rowOf(link.write));
      shown.push(
        await this.#toLink(link, { withChanges: shown.length === 0 || sizeBytes <= MAX_CHANGED_BYTES }),
      );
    }
    return {
      kind: 'Explanation',
      apiVersion: HISTORY_API,
      metadata: { name: String(row.revision), creationTimestamp: toSeconds(row.at) },
      revision: String(row.revision),
      links: shown,
      root: String(links.at(-1)?.write.revision ?? row.revision),
      ...(unknown === undefined ? {} : { unknown }),
    };
  }

  async #toLink(
    { write, evidence, confidence }: Link,
    { withChanges }: { readonly withChanges: boolean },
  ): Promise<ExplanationLink> {
    const row = rowOf(write);
    const left = { object: this.#presenter.objectOf(row), changes: [], isTruncated: true };
    const { object, changes, isTruncated } = withChanges
      ? await this.#presenter.present(row, this.#rights)
      : left;
    return {
      ...whoAndWhen(row),
      object,
      ...(changes.length === 0 ? {} : { changes: [...changes] }),
      ...(isTruncated ? { changesTruncated: true } : {}),
      ...(evidence.length === 0 ? {} : { evidence: [...evidence] }),
      ...(confidence === undefined ? {} : { confidence }),
    };
  }

  /** Finds what else the first act of the chain has caused, where that act is known. */
  async #siblings(
    { links, unknown }: Explained,
    history: History,
    begin: Revision,
  ): Promise<ExplanationLink[]> {
    const root = links.at(-1)?.write;
    if (root === undefined || unknown !== undefined) return [];
    const siblings: ExplanationLink[] = [];
    for (const { row, evidence, confidence } of await siblingsOf(root, { history, begin })) {
      if (!(await this.#rights.mayRead(row))) continue;
      const object = this.#presenter.objectOf(row);
      siblings.push({ ...whoAndWhen(row), object, evidence: [evidence], confidence });
    }
    return siblings;
  }
}

function whoAndWhen({ revision, at, verb, attribution }: LoggedRevision) {
  const { username: user, fieldManager: manager } = attribution;
  return { revision: String(revision), at, user, ...(manager === '' ? {} : { manager }), verb };
}
