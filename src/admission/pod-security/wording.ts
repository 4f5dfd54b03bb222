import type { CheckedContainer } from './check.ts';

/** The words that violations are told in. */

/** `"a", "b"`: quoted, but not escaped. */
export const quoted = (items: Iterable<string>): string => `"${[...items].join('", "')}"`;

export const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`);

/** `container "a"`, `volumes "a", "b"` */
export const named = (word: string, names: readonly string[]): string =>
  `${plural(word, names.length)} ${quoted(names)}`;

export const namesOf = (containers: readonly CheckedContainer[]): string[] =>
  containers.map(({ name }) => name);

/** Who of a pod says what it must not: `pod and containers "a", "b"`. Empty: nobody. */
export function settersOf(podDoes: boolean, containers: readonly CheckedContainer[]): string {
  const setters = podDoes ? ['pod'] : [];
  if (containers.length > 0) setters.push(named('container', namesOf(containers)));
  return setters.join(' and ');
}

/** Each once, in order. */
export const sorted = (items: Iterable<string>): string[] => [...new Set(items)].sort();
