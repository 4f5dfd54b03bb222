import { LoggedPast } from '../../../src/history/why/logged-past.ts';
import type { PastWrite } from '../../../src/history/why/past.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import type { LoggedRevision, LogPage, LogQuery } from '../../../src/storage/history.ts';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import type { Script } from './scripted-past.ts';

export const toRow = (write: PastWrite & { readonly previous?: Revision }): LoggedRevision => ({
  ...{ revision: write.revision, verb: write.verb, key: write.key, uid: write.uid, committedAt: write.at },
  at: write.at.toISOString(),
  previous: write.previous,
  json: Buffer.from(JSON.stringify(write.is)),
  previousJson: write.was === undefined ? undefined : Buffer.from(JSON.stringify(write.was)),
  attribution: {
    username: write.user,
    userAgent: write.userAgent,
    sourceAddress: '',
    requestId: write.requestId,
    fieldManager: write.manager,
  },
});

/** A log in memory that counts what is read of it. */
export class ScriptedLog {
  rowsRead = 0;
  readonly #script: Script;
  compacted = NO_REVISION;

  constructor(script: Script) {
    this.#script = script;
  }

  async rows(query: LogQuery): Promise<LogPage> {
    const { resource, namespace, name, user, manager, requestId, after = NO_REVISION, upTo, limit } = query;
    if (after < this.compacted)
      throw new StorageError({ kind: 'compacted', requested: after, compacted: this.compacted });
    if (upTo !== undefined && upTo > (await this.newest()))
      throw new Error(`revision ${upTo} is not there yet, and would be waited for`);
    const wanted = {
      group: resource?.group,
      resource: resource?.resource,
      namespace,
      name,
      user,
      manager,
      requestId,
    };
    const found = this.#script.writes
      .filter((write) => fits({ ...write.key, ...write }, wanted))
      .filter(({ revision }) => revision > after && (upTo === undefined || revision <= upTo))
      .toReversed();
    const rows = found.slice(0, limit).map(toRow);
    this.rowsRead += rows.length;
    return { rows, next: found.length > limit ? rows.at(-1)?.revision : undefined };
  }

  async newest(): Promise<Revision> {
    return this.#script.writes.at(-1)?.revision ?? NO_REVISION;
  }

  past(begin = NO_REVISION): LoggedPast {
    const { find } = this.#script.past();
    const { signal } = new AbortController();
    return new LoggedPast({ history: this, begin: { revision: begin, at: undefined }, find, signal });
  }
}

/** Whether all that is wanted is so. */
const fits = (row: object, wanted: object): boolean =>
  Object.entries(wanted).every(([name, value]) => value === undefined || Reflect.get(row, name) === value);
