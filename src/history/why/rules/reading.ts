import type { ObjectKey } from '../../../storage/key.ts';
import type { Revision } from '../../../storage/revision.ts';
import { isBySame } from '../authors.ts';
import { type Past, type PastWrite, type Unknown, unknown } from '../past.ts';
import { makerOf, type OwnerReference, stateOf } from '../states.ts';

/** Searches that rules share. All go from newer writes to older ones. */

/** Evidence that a revision is the one that a controller knew. */
export const LAST = 'is the last before it that changed what the owner wants';

interface Identity {
  readonly key: ObjectKey;
  readonly uid: string;
}

/** Yields the writes of one object, not those of others with its name. */
export async function* writesOf(
  past: Past,
  { key, uid }: Identity,
  before: Revision,
): AsyncGenerator<PastWrite> {
  for await (const write of past.ofName(key, { before })) if (write.uid === uid) yield write;
}

export type Test = (write: PastWrite) => boolean;

export async function newestOf(writes: AsyncIterable<PastWrite>, test: Test): Promise<PastWrite | undefined> {
  for await (const write of writes) if (test(write)) return write;
  return undefined;
}

/** Returns the newest earlier write of the object that passes. */
export const newestOwn = (past: Past, effect: PastWrite, test: Test): Promise<PastWrite | undefined> =>
  newestOf(writesOf(past, effect, effect.revision), test);

/** Returns where an object's owner is; undefined for a kind that is not served. */
export function ownerOf(
  effect: Pick<PastWrite, 'key'>,
  reference: OwnerReference,
  past: Past,
): Identity | undefined {
  const known = past.find(reference);
  if (known === undefined) return undefined;
  const namespace = known.namespaced ? effect.key.namespace : '';
  return { key: { ...known.resource, namespace, name: reference.name }, uid: reference.uid };
}

/** Returns the newest write of an owner that passes, or why there is none. */
export async function newestOfOwner(
  effect: PastWrite,
  reference: OwnerReference,
  past: Past,
  test: Test,
): Promise<PastWrite | Unknown> {
  const owner = ownerOf(effect, reference, past);
  const named = `${reference.kind} ${reference.name}`;
  if (owner === undefined) return unknown(`Its owner, ${named}, is of a kind that is not served.`);
  const found = await newestOf(writesOf(past, owner, effect.revision), test);
  if (found !== undefined) return found;
  return unknown(`The last change of its owner, ${named} with uid ${reference.uid}, is ${past.beyond()}.`);
}

/** Yields writes of the objects of a resource that `owner` controls, in its namespace. */
export async function* writesOfOwned(
  past: Past,
  owner: Identity,
  resource: { readonly group: string; readonly resource: string },
  stretch: { readonly before: Revision; readonly after?: Revision },
): AsyncGenerator<PastWrite> {
  for await (const write of past.ofResource(resource, owner.key.namespace, stretch))
    if (makerOf(stateOf(write))?.uid === owner.uid) yield write;
}

/** Whether the author wrote to the object after `since`, which it could have answered then. */
export async function hasAnswered(past: Past, effect: PastWrite, since: PastWrite): Promise<boolean> {
  for await (const write of writesOf(past, effect, effect.revision)) {
    if (write.revision <= since.revision) return false;
    if (isBySame(write, effect)) return true;
  }
  return false;
}
