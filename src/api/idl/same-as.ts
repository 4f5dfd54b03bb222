import { type Minor, parseMinor } from '../emulation.ts';
import type { CompiledField, CompiledMessage, CompiledTypes } from './compiled.ts';

/**
 * The messages that a file takes from another version with `option (same_as)`: "flowcontrol.v1", "storage.v1: CSINode, StorageClass",
 * or "certificates.v1alpha1 since 1.33: ClusterTrustBundle". Which versions of Kubernetes have them is said here, not by
 * their origin; "resource.stored since at least 1.33" has those later that came later there.
 */
export interface SameAs {
  /** `flowcontrol/v1beta3` */
  readonly folder: string;
  /** `flowcontrol/v1` */
  readonly from: string;
  /** Undefined: all that the file does not declare itself. */
  readonly names: readonly string[] | undefined;
  readonly since?: Minor;
  /** Messages that came later to the origin came later here, too. */
  readonly isLeast: boolean;
}

/** Several origins are separated by "; ". */
export const parseSameAs = (folder: string, text: string): SameAs[] =>
  text.split('; ').map((one) => parseOne(folder, one));

const AT_LEAST = 'at least ';

function parseOne(folder: string, text: string): SameAs {
  const [origin = '', names] = text.split(': ');
  const [from = '', version = ''] = origin.split(' since ');
  const isLeast = version.startsWith(AT_LEAST);
  const since = parseMinor(isLeast ? version.slice(AT_LEAST.length) : version);
  const life = since === undefined ? {} : { since };
  return { folder, from: from.replace('.', '/'), names: names?.split(', '), isLeast, ...life };
}

/**
 * Adds to `types` the messages that files take from other versions. A message refers to messages of its new version first, and
 * to its origin for the rest.
 *
 * @returns the origin of each added message, by full name
 * @throws Error for a name that the other version lacks, or that the file declares itself
 */
export function addTaken(takings: readonly SameAs[], types: CompiledTypes): Map<string, string> {
  const origins = new Map<string, string>();
  const waiting = Map.groupBy(takings, ({ folder }) => folder);
  const settle = (folder: string): void => {
    const own = waiting.get(folder) ?? [];
    waiting.delete(folder);
    for (const { from } of own) settle(from);
    const taken = own.map((taking) => ({ taking, names: namesToTake(taking, types) }));
    for (const { taking, names } of taken)
      for (const name of names) origins.set(`${folder}.${name}`, `${taking.from}.${name}`);
    const isThere = (name: string): boolean => types[name] !== undefined || origins.has(name);
    for (const { taking, names } of taken)
      for (const name of names)
        types[`${folder}.${name}`] = moved(types[`${taking.from}.${name}`], taking, isThere);
  };
  for (const { folder } of takings) settle(folder);
  return origins;
}

function namesToTake({ folder, from, names }: SameAs, types: CompiledTypes): readonly string[] {
  const has = (owner: string, name: string): boolean => types[`${owner}.${name}`] !== undefined;
  if (names === undefined)
    return Object.keys(types)
      .filter((name) => name.startsWith(`${from}.`))
      .map((name) => name.slice(from.length + 1))
      .filter((name) => !has(folder, name));
  for (const name of names) {
    if (!has(from, name)) throw new Error(`${folder}: same_as names ${name}, which ${from} has not`);
    if (has(folder, name))
      throw new Error(`${folder}: same_as names ${name}, which the file declares itself`);
  }
  return names;
}

function moved(
  message: CompiledMessage | undefined,
  { folder, from, since, isLeast }: SameAs,
  has: (name: string) => boolean,
): CompiledMessage {
  if (message === undefined) throw new Error(`${folder}: nothing to take from ${from}`);
  const fields = message.fields.map((field): CompiledField => {
    const local = field.type.startsWith(`${from}.`) ? folder + field.type.slice(from.length) : field.type;
    return has(local) ? { ...field, type: local } : field;
  });
  const { since: origin, until: _, ...taken } = message;
  const later = isLeast && since !== undefined && origin !== undefined && origin > since ? origin : since;
  return { ...taken, fields, ...(later === undefined ? {} : { since: later }) };
}

/** Taken messages that equal their origin, including all messages they refer to. */
export function unchanged(origins: ReadonlyMap<string, string>, types: CompiledTypes): Set<string> {
  const same = new Set(origins.keys());
  const refersToOther = (name: string): boolean => {
    const before = types[origins.get(name) ?? '']?.fields ?? [];
    return (types[name]?.fields ?? []).some(({ type }, at) => type !== before[at]?.type && !same.has(type));
  };
  for (;;) {
    const others = [...same].filter(refersToOther);
    if (others.length === 0) return same;
    for (const name of others) same.delete(name);
  }
}
