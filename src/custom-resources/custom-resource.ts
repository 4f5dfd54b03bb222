import { createHash } from 'node:crypto';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import type { FieldError } from '../api/status.ts';
import type { CustomResourceDefinition, JSONSchemaProps } from '../api/types/apiextensions/v1.ts';
import type { Decoded } from '../codec/decode.ts';
import { copyJson } from '../object/equality.ts';
import { CUSTOM_TYPE, type CustomDecodeOptions, type CustomVersion } from '../registry/custom.ts';
import { compareVersions } from '../registry/registry.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import type { Store } from '../storage/store.ts';
import { hasDefault, propertyOf } from '../structural/schema-node.ts';
import { getOrAdd } from '../util/get-or-add.ts';
import type { Steps } from '../util/turns.ts';
import { type ConversionParts, toConverter, type WebhookConverter } from './conversion/webhook-converter.ts';
import { toScale } from './custom-scale.ts';
import { statusView, strategyOf } from './custom-strategy.ts';
import { DefinitionSource, type VersionOutline } from './definition-source.ts';
import { toColumns } from './printer-columns.ts';
import { toSelectableFields } from './selectable-fields.ts';
import { type SchemaParts, VersionSchema } from './version-schema.ts';
import {
  type TranslatedResource,
  type TranslatedVersion,
  VersionTranslation,
} from './version-translation.ts';
import { VersionedStore } from './versioned-store.ts';

export interface CustomResourceParts extends SchemaParts {
  readonly conversion: ConversionParts;
}

/**
 * The resource of a definition. Each served version becomes a ResourceDefinition; all share one storage. Schemas are parsed on
 * demand.
 */
export class CustomResource implements TranslatedResource {
  /** `widgets.example.com` */
  readonly name: string;
  /** Equal for states of a definition that are served alike. */
  readonly digest: string;
  readonly source: DefinitionSource;
  readonly storedVersion: string;
  /** Objects may have been stored under an earlier schema. */
  readonly mayBeOutdated: boolean;
  /** Aborts when the definition has changed or is gone: watches end then, so that clients begin again. */
  readonly retired: AbortSignal;
  readonly #retirement = new AbortController();
  /** Undefined: versions differ only in apiVersion. */
  readonly converter: WebhookConverter | undefined;
  readonly #parts: SchemaParts;
  #isEnding: boolean;
  #presetsStatus: boolean | undefined;
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

  /** Takes the state of `next`, a later definition with the same digest. */
  become({ isEnding }: CustomResource): void {
    this.#isEnding = isEnding;
  }

  retire(): void {
    this.#retirement.abort();
  }

