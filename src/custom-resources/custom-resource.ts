import { createHash } from 'node:crypto';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import type { FieldError } from '../api/status.ts';
import type { CustomResourceDefinition, JSONSchemaProps } from '../api/types/apiextensions/v1.ts';
import type { Decoded } from '../codec/decode.ts';
import { parseStored, toStoredJson } from '../codec/stored-object.ts';
import { copyJson, equal } from '../object/equality.ts';
import { CUSTOM_TYPE, type CustomVersion } from '../registry/custom.ts';
import type { ResourceDefinition, SelectableFields } from '../registry/definition.ts';
import { CachedEntry } from '../storage/cached-entry.ts';
import type { StoredObject } from '../storage/revision-log.ts';
import type { Entry, Store } from '../storage/store.ts';
import type { Steps } from '../util/concurrency.ts';
import { toColumns } from './columns.ts';
import { ConvertedEntries, type ParsedEntry } from './conversion/converted-entries.ts';
import { type ConversionParts, toConverter, type WebhookConverter } from './conversion/webhook-converter.ts';
import { DefinitionSource, type VersionOutline } from './definition-source.ts';
import { toScale } from './scale.ts';
import { toSelectableFields } from './selectable-fields.ts';
import { statusView, strategyOf } from './strategy.ts';
import { type SchemaParts, VersionSchema } from './version-schema.ts';
import { type Translation, VersionedStore } from './versioned-store.ts';

export interface CustomResourceParts extends SchemaParts {
  readonly conversion: ConversionParts;
}

/**
 * A definition's resource. Each served version becomes a ResourceDefinition; they have their storage in common.
 * Schemas are parsed when they are needed.
 */
export class CustomResource {
  /** `widgets.example.com` */
  readonly name: string;
  /** The same for two states of a definition that make no difference to what is served. */
  readonly digest: string;
  readonly source: DefinitionSource;
  readonly storedVersion: string;
  /** Objects may be stored as an earlier schema left them. */
  readonly mayBeOutdated: boolean;
  /** Aborted when the definition has changed or is gone: watches end with it, as clients then begin anew. */
  readonly retired: AbortSignal;
  readonly #retirement = new AbortController();
  /** Undefined: versions differ in apiVersion alone. */
  readonly converter: WebhookConverter | undefined;
  readonly #parts: SchemaParts;
  #isEnding: boolean;
  readonly #schemas = new WeakMap<JSONSchemaProps, VersionSchema>();

  constructor(json: Buffer, parts: CustomResourceParts) {
    this.source = new DefinitionSource(json);
    this.#parts = parts;
    this.converter = toConverter(this.source.definition, parts.conversion);
    const { metadata } = this.source.definition;
    this.name = metadata.name ?? '';
    this.digest = digestOf(this.source.definition);
    this.retired = this.#retirement.signal;
    this.#isEnding = isTrue(this.source.definition, 'Terminating');
    this.storedVersion = this.source.versions.find(({ storage }) => storage === true)?.name ?? '';
    this.mayBeOutdated = Number(metadata.generation ?? 1) > 1;
  }

