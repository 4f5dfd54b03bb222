import type { ApiObject } from '../api/object-meta.ts';
import { parseStored, toStoredJson } from '../codec/stored-object.ts';
import { identical } from '../object/equality.ts';
import type { SelectableFields } from '../registry/resource-definition.ts';
import { CachedEntry } from '../storage/cached-entry.ts';
import type { StoredObject } from '../storage/revision-log.ts';
import type { Entry } from '../storage/store.ts';
import { Pace } from '../util/turns.ts';
import { ConvertedEntries, type ParsedEntry } from './conversion/converted-entries.ts';
import type { WebhookConverter } from './conversion/webhook-converter.ts';
import type { VersionSchema } from './version-schema.ts';
import type { Translation } from './versioned-store.ts';

/** The parts of a resource that translation between versions needs. */
export interface TranslatedResource {
  readonly storedVersion: string;
  /** Objects may have been stored under an earlier schema. */
  readonly mayBeOutdated: boolean;
  /** The schema has a default status. Creates drop it with the status; readers see it until the status is written. */
  readonly presetsStatus: boolean;
  /** Undefined: versions differ only in apiVersion. */
  readonly converter: WebhookConverter | undefined;
  readonly retired: AbortSignal;
  /** Undefined: the version is gone or has no schema. */
  schemaOf(version: string): VersionSchema | undefined;
}

export interface TranslatedVersion {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly fields: SelectableFields;
}

