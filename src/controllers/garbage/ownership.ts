import { canonicalGroup } from '../../api/dialect.ts';
import type { ObjectMeta } from '../../api/object-meta.ts';
import { readMetadataField } from '../../codec/stored-object.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../verbs/writing/deletion.ts';

/** One of an object's metadata.ownerReferences. */
export interface Reference {
  readonly uid: string;
  /** As it was written. */
  readonly apiVersion: string;
  /** Canonical, as the registry has it. */
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** The owner is not gone, when it is deleted in the foreground, before this object is. */
  readonly blocks: boolean;
}

/**
 * How an object ends. `no`: it stays. `yes`: its deletion has begun, and the collector has no part in it. `orphan`: its deletion
 * waits until its dependents have another owner or none. `foreground`: until those that block it are gone.
 */
export type Ending = 'no' | 'yes' | 'orphan' | 'foreground';

export interface Ownership {
  readonly references: readonly Reference[];
  readonly ending: Ending;
}

const NO_REFERENCES: readonly Reference[] = Object.freeze([]);
const STAYS: Ownership = { references: NO_REFERENCES, ending: 'no' };

// Most objects have neither, and a start looks at all of them: finding that out natively takes 0.2 µs, looking through their
// metadata 7. A quote inside a value is escaped, so that a text is not taken for the field; a field elsewhere is told apart
// by looking.
const OWNERS = toNeedle('"owner', 'References":[');
const DELETED = toNeedle('"deletion', 'Timestamp":"');

/** Text that is looked for by its end, which begins with a letter that is rare: that makes the search ten times as fast. */
interface Needle {
  readonly whole: Buffer;
  readonly end: Buffer;
}

function toNeedle(begin: string, end: string): Needle {
  return { whole: Buffer.from(begin + end), end: Buffer.from(end) };
}

function has(json: Buffer, { whole, end }: Needle): boolean {
  for (let at = json.indexOf(end); at >= 0; at = json.indexOf(end, at + 1)) {
    const to = at + end.length;
    if (to >= whole.length && json.compare(whole, 0, whole.length, to - whole.length, to) === 0) return true;
  }
  return false;
}

/** What the collector needs to know of an object, from its bytes. */
export function readOwnership(json: Buffer): Ownership {
  const hasOwners = has(json, OWNERS);
  const ends = has(json, DELETED);
  if (!hasOwners && !ends) return STAYS;
  return {
    references: hasOwners ? toReferences(readMetadataField(json, 'ownerReferences')) : NO_REFERENCES,
    ending: ends ? readEnding(json) : 'no',
  };
}

function readEnding(json: Buffer): Ending {
  if (readMetadataField(json, 'deletionTimestamp') === undefined) return 'no';
  const finalizers = readFinalizers(json);
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'foreground' : 'yes';
}

export function readFinalizers(json: Buffer): readonly string[] {
  const text = readMetadataField(json, 'finalizers');
  return text === undefined ? [] : ((JSON.parse(text) as string[] | null) ?? []);
}

/** Objects of one owner often stand together, and have the same text. Beyond this many different ones, all are forgotten. */
const MAX_SHARED = 4096;
const shared = new Map<string, readonly Reference[]>();

/** The same list for all objects that have the same text, as the pods of a replica set do. */
function toReferences(text: string | undefined): readonly Reference[] {
  if (text === undefined) return NO_REFERENCES;
  let references = shared.get(text);
  if (references === undefined) {
    references = parseReferences(text);
    if (shared.size >= MAX_SHARED) shared.clear();
    shared.set(text, references);
  }
  return references;
}

function parseReferences(text: string): readonly Reference[] {
  const list = (JSON.parse(text) as ObjectMeta['ownerReferences'] | null) ?? [];
  return list.map(({ uid = '', apiVersion = '', kind = '', name = '', blockOwnerDeletion = false }) => {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : canonicalGroup(apiVersion.slice(0, slash)).group;
    return { uid, apiVersion, group, kind, name, blocks: blockOwnerDeletion === true };
  });
}
