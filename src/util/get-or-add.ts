/** A map, a weak one, or a cache. */
interface Mapping<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: NoInfer<Value>): unknown;
}

/**
 * Returns the value of a key, which `make` makes where there is none. Not for hot paths, where the closure counts.
 *
 *     getOrAdd(groups, name, () => []).push(item)
 */
export function getOrAdd<Key, Value>(map: Mapping<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
