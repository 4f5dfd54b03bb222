import { rankOf } from './import-order.ts';
import type { Shapes } from './shapes.ts';

/** An object of a source that does not sort by resource, before it is read. */
export interface Unordered {
  readonly apiVersion: string;
  readonly kind: string;
  /** In bytes. */
  readonly size: number;
}

/** Objects of one kind. */
export interface UnorderedPart<One> {
  readonly label: string;
  readonly ones: readonly One[];
  /** As {@link SourcePart} has it. */
  readonly remaining: number;
}

/** What is read and shaped at once. */
const MOST = 256;
const MOST_BYTES = 1024 * 1024;
const UNKNOWN_RANK = rankOf({ group: '', resource: '' });

/** Sorts objects into parts of one kind each, in the order of writes. */
export function* inOrder<One extends Unordered>(
  objects: Iterable<One>,
  shapes: Shapes,
): Generator<UnorderedPart<One>> {
  const kinds = Map.groupBy(objects, ({ apiVersion, kind }) => `${apiVersion}/${kind}`);
  const ranked = [...kinds.values()].map((all) => ({ all, rank: rankOfKind(all[0], shapes) }));
  for (const { all } of ranked.sort((a, b) => a.rank - b.rank))
    for (let at = 0, end = 0; at < all.length; at = end) {
      let bytes = 0;
      for (; end < all.length && end - at < MOST && (end === at || bytes < MOST_BYTES); end += 1)
        bytes += all[end]?.size ?? 0;
      yield {
        label: all[0]?.kind ?? '',
        ones: all.slice(at, end),
        remaining: at === 0 ? all.length - end : -1,
      };
    }
}

/** Definitions are read before the kinds that they define are known. */
function rankOfKind(one: Unordered | undefined, shapes: Shapes): number {
  if (one === undefined) return UNKNOWN_RANK;
  const { apiVersion, kind } = one;
  const resource = shapes.resourceOf({ apiVersion, kind });
  return resource === undefined ? UNKNOWN_RANK : rankOf(resource);
}
