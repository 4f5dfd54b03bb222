import type { JsonObject } from '../../api/object-meta.ts';
import type { Revision } from '../revision.ts';
import type { StoredObject } from '../revision-log.ts';
import type { Entry } from '../store.ts';

/** Values of a resource's selectable fields, from an object in stored form. */
export type FieldReader = (object: JsonObject) => Record<string, string>;

interface Index {
  readonly labels: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  readonly ownerUids: readonly string[];
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});
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
  readonly #readFields: FieldReader;
  #index: Index | undefined;

  constructor(stored: StoredObject, readFields: FieldReader) {
    this.namespace = stored.key.namespace;
    this.name = stored.key.name;
    this.uid = stored.uid;
    this.revision = stored.revision;
    this.json = stored.json;
    this.#readFields = readFields;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#indexed().labels;
  }

  get fields(): Readonly<Record<string, string>> {
    return this.#indexed().fields;
  }

  get ownerUids(): readonly string[] {
    return this.#indexed().ownerUids;
  }

  #indexed(): Index {
    this.#index ??= this.#read();
    return this.#index;
  }

  #read(): Index {
    const object = JSON.parse(this.json.toString()) as JsonObject;
    const metadata = (object.metadata ?? {}) as {
      labels?: Record<string, string>;
      ownerReferences?: readonly { uid: string }[];
    };
    return {
      labels: metadata.labels ?? NO_LABELS,
      fields: {
        ...this.#readFields(object),
        'metadata.name': this.name,
        'metadata.namespace': this.namespace,
      },
      ownerUids: metadata.ownerReferences?.map(({ uid }) => uid) ?? NO_OWNERS,
    };
  }
}
