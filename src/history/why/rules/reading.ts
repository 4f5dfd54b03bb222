import type { ObjectKey } from '../../../storage/key.ts';
import type { Revision } from '../../../storage/revision.ts';
import { isBySame } from '../authors.ts';
import { type Past, type PastWrite, type Unknown, unknown } from '../past.ts';
import { makerOf, type OwnerReference, stateOf } from '../states.ts';

/** Searches that rules have in common. All of them go from newer writes to older ones. */

/** How evidence says of a revision that it is the one a controller knew. */
export const LAST = 'is the last before it that changed what the owner wants';

interface Identity {
  readonly key: ObjectKey;
  readonly uid: string;
}

/** The writes of one object. What had its name before it, or has it since, is another object. */
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

/** The newest write of the object itself, before this one, that passes. */
export const newestOwn = (past: Past, effect: PastWrite, test: Test): Promise<PastWrite | undefined> =>
  newestOf(writesOf(past, effect, effect.revision), test);

/** Where the owner is that an object refers to. Undefined: of a kind that is not served. */
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

/** The newest write of an owner that passes, or in words why there is none. */
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

/** The writes of the objects of a resource that an object controls, in its namespace. */
export async function* writesOfOwned(
  past: Past,
  owner: Identity,
  resource: { readonly group: string; readonly resource: string },
  stretch: { readonly before: Revision; readonly after?: Revision },
): AsyncGenerator<PastWrite> {
  for await (const write of past.ofResource(resource, owner.key.namespace, stretch))
    if (makerOf(stateOf(write))?.uid === owner.uid) yield write;
}

/** Whether an author wrote to an object after something that it could have answered then. */
export async function hasAnswered(past: Past, effect: PastWrite, since: PastWrite): Promise<boolean> {
  for await (const write of writesOf(past, effect, effect.revision)) {
    if (write.revision <= since.revision) return false;
    if (isBySame(write, effect)) return true;
  }
  return false;
}