  /** The stored version first, which owns the storage, then the others in the definition's order. */
  definitions(): ResourceDefinition[] {
    const served = this.source.versions.filter((version) => version.served === true);
    return served
      .sort((a, b) => Number(b.storage === true) - Number(a.storage === true))
      .map((version) => this.#toDefinition(version));
  }

  get presetsStatus(): boolean {
    if (this.#presetsStatus === undefined) {
      const status = propertyOf(this.source.readSchema(this.storedVersion) ?? {}, 'status');
      this.#presetsStatus = status !== undefined && hasDefault(status);
    }
    return this.#presetsStatus;
  }

  /** Undefined: the version is gone or has no schema. */
  schemaOf(version: string): VersionSchema | undefined {
    const schema = this.source.schemaOf(version);
    if (schema === undefined) return undefined;
    let known = this.#schemas.get(schema);
    if (known === undefined) {
      const keepsUnknown = this.source.definition.spec?.preserveUnknownFields === true;
      const { subresources } = this.source.versions.find(({ name }) => name === version) ?? {};
      known = new VersionSchema(schema, this.#parts, { keepsUnknown, scale: subresources?.scale });
      this.#schemas.set(schema, known);
    }
    return known;
  }

  /** The definition's own warning, or one that recommends the most preferred version that is served and not deprecated. */
  #deprecationOf({ name = '', deprecated, deprecationWarning }: VersionOutline): string | undefined {
    if (deprecated !== true) return undefined;
    const { group = '', names } = this.source.definition.spec ?? {};
    const typeOf = (version: string): string => `${group}/${version} ${names?.kind ?? ''}`;
    const [better] = this.source.versions
      .filter((other) => other.served === true && other.deprecated !== true)
      .map((other) => other.name ?? '')
      .filter((other) => compareVersions(other, name) < 0)
      .sort(compareVersions);
    const advice = better === undefined ? '' : `; use ${typeOf(better)}`;
    return deprecationWarning ?? `${typeOf(name)} is deprecated${advice}`;
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
    const custom = new Version(this, { ...served, fields }, { deprecation: this.#deprecationOf(outline) });
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

/** The generation increases with every change of the spec. */
function digestOf(definition: CustomResourceDefinition): string {
  const { metadata, status } = definition;
  const all = [metadata.name, metadata.uid, String(metadata.generation), status?.acceptedNames];
  return createHash('sha256').update(JSON.stringify(all)).digest('base64url');
}

/** One version of a custom resource, as verbs use it. */
class Version implements CustomVersion {
  readonly definitionName: string;
  readonly digest: string;
  readonly deprecation: string | undefined;
  readonly storedVersion: string;
  readonly #resource: CustomResource;
  readonly #version: string;
  readonly #translation: VersionTranslation;
  readonly #stores = new WeakMap<Store, Store>();

  constructor(
    resource: CustomResource,
    translated: TranslatedVersion,
    { deprecation }: { readonly deprecation: string | undefined },
  ) {
    const { version } = translated;
    this.definitionName = resource.name;
    this.digest = `${resource.digest}/${version}`;
    this.deprecation = deprecation;
    const stored = resource.source.versions.find(({ storage }) => storage === true);
    this.storedVersion = stored?.served === true ? resource.storedVersion : '';
    this.#resource = resource;
    this.#version = version;
    this.#translation = new VersionTranslation(resource, translated);
  }

  get isEnding(): boolean {
    return this.#resource.isEnding;
  }

  schema(): JSONSchemaProps | undefined {
    return this.#resource.source.readSchema(this.#version);
  }

  message(): MessageSchema {
    return this.#schema().message();
  }

  /** The fields at the root of the schema. */
  fieldNames(): readonly string[] {
    return Object.keys(this.#resource.source.schemaOf(this.#version)?.properties ?? {});
  }

  decode(value: JsonObject, { fresh, keepsNulls }: CustomDecodeOptions): Decoded {
    return this.#schema().decode(fresh === true ? value : copyJson(value), keepsNulls);
  }

  validate(object: ApiObject, old: ApiObject | undefined, warn: (text: string) => void): Steps<FieldError[]> {
    return this.#schema().validate(object, old, warn);
  }

  validateStatus(object: ApiObject, old: ApiObject): Steps<FieldError[]> {
    return this.#schema().validateStatus(object, old);
  }

  from(object: ApiObject): ApiObject | Promise<ApiObject> {
    return this.#translation.from(object);
  }

  fromAll(objects: readonly ApiObject[]): readonly ApiObject[] | Promise<readonly ApiObject[]> {
    return this.#translation.fromAll(objects);
  }

  /** The write has succeeded: a failing webhook must not report it as failed. */
  readBack(json: Buffer): Promise<Buffer> {
    return this.#translation.readBack(json).catch(() => json);
  }

  through(store: Store): Store {
    return getOrAdd(this.#stores, store, () => new VersionedStore(store, this.#translation));
  }

  #schema(): VersionSchema {
    const schema = this.#resource.schemaOf(this.#version);
    if (schema === undefined) throw new Error(`${this.definitionName} has no schema of ${this.#version}`);
    return schema;
  }
}
