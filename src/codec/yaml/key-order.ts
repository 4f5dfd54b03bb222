/**
 * The order in which Kubernetes writes the keys of a YAML map (sigs.k8s.io/yaml): letters by their code, behind everything
 * else; numbers in texts by their value.
 *
 *   a-1  a-2  a-10  aB  ab
 */
export function sortedKeys(object: object): string[] {
  const keys = Object.keys(object);
  for (let at = 1; at < keys.length; at += 1) {
    if (byYamlOrder(keys[at - 1] ?? '', keys[at] ?? '') > 0) return keys.sort(byYamlOrder);
  }
  return keys;
}

const ZERO = 0x30;

export function byYamlOrder(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (at === length) return a.length - b.length;
  const isLetterA = isLetter(a, at);
  const isLetterB = isLetter(b, at);
  if (isLetterA !== isLetterB) return isLetterA ? 1 : -1;
  return (isLetterA ? 0 : byNumber(a, b, at)) || a.charCodeAt(at) - b.charCodeAt(at);
}

/** By the numbers that begin where the texts first differ; 0 when that does not tell. */
function byNumber(a: string, b: string, from: number): number {
  // A zero behind other digits is part of their number, and not a number that begins with zero.
  const isInside = (a.charCodeAt(from) === ZERO || b.charCodeAt(from) === ZERO) && followsNumber(a, from);
  const [numberA, endA] = readNumber(a, from, isInside ? 1 : 0);
  const [numberB, endB] = readNumber(b, from, isInside ? 1 : 0);
  return numberA - numberB || endA - endB;
}

function followsNumber(text: string, from: number): boolean {
  for (let at = from - 1; at >= 0 && isDigit(text.charCodeAt(at)); at -= 1) {
    if (text.charCodeAt(at) !== ZERO) return true;
  }
  return false;
}

function readNumber(text: string, from: number, initial: number): [value: number, end: number] {
  let value = initial;
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) break;
    value = value * 10 + code - ZERO;
  }
  return [value, at];
}

const isDigit = (code: number): boolean => code >= ZERO && code <= 0x39;

function isLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 0x80) return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
  return /\p{L}/u.test(text.charAt(at));
}

/** Sorted in one go; then others may have their turn. */
const RUN = 4096;

/** {@link sortedKeys} of an object with very many; yields between parts of the work. */
export function* sortingKeys(object: object): Generator<undefined, readonly string[]> {
  const keys = Object.keys(object);
  let runs: string[][] = [];
  for (let from = 0; from < keys.length; from += RUN) {
    runs.push(keys.slice(from, from + RUN).sort(byYamlOrder));
    yield;
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* merging(runs[at] ?? [], runs[at + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merging(a: readonly string[], b: readonly string[]): Generator<undefined, string[]> {
  const merged: string[] = [];
  let atA = 0;
  let atB = 0;
  for (let count = 0; count < a.length + b.length; count += 1) {
    const [nextA, nextB] = [a[atA], b[atB]];
    if (nextA === undefined || (nextB !== undefined && byYamlOrder(nextA, nextB) > 0)) {
      merged.push(nextB ?? '');
      atB += 1;
    } else {
      merged.push(nextA);
      atA += 1;
    }
    if (count % RUN === RUN - 1) yield;
  }
  return merged;
}
