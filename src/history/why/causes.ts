import type { LoggedRevision } from '../../storage/history.ts';
import type { ObjectKey } from '../../storage/key.ts';
import type { Revision } from '../../storage/revision.ts';
import { Pace } from '../../util/turns.ts';
import { isController } from './authors.ts';
import { toWrites } from './logged-past.ts';
import type { Past, PastWrite, Stretch } from './past.ts';
import { ruleOfAll } from './rules/all-causes.ts';

/** Rows that one search may look at: a page of a timeline has a few hundred entries, with a search for each. */
const ROWS_OF_STEP = 100;

/**
 * Returns the causes of rows among these rows themselves, such as those of a page of a timeline. It reads nothing else, so that the
 * caller, who may read all of these, learns of nothing else. It leaves out causes that are only possible.
 */
export async function causesAmong(
  rows: readonly LoggedRevision[],
  find: Past['find'],
): Promise<Map<Revision, Revision>> {
  const writes = toWrites(rows.toSorted((a, b) => (a.revision > b.revision ? -1 : 1)));
  const past = new PastOfRows(writes, find);
  const causes = new Map<Revision, Revision>();
  const pace = new Pace({ stepsBetween: 1 });
  for (const write of writes) {
    if (pace.isOver()) await pace.rest();
    const finding = isController(write) ? await ruleOfAll(write, past) : undefined;
    if (finding?.kind === 'cause' && finding.confidence !== 'possible')
      causes.set(write.revision, finding.write.revision);
  }
  return causes;
}

/** History as far as a few rows show it; they come newest first. */
class PastOfRows implements Past {
  readonly find: Past['find'];
  readonly #byName: ReadonlyMap<string, readonly PastWrite[]>;
  readonly #byResource: ReadonlyMap<string, readonly PastWrite[]>;

  constructor(writes: readonly PastWrite[], find: Past['find']) {
    this.find = find;
    this.#byName = Map.groupBy(writes, ({ key }) => nameText(key));
    this.#byResource = Map.groupBy(writes, ({ key }) => nameText({ ...key, name: '' }));
  }

  ofName(key: ObjectKey, stretch: Stretch): AsyncIterable<PastWrite> {
    return within(this.#byName.get(nameText(key)) ?? [], stretch);
  }

  ofResource(
    { group, resource }: { readonly group: string; readonly resource: string },
    namespace: string,
    stretch: Stretch,
  ): AsyncIterable<PastWrite> {
    return within(this.#byResource.get(nameText({ group, resource, namespace, name: '' })) ?? [], stretch);
  }

  /** Empty: only possible causes come of it. */
  async *ofAuthor(): AsyncGenerator<PastWrite> {}

  beyond(): string {
    return 'not among these';
  }
}

const nameText = ({ group, resource, namespace, name }: ObjectKey): string =>
  [group, resource, namespace, name].join('\0');

async function* within(writes: readonly PastWrite[], { before, after }: Stretch): AsyncGenerator<PastWrite> {
  const first = firstBefore(writes, before);
  for (const write of writes.slice(first, first + ROWS_OF_STEP)) {
    if (after !== undefined && write.revision <= after) return;
    yield write;
  }
}

/** Returns the index of the first older write. Bisects, because most rows have many newer ones. */
function firstBefore(writes: readonly PastWrite[], before: Revision): number {
  let low = 0;
  let high = writes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((writes[middle]?.revision ?? 0n) < before) high = middle;
    else low = middle + 1;
  }
  return low;
}
