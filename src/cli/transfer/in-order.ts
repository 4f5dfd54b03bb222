import type { JsonObject } from '../../api/object-meta.ts';
import { rankOf } from './import-order.ts';
import type { Shapes } from './shapes.ts';
import type { SourcePart } from './source.ts';

/** An object of a source that does not sort by resource. */
export interface Unordered {
  readonly apiVersion: string;
  readonly kind: string;
  /** Decodes it; undefined: it cannot be decoded. */
  read(): JsonObject | undefined;
}

const PART = 1000;
const UNKNOWN_RANK = rankOf({ group: '', resource: '' });

/** Sorts objects into parts of one kind each, in the order of writes. */
export function* inOrder(objects: Iterable<Unordered>, shapes: Shapes): Generator<SourcePart> {
  const kinds = new Map<string, Unordered[]>();
  for (const object of objects) {
    const type = `${object.apiVersion}/${object.kind}`;
    const known = kinds.get(type);
    if (known === undefined) kinds.set(type, [object]);
    else known.push(object);
  }
  const ranked = [...kinds.values()].map((all) => ({ all, rank: rankOfKind(all[0], shapes) }));
  for (const { all } of ranked.sort((a, b) => a.rank - b.rank))
    for (let at = 0; at < all.length; at += PART)
      yield {
        label: all[0]?.kind ?? '',
        objects: all
          .slice(at, at + PART)
          .map((one) => one.read())
          .filter((one) => one !== undefined),
        remaining: Math.max(all.length - at - PART, 0),
      };
}

/** Definitions are read before the kinds that they define are known. */
function rankOfKind(one: Unordered | undefined, shapes: Shapes): number {
  if (one === undefined) return UNKNOWN_RANK;
  const { apiVersion, kind } = one;
  const resource = shapes.resourceOf({ apiVersion, kind });
  return resource === undefined ? UNKNOWN_RANK : rankOf(resource);
}
