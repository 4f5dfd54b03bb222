import { badRequest } from '../../api/status.ts';
import { parsePosition } from '../../storage/key.ts';
import { NO_REVISION, parseRevision, type Revision, toRevision } from '../../storage/revision.ts';
import type { Entry } from '../../storage/store.ts';

/** Approximate size of a page: the revision that exceeds it is the last. */
const PAGE_BYTES = 8 * 1024 * 1024;

/** The first revision still to send; the token names the last one sent. */
export function positionOf(after: string | undefined): Revision | undefined {
  if (after === undefined) return undefined;
  const revision = parseRevision(parsePosition(after).name);
  if (revision === undefined || revision === NO_REVISION)
    throw badRequest('invalid continue token: continue key is not valid');
  return toRevision(revision - 1n);
}

export function least(first: Revision, ...others: readonly (Revision | undefined)[]): Revision {
  let found = first;
  for (const other of others) if (other !== undefined && other < found) found = other;
  return found;
}

/** The revisions of one page of a list, up to the client's limit or {@link PAGE_BYTES}. */
export class RevisionPage {
  readonly entries: Entry[] = [];
  readonly #limit: number;
  #sizeBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get room(): number {
    return this.#limit - this.entries.length;
  }

  get isFull(): boolean {
    return this.room <= 0 || this.#sizeBytes >= PAGE_BYTES;
  }

  add(entry: Entry): void {
    this.entries.push(entry);
    this.#sizeBytes += entry.json.length;
  }
}
