import { type Minor, parseMinor } from '../emulation.ts';
import type { CompiledField, CompiledMessage, CompiledTypes } from './compiled.ts';

/**
 * The messages that a file takes from another version with `option (same_as)`: "flowcontrol.v1", "storage.v1: CSINode, StorageClass",
 * or "certificates.v1alpha1 since 1.33: ClusterTrustBundle". Which versions of Kubernetes have them is said here, not by
 * their origin, unless that came later.
 */
export interface SameAs {
  /** `flowcontrol/v1beta3` */
  readonly folder: string;
  /** `flowcontrol/v1` */
  readonly from: string;
  /** Undefined: all that the file does not declare itself. */
  readonly names: readonly string[] | undefined;
  readonly since?: Minor;
}

export function parseSameAs(folder: string, text: string): SameAs {
  const [origin = '', names] = text.split(': ');
  const [from = '', version = ''] = origin.split(' since ');
  const since = parseMinor(version);
  const life = since === undefined ? {} : { since };
  return { folder, from: from.replace('.', '/'), names: names?.split(', '), ...life };
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
  const waiting = new Map(takings.map((taking) => [taking.folder, taking]));
  const settle = (folder: string): void => {
    const taking = waiting.get(folder);
    if (taking === undefined) return;
    waiting.delete(folder);
    settle(taking.from);
    for (const name of namesToTake(taking, types)) origins.set(`${folder}.${name}`, `${taking.from}.${name}`);
    for (const [name, origin] of origins)
      if (name.startsWith(`${folder}.`))
        types[name] = moved(types[origin], taking, (one) => types[one] !== undefined || origins.has(one));
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
  { folder, from, since }: SameAs,
  has: (name: string) => boolean,
): CompiledMessage {
  if (message === undefined) throw new Error(`${folder}: nothing to take from ${from}`);
  const fields = message.fields.map((field): CompiledField => {
    const local = field.type.startsWith(`${from}.`) ? folder + field.type.slice(from.length) : field.type;
    return has(local) ? { ...field, type: local } : field;
  });
  const { since: origin, until: _, ...taken } = message;
  const later = since !== undefined && origin !== undefined && origin > since ? origin : since;
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