/** Translates between stored entries and one version: converts other versions, and applies the present schema. */
export class VersionTranslation implements Translation {
  readonly #resource: TranslatedResource;
  readonly #version: string;
  readonly #apiVersion: string;
  readonly #fields: SelectableFields;
  /** The first bytes of objects that are stored in this version. */
  readonly #head: Buffer;
  readonly #read = new WeakMap<Entry, Entry>();
  readonly #selected = new WeakMap<Entry, Entry>();
  /** The stored form of objects being written: needed to store and to show them. */
  readonly #written = new WeakMap<Buffer, Buffer | Promise<Buffer>>();
  /** For versions that a webhook converts. */
  readonly #converted = new ConvertedEntries({
    parse: (entry) => this.#parse(entry),
    convert: async (objects) => this.#resource.converter?.convert(objects, this.#apiVersion) ?? objects,
    finish: (parsed) => this.#finish(parsed),
  });

  constructor(resource: TranslatedResource, { group, version, kind, fields }: TranslatedVersion) {
    this.#resource = resource;
    this.#version = version;
    this.#apiVersion = `${group}/${version}`;
    this.#fields = fields;
    this.#head = Buffer.from(`{"kind":"${kind}","apiVersion":"${this.#apiVersion}","metadata":{`);
  }

  get retired(): AbortSignal {
    return this.#resource.retired;
  }

  get isRemote(): boolean {
    return this.#resource.converter !== undefined;
  }

  read(entry: Entry): Entry | Promise<Entry> {
    if (!this.#isForWebhook(entry.json)) return this.#readAtOnce(entry);
    const read = this.#converted.readAll([entry]);
    return read instanceof Promise ? read.then(([one = entry]) => one) : (read[0] ?? entry);
  }

  readAll(entries: readonly Entry[]): readonly Entry[] | Promise<readonly Entry[]> {
    return entries.every(({ json }) => this.#isCurrent(json)) ? entries : this.#readInTurns(entries);
  }

  async #readInTurns(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const asked = entries.filter(({ json }) => this.#isForWebhook(json));
    const answers = asked.length === 0 ? [] : await this.#converted.readAll(asked);
    const known = new Map(asked.map((entry, at) => [entry, answers[at]]));
    const pace = new Pace({ stepsBetween: 8 });
    const read: Entry[] = [];
    for (const entry of entries) {
      if (pace.isOver()) await pace.rest();
      read.push(known.get(entry) ?? this.#readAtOnce(entry));
    }
    return read.every((one, at) => one === entries[at]) ? entries : read;
  }

  write(json: Buffer): Buffer | Promise<Buffer> {
    if (this.#resource.storedVersion === this.#version) return json;
    let stored = this.#written.get(json);
    if (stored === undefined) {
      stored = this.#convertForStorage(json);
      this.#written.set(json, stored);
    }
    return stored;
  }

  /** Returns a written object as readers see it: with the defaults of the stored version. */
  async readBack(json: Buffer): Promise<Buffer> {
    const { storedVersion, presetsStatus } = this.#resource;
    if (storedVersion === this.#version && !presetsStatus) return json;
    const object = parseStored(await this.write(json));
    this.#resource.schemaOf(storedVersion)?.normalize(object);
    const shown = await this.from(object);
    this.#resource.schemaOf(this.#version)?.prune(shown);
    return toStoredJson(shown);
  }

  #convertForStorage(json: Buffer): Buffer | Promise<Buffer> {
    const { storedVersion, converter } = this.#resource;
    const object = parseStored(json);
    const apiVersion = this.#apiVersionOf(storedVersion);
    if (converter === undefined) return this.#toStored({ ...object, apiVersion });
    return converter.convert([object], apiVersion).then(([one = object]) => this.#toStored(one));
  }

  /** Converts an object of any version to this one. @throws StatusError */
  from(object: ApiObject): ApiObject | Promise<ApiObject> {
    const all = this.fromAll([object]);
    return all instanceof Promise ? all.then(([one = object]) => one) : (all[0] ?? object);
  }

  /** @throws StatusError */
  fromAll(objects: readonly ApiObject[]): readonly ApiObject[] | Promise<readonly ApiObject[]> {
    const { converter } = this.#resource;
    const apiVersion = this.#apiVersion;
    if (objects.every((object) => object.apiVersion === apiVersion)) return objects;
    if (converter === undefined) return objects.map((object) => ({ ...object, apiVersion }));
    return converter.convert(objects, apiVersion);
  }

  /** For webhooks the converted object is unknown before the call. */
  select(entry: Entry): Entry {
    const known = this.#isForWebhook(entry.json) ? (this.#converted.find(entry) ?? entry) : entry;
    if (this.#fields.names.length === 0) return known;
    let selected = this.#selected.get(known);
    if (selected === undefined) {
      selected = new CachedEntry(toStoredObject(known, known.json), this.#fields.read);
      this.#selected.set(known, selected);
    }
    return selected;
  }

  /** Whether a webhook converts between the version of the bytes and this one. */
  #isForWebhook(json: Buffer): boolean {
    return this.#resource.converter !== undefined && storedVersionOf(json) !== this.#version;
  }

  #readAtOnce(entry: Entry): Entry {
    if (this.#isCurrent(entry.json)) return entry;
    let read = this.#read.get(entry);
    if (read === undefined) {
      read = this.#translate(entry);
      this.#read.set(entry, read);
    }
    return read;
  }

  /** Whether this version would store the same bytes, judged by their beginning. */
  #isCurrent(json: Buffer): boolean {
    const { mayBeOutdated, presetsStatus, storedVersion } = this.#resource;
    if (mayBeOutdated || presetsStatus || storedVersion !== this.#version) return false;
    return json.subarray(0, this.#head.length).equals(this.#head);
  }

  #translate(entry: Entry): Entry {
    const parsed = this.#parse(entry);
    if (parsed.object.apiVersion === this.#apiVersion && !parsed.isOutdated) return entry;
    parsed.object.apiVersion = this.#apiVersion;
    return this.#finish(parsed);
  }

  /** Parses an object in its stored version, under its present schema. */
  #parse(entry: Entry): ParsedEntry {
    const object = parseStored(entry.json);
    const stored = storedVersionOf(entry.json);
    this.#resource.schemaOf(stored)?.normalize(object);
    // Ignores the order of fields.
    const isOutdated = stored !== this.#resource.storedVersion || !identical(object, parseStored(entry.json));
    return { entry, object, isOutdated };
  }

  /** `object`: in this version. */
  #finish({ entry, object, isOutdated }: ParsedEntry): Entry {
    if (storedVersionOf(entry.json) !== this.#version) this.#resource.schemaOf(this.#version)?.prune(object);
    return new TranslatedEntry(entry, toStoredJson(object), isOutdated);
  }

  /** `object`: in the stored version. */
  #toStored(object: ApiObject): Buffer {
    this.#resource.schemaOf(this.#resource.storedVersion)?.prune(object);
    return toStoredJson(object);
  }

  #apiVersionOf(version: string): string {
    return this.#apiVersion.slice(0, -this.#version.length) + version;
  }
}

/** The version of an object in stored form. */
function storedVersionOf(json: Buffer): string {
  const [, version = ''] = HEAD.exec(json.toString('latin1', 0, MAX_HEAD_BYTES)) ?? [];
  return version;
}

const HEAD = /^\{"kind":"[^"]*","apiVersion":"(?:[^"/]*\/)?([^"]*)"/;
/** A kind, group and version have at most this length together. */
const MAX_HEAD_BYTES = 512;

/** A cache's entry; the cache has its resource. */
const toStoredObject = ({ namespace, name, uid, revision }: Entry, json: Buffer): StoredObject => ({
  ...{ uid, revision, json },
  key: { group: '', resource: '', namespace, name },
});

class TranslatedEntry extends CachedEntry {
  readonly #entry: Entry;
  readonly #isTranslated: boolean;

  constructor(entry: Entry, json: Buffer, isTranslated: boolean) {
    super(toStoredObject(entry, json), () => ({}));
    this.#entry = entry;
    this.#isTranslated = isTranslated;
  }

  override get isOutdated(): boolean | Promise<boolean> {
    return this.#isTranslated || (this.#entry.isOutdated ?? false);
  }
}
