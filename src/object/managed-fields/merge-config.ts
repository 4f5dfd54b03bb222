import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { isObject, setField } from '../merge-patch.ts';
import { deduce, elementOf, type ListShape, partOf, type Shape, shapeOfItem } from './shape.ts';

/**
 * A live object with a configuration laid over it. Nothing is taken away: what the configuration does not name stays, what it
 * names has its value. The inputs are not changed.
 */
export function mergeConfig(live: JsonObject, config: JsonObject, shape: Shape): JsonObject {
  const merged = merge(live, config, shape);
  return isObject(merged) ? merged : {};
}

function merge(
  live: JsonValue | undefined,
  config: JsonValue | undefined,
  shape: Shape,
): JsonValue | undefined {
  if (config === undefined) return live;
  if (live === undefined) return config;
  const known = shape.kind === 'deduced' ? deduce(config) : shape;
  switch (known.kind) {
    case 'struct':
    case 'map':
      if (isObject(live) && Object.keys(live).length > 0)
        return isObject(config) ? mergeObjects(live, config, known) : live;
      return config;
    case 'set':
    case 'keyed':
      if (Array.isArray(live) && live.length > 0)
        return Array.isArray(config) ? mergeLists(live, config, known) : live;
      return config;
    default:
      return config;
  }
}

function mergeObjects(
  live: JsonObject,
  config: JsonObject,
  shape: Shape & { kind: 'struct' | 'map' },
): JsonObject {
  const out: JsonObject = { ...live };
  for (const key of Object.keys(config)) {
    const mine = Object.hasOwn(live, key) ? live[key] : undefined;
    const merged = merge(mine, config[key], partOf(shape, key).shape);
    if (merged !== undefined) setField(out, key, merged);
  }
  return out;
}

/**
 * Shared elements take the order of the configuration; those that only the live list has stay behind the ones they followed.
 *
 *   live a b c d, configuration d b   →   a c d b
 */
function mergeLists(live: readonly JsonValue[], config: readonly JsonValue[], shape: ListShape): JsonValue[] {
  const items = shapeOfItem(shape);
  const mine = live.map((item) => elementOf(item, shape));
  const wanted = config.map((item) => elementOf(item, shape));
  const known = indexUnique(live, mine);
  const configured = new Set(wanted);
  const there = new Set(mine);
  const shared = wanted.filter((element) => there.has(element));
  let sharedAt = 0;
  const done = new Set<string | undefined>();
  const out: JsonValue[] = [];
  const take = (at: number): void => {
    const element = wanted[at];
    const value = merge(known.get(element), config[at], items);
    done.add(element);
    if (shared[sharedAt] === element) sharedAt += 1;
    if (value !== undefined) out.push(value);
  };
  let left = 0;
  let right = 0;
  while (left < live.length || right < config.length) {
    const element = mine[left];
    if (left < live.length && !configured.has(element)) {
      out.push(live[left] ?? null);
      left += 1;
    } else if (
      left < live.length &&
      (done.has(element) || (right < config.length && waitsBehind(element, shared[sharedAt], wanted[right])))
    ) {
      left += 1;
    } else {
      if (left < live.length && element === wanted[right]) left += 1;
      take(right);
      right += 1;
    }
  }
  return out;
}

/** A shared element whose turn has not come: the configuration puts another shared one first. */
const waitsBehind = (
  element: string | undefined,
  nextShared: string | undefined,
  next: string | undefined,
): boolean => element !== next && nextShared !== undefined && nextShared !== element;

/** Elements that are there twice are not merged into. */
function indexUnique(
  list: readonly JsonValue[],
  elements: readonly (string | undefined)[],
): Map<string | undefined, JsonValue> {
  const out = new Map<string | undefined, JsonValue>();
  const seen = new Set<string | undefined>();
  for (const [at, element] of elements.entries()) {
    const item = list[at];
    if (seen.has(element)) out.delete(element);
    else if (item !== undefined) out.set(element, item);
    seen.add(element);
  }
  return out;
}
