import type { GroupResource } from '../../api/names.ts';
import { methodNotAllowed } from '../../api/status.ts';
import type { Explanation, ExplanationLink } from '../../api/types/history/v1alpha1.ts';
import type { AuthorizedResourceRequest } from '../../request/api-request.ts';
import type { History, LoggedRevision } from '../../storage/history.ts';
import type { ObjectKey } from '../../storage/key.ts';
import type { Revision } from '../../storage/revision.ts';
import { storedBytesOf } from '../../storage/revision-log.ts';
import type { Entry, ListPage, Store } from '../../storage/store.ts';
import { refuseAsOf } from '../../verbs/as-of.ts';
import { findNumbered } from '../numbered.ts';
import { HISTORY_API, type HistoryParts, REVISIONS } from '../parts.ts';
import { RowTeller } from '../recorded-rows.ts';
import { readConditions } from '../revision-query.ts';
import { toSeconds } from '../revisions.ts';
import { assertMayRead, Rights } from '../rights.ts';
import { toEntry } from '../told-entry.ts';
import { type Explained, explain, type Link } from './explain.ts';
import { findIn } from './kinds.ts';
import { LoggedPast, LoggedWrite, rowOf } from './logged-past.ts';
import { siblingsOf } from './siblings.ts';

/** States whose changes are shown, beside the first: an answer is written in one go, and a chain may lead through large objects. */
const MAX_CHANGED_BYTES = 3 * 1024 * 1024;

/** Explanations says to one client why revisions were made. */
export class Explanations implements Pick<Store, 'get' | 'list'> {
  readonly #parts: HistoryParts;
  readonly #request: AuthorizedResourceRequest;
  readonly #teller: RowTeller;
  readonly #rights: Rights;

  constructor(parts: HistoryParts, request: AuthorizedResourceRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#teller = new RowTeller(parts);
    this.#rights = new Rights(request, parts);
  }

  async get({ name }: ObjectKey): Promise<Entry | undefined> {
    const { historyOf, registry } = this.#parts;
    const { resource } = readConditions(this.#request.query, registry);
    const row = await findNumbered(name, resource, this.#parts);
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
    const told = await this.#tell(row, explained);
    const siblings = await this.#siblings(explained, history, begin.revision);
    return toEntry({ ...told, ...(siblings.length === 0 ? {} : { siblings }) }, row.revision);
  }

  /** Reached by a get with asOf, which is refused: an explanation has one time. @throws StatusError 400, 405 */
  async list(): Promise<ListPage> {
    refuseAsOf(this.#request.query);
    throw methodNotAllowed();
  }

  async #tell(row: LoggedRevision, { links, unknown }: Explained): Promise<Explanation> {
    const told: ExplanationLink[] = [];
    let sizeBytes = 0;
    for (const link of links) {
      sizeBytes += storedBytesOf(rowOf(link.write));
      told.push(
        await this.#toLink(link, { withChanges: told.length === 0 || sizeBytes <= MAX_CHANGED_BYTES }),
      );
    }
    return {
      kind: 'Explanation',
      apiVersion: HISTORY_API,
      metadata: { name: String(row.revision), creationTimestamp: toSeconds(row.at) },
      revision: String(row.revision),
      links: told,
      root: String(links.at(-1)?.write.revision ?? row.revision),
      ...(unknown === undefined ? {} : { unknown }),
    };
  }

  async #toLink(
    { write, evidence, confidence }: Link,
    { withChanges }: { readonly withChanges: boolean },
  ): Promise<ExplanationLink> {
    const row = rowOf(write);
    const left = { object: this.#teller.objectOf(row), changes: [], isTruncated: true };
    const { object, changes, isTruncated } = withChanges ? await this.#teller.tell(row, this.#rights) : left;
    return {
      ...{ ...whoAndWhen(row), object },
      ...(changes.length === 0 ? {} : { changes: [...changes] }),
      ...(isTruncated ? { changesTruncated: true } : {}),
      ...(evidence.length === 0 ? {} : { evidence: [...evidence] }),
      ...(confidence === undefined ? {} : { confidence }),
    };
  }

  /** Of the act that began it, where that is known. */
  async #siblings(
    { links, unknown }: Explained,
    history: History,
    begin: Revision,
  ): Promise<ExplanationLink[]> {
    const root = links.at(-1)?.write;
    if (root === undefined || unknown !== undefined) return [];
    const told: ExplanationLink[] = [];
    for (const { row, evidence, confidence } of await siblingsOf(root, { history, begin })) {
      if (!(await this.#rights.mayRead(row))) continue;
      const object = this.#teller.objectOf(row);
      told.push({ ...whoAndWhen(row), object, evidence: [evidence], confidence });
    }
    return told;
  }
}

function whoAndWhen({ revision, at, verb, attribution }: LoggedRevision) {
  const { username: user, fieldManager: manager } = attribution;
  return { revision: String(revision), at, user, ...(manager === '' ? {} : { manager }), verb };
}
