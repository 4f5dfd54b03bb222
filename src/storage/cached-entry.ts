import type { JsonObject } from '../api/object-meta.ts';
import { findMetadataEnd, readMetadataField } from '../codec/stored-object.ts';
import type { Revision } from './revision.ts';
import type { StoredObject } from './revision-log.ts';
import type { Entry } from './store.ts';

/** Values of a resource's selectable fields, from an object in stored form. */
export type FieldReader = (object: JsonObject) => Record<string, string>;

/** Whether what is stored as this media type would be stored as another one now. Undefined: as JSON. */
export type IsOutdated = (storedAs: string | undefined) => boolean;

const never: IsOutdated = () => false;

type Values = Readonly<Record<string, string>>;

const NO_LABELS: Values = Object.freeze({});
const NO_OWNERS: readonly string[] = Object.freeze([]);

/**
 * An object as the cache holds it: its bytes, and what selectors need once one of them has asked. Most objects are never
 * looked at by a selector, so a cold start parses nothing.
 */
export class CachedEntry implements Entry {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: Revision;
  readonly json: Buffer;
  /** Undefined: as JSON. */
  readonly storedAs: string | undefined;
  readonly #readFields: FieldReader;
  readonly #isOutdated: IsOutdated;
  /** 0: not looked for yet. A list of metadata that looks for 10,000 of them each time takes four times as long. */
  #metadataEnd = 0;
  #labels: Values | undefined;
  #fields: Values | undefined;

  constructor(stored: StoredObject, readFields: FieldReader, isOutdated: IsOutdated = never) {
    this.namespace = stored.key.namespace;
    this.name = stored.key.name;
    this.uid = stored.uid;
    this.revision = stored.revision;
    this.json = stored.json;
    this.storedAs = stored.storedAs;
    this.#readFields = readFields;
    this.#isOutdated = isOutdated;
  }

  /** Asked when it is of interest: keys change while objects lie here. */
  get isOutdated(): boolean {
    return this.#isOutdated(this.storedAs);
  }

  get metadataEnd(): number {
    if (this.#metadataEnd === 0) this.#metadataEnd = findMetadataEnd(this.json);
    return this.#metadataEnd;
  }

  /** The same object for all that have the same labels, as the pods of one replica set have. */
  get labels(): Values {
    this.#labels ??= toLabels(readMetadataField(this.json, 'labels'));
    return this.#labels;
  }

  get fields(): Values {
    this.#fields ??= {
      ...this.#readFields(JSON.parse(this.json.toString()) as JsonObject),
      'metadata.name': this.name,
      'metadata.namespace': this.namespace,
    };
    return this.#fields;
  }

  get ownerUids(): readonly string[] {
    const text = readMetadataField(this.json, 'ownerReferences');
    if (text === undefined) return NO_OWNERS;
    const owners = (JSON.parse(text) ?? []) as readonly { uid: string }[];
    return owners.map(({ uid }) => uid);
  }
}

/** Most objects have the same labels as others. Beyond this many different ones, all are forgotten and read again. */
const MAX_SHARED_LABELS = 20_000;
const shared = new Map<string, Values>();

function toLabels(text: string | undefined): Values {
  if (text === undefined) return NO_LABELS;
  let labels = shared.get(text);
  if (labels === undefined) {
    labels = (JSON.parse(text) as Values | null) ?? NO_LABELS;
    if (shared.size >= MAX_SHARED_LABELS) shared.clear();
    shared.set(text, labels);
  }
  return labels;
}
