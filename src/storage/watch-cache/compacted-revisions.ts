import { type GroupResource, toQualifiedResource } from '../../api/names.ts';
import { StorageError } from '../errors.ts';
import type { Revision } from '../revision.ts';
import type { RevisionReader } from '../revision-log.ts';
import { SharedCurrentRevision } from './current-revision.ts';

/** How long a watch from before the memory waits to learn if its revision is kept. Reading history then takes as long. */
const RESUME_MS = 30_000;

/** CompactedRevisions says how far back the history of each resource reaches. Callers of the same moment share a query. */
export class CompactedRevisions {
  readonly #reader: Pick<RevisionReader, 'compactedRevision'>;
  readonly #shared = new Map<string, SharedCurrentRevision>();

  constructor(reader: Pick<RevisionReader, 'compactedRevision'>) {
    this.#reader = reader;
  }

  /** @throws StorageError compacted, unavailable */
  async assertKept(resource: GroupResource, requested: Revision): Promise<void> {
    const name = toQualifiedResource(resource);
    let shared = this.#shared.get(name);
    if (shared === undefined) {
      const ask = (): Promise<Revision> => this.#reader.compactedRevision(resource);
      shared = new SharedCurrentRevision(ask, 'is compacted', RESUME_MS);
      this.#shared.set(name, shared);
    }
    const compacted = await shared.get();
    if (requested < compacted) throw new StorageError({ kind: 'compacted', requested, compacted });
  }
}