  get isServed(): boolean {
    return isTrue(this.source.definition, 'Established') || isTrue(this.source.definition, 'NamesAccepted');
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Goes on as `next`, a later state of the definition with the same digest. */
  become({ isEnding }: CustomResource): void {
    this.#isEnding = isEnding;
  }

  retire(): void {
    this.#retirement.abort();
  }

  /** The stored version first, which owns the storage, then the others in the order of the definition. */
  definitions(): ResourceDefinition[] {
    const served = this.source.versions.filter((version) => version.served === true);
    return served
      .sort((a, b) => Number(b.storage === true) - Number(a.storage === true))
      .map((version) => this.#toDefinition(version));
  }

  /** Undefined for a version that is gone, or that has no schema. */
  schemaOf(version: string): VersionSchema | undefined {
    const schema = this.source.schemaOf(version);
    if (schema === undefined) return undefined;
    let known = this.#schemas.get(schema);
    if (known === undefined) {
      const keepsUnknown = this.source.definition.spec?.preserveUnknownFields === true;
      known = new VersionSchema(schema, this.#parts, keepsUnknown);
      this.#schemas.set(schema, known);
    }
    return known;
  }

  #toDefinition(outline: VersionOutline): ResourceDefinition {
    const { spec = {}, status } = this.source.definition;
    const { plural = '', singular = '', kind = '', listKind = '' } = spec.names ?? {};
    const { shortNames, categories } = status?.acceptedNames ?? {};
    const { group = '' } = spec;
    const { name: version = '', subresources } = outline;
    const hasStatus = subresources?.status !== undefined;
    const served = { group, version, kind };
    const fields = toSelectableFields(outline);
    const scale = toScale(outline);
    const custom = new Version(this, version, { deprecation: toDeprecation(served, outline), fields });
    return {
      ...{ group, resource: plural, singular, kind, listKind },
      namespaced: spec.scope === 'Namespaced',
      shortNames: shortNames ?? [],
      categories: categories ?? [],
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      versions: [{ version, type: CUSTOM_TYPE, enabledByDefault: true }],
      storage: { group, resource: plural, version, type: CUSTOM_TYPE },
      subresources: [
        ...(hasStatus ? [statusView(served, () => custom.fieldNames())] : []),
        ...(scale === undefined ? [] : [scale]),
      ],
      ...toColumns(outline),
      fields,
      strategy: strategyOf({ hasStatus }),
      custom,
    };
  }
}

const isTrue = ({ status }: CustomResourceDefinition, condition: string): boolean =>
  status?.conditions?.some((one) => one.type === condition && one.status === 'True') === true;

/** Generation rises with every change of the spec. */
function digestOf(definition: CustomResourceDefinition): string {
  const { metadata, status } = definition;
  const all = [metadata.name, metadata.uid, String(metadata.generation), status?.acceptedNames];
  return createHash('sha256').update(JSON.stringify(all)).digest('base64url');
}

function toDeprecation(
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
  { deprecated, deprecationWarning }: VersionOutline,
): string | undefined {
  if (deprecated !== true) return undefined;
  return deprecationWarning ?? `${group}/${version} ${kind} is deprecated`;
}

/** One version of a custom resource, as verbs use it. */
class Version implements CustomVersion, Translation {
  readonly definitionName: string;
  readonly digest: string;
  readonly deprecation: string | undefined;
  readonly storedVersion: string;
  readonly #resource: CustomResource;
  readonly #version: string;
  readonly #apiVersion: string;
  /** How objects begin that are stored in this version. */
  readonly #head: Buffer;
  readonly #stores = new WeakMap<Store, Store>();
  readonly #fields: SelectableFields;
  readonly #read = new WeakMap<Entry, Entry>();
  readonly #selected = new WeakMap<Entry, Entry>();
  /** Where a webhook is asked. */
  readonly #converted = new ConvertedEntries({
    parse: (entry) => this.#parse(entry),
    convert: async (objects) => this.#resource.converter?.convert(objects, this.#apiVersion) ?? objects,
    finish: (parsed) => this.#finish(parsed),
  });

  constructor(
    resource: CustomResource,
    version: string,
    { deprecation, fields }: { readonly deprecation: string | undefined; readonly fields: SelectableFields },
  ) {
    const { group = '', names = {} } = resource.source.definition.spec ?? {};
    this.definitionName = resource.name;
    this.digest = `${resource.digest}/${version}`;
    this.deprecation = deprecation;
    const stored = resource.source.versions.find(({ storage }) => storage === true);
    this.storedVersion = stored?.served === true ? resource.storedVersion : '';
    this.#fields = fields;
    this.#resource = resource;
    this.#version = version;
    this.#apiVersion = `${group}/${version}`;
    this.#head = Buffer.from(`{"kind":"${names.kind}","apiVersion":"${this.#apiVersion}","metadata":{`);
  }

  get isEnding(): boolean {
    return this.#resource.isEnding;
  }

  get retired(): AbortSignal {
    return this.#resource.retired;
  }

  get isRemote(): boolean {
    return this.#resource.converter !== undefined;
  }

  schema(): JSONSchemaProps | undefined {
    return this.#resource.source.readSchema(this.#version);
  }

  message(): MessageSchema {
    return this.#rules().message();
  }

  /** The fields that the schema has at the root. */
  fieldNames(): readonly string[] {
    return Object.keys(this.#resource.source.schemaOf(this.#version)?.properties ?? {});
  }

  decode(value: JsonObject, fresh: boolean): Decoded {
    return this.#rules().decode(fresh ? value : copyJson(value));
  }

  validate(object: ApiObject, old: ApiObject | undefined, warn: (text: string) => void): Steps<FieldError[]> {
    return this.#rules().validate(object, old, warn);
  }

  through(store: Store): Store {
    let versioned = this.#stores.get(store);
    if (versioned === undefined) {
      versioned = new VersionedStore(store, this);
      this.#stores.set(store, versioned);
    }
    return versioned;
  }

  read(entry: Entry): Entry | Promise<Entry> {
    if (!this.#isForWebhook(entry.json)) return this.#readAtOnce(entry);
    const read = this.#converted.readAll([entry]);
    return read instanceof Promise ? read.then(([one = entry]) => one) : (read[0] ?? entry);
  }

  readAll(entries: readonly Entry[]): readonly Entry[] | Promise<readonly Entry[]> {
    const asked = entries.filter(({ json }) => this.#isForWebhook(json));
    if (asked.length > 0) return this.#readMixed(entries, asked);
    const read = entries.map((entry) => this.#readAtOnce(entry));
    return read.every((one, at) => one === entries[at]) ? entries : read;
  }

  async #readMixed(entries: readonly Entry[], asked: readonly Entry[]): Promise<readonly Entry[]> {
    const answers = await this.#converted.readAll(asked);
    const known = new Map(asked.map((entry, at) => [entry, answers[at]]));
    return entries.map((entry) => known.get(entry) ?? this.#readAtOnce(entry));
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

  write(json: Buffer): Buffer | Promise<Buffer> {
    const { storedVersion, converter } = this.#resource;
    if (storedVersion === this.#version) return json;
    const object = parseStored(json);
    const apiVersion = this.#apiVersionOf(storedVersion);
    if (converter === undefined) return this.#toStored({ ...object, apiVersion });
    return converter.convert([object], apiVersion).then(([one = object]) => this.#toStored(one));
  }

  /** `object`: converted to the version that is stored. */
  #toStored(object: ApiObject): Buffer {
    this.#resource.schemaOf(this.#resource.storedVersion)?.prune(object);
    return toStoredJson(object);
  }

  /** What a webhook would make of an entry is not known before it was asked. */
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

  /** Whether the bytes are what this version would store, without a look at more than their beginning. */
  #isCurrent(json: Buffer): boolean {
    if (this.#resource.mayBeOutdated || this.#resource.storedVersion !== this.#version) return false;
    return json.subarray(0, this.#head.length).equals(this.#head);
  }

  #translate(entry: Entry): Entry {
    const parsed = this.#parse(entry);
    if (parsed.object.apiVersion === this.#apiVersion && !parsed.isOutdated) return entry;
    parsed.object.apiVersion = this.#apiVersion;
    return this.#finish(parsed);
  }

  /** An object in the version that it is stored in, as its schema is now. */
  #parse(entry: Entry): ParsedEntry {
    const object = parseStored(entry.json);
    const stored = storedVersionOf(entry.json);
    this.#resource.schemaOf(stored)?.normalize(object);
    // In whatever order its fields come: bytes may differ where nothing does.
    const isOutdated = stored !== this.#resource.storedVersion || !equal(object, parseStored(entry.json));
    return { entry, object, isOutdated };
  }

  /** `object`: converted to this version. */
  #finish({ entry, object, isOutdated }: ParsedEntry): Entry {
    if (storedVersionOf(entry.json) !== this.#version) this.#rules().prune(object);
    return new TranslatedEntry(entry, toStoredJson(object), isOutdated);
  }

  #apiVersionOf(version: string): string {
    return this.#apiVersion.slice(0, -this.#version.length) + version;
  }

  #rules(): VersionSchema {
    const rules = this.#resource.schemaOf(this.#version);
    if (rules === undefined) throw new Error(`${this.definitionName} has no schema of ${this.#version}`);
    return rules;
  }
}

/** Of an object in stored form. */
function storedVersionOf(json: Buffer): string {
  const [, version = ''] = HEAD.exec(json.toString('latin1', 0, MAX_HEAD_BYTES)) ?? [];
  return version;
}

const HEAD = /^\{"kind":"[^"]*","apiVersion":"(?:[^"/]*\/)?([^"]*)"/;
/** Names of a kind, a group and a version are at most this long together. */
const MAX_HEAD_BYTES = 512;

/** An entry is one of a cache that knows its resource. */
const toStoredObject = ({ namespace, name, uid, revision }: Entry, json: Buffer): StoredObject => ({
  ...{ uid, revision, json },
  key: { group: '', resource: '', namespace, name },
});

class TranslatedEntry extends CachedEntry {
  readonly isOutdated: boolean;

  constructor(entry: Entry, json: Buffer, isOutdated: boolean) {
    super(toStoredObject(entry, json), () => ({}));
    this.isOutdated = isOutdated;
  }
}
