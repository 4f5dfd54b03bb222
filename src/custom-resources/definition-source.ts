import { LRUCache } from 'lru-cache';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  JSONSchemaProps,
} from '../api/types/apiextensions/v1.ts';
import { cutObjects } from '../codec/cut-objects.ts';
import { parseStored } from '../codec/stored-object.ts';
import { getOrAdd } from '../util/get-or-add.ts';

/** A version of a definition without its schema, which is nearly all of its bytes. */
export type VersionOutline = Omit<CustomResourceDefinitionVersion, 'schema'>;

/** Parsed schemas by version. */
type Schemas = ReadonlyMap<string, JSONSchemaProps>;

/**
 * Recently used schemas of all definitions, parsed. A parsed schema takes about four times its bytes, and a cluster has a
 * thousand definitions of which it uses a few; an evicted schema is parsed again from the definition's stored bytes. Compiled
 * forms of a schema are evicted with it.
 */
const recent = new LRUCache<Buffer, Schemas>({
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: (_, json) => json.length,
  ttl: 10 * 60 * 1000,
  updateAgeOnGet: true,
});

/** A stored definition: parses its outline at once, and its schemas on demand. */
export class DefinitionSource {
  readonly definition: CustomResourceDefinition;
  readonly versions: readonly VersionOutline[];
  readonly #json: Buffer;

  constructor(json: Buffer) {
    this.#json = json;
    const { spec = {}, ...rest } = parseStored<CustomResourceDefinition>(cutObjects(json, 'openAPIV3Schema'));
    this.versions = (spec.versions ?? []).map(({ schema: _, ...outline }) => outline);
    this.definition = { ...rest, spec: { ...spec, versions: [] } };
  }

  /** Undefined: the version is missing or has no schema. */
  schemaOf(version: string): JSONSchemaProps | undefined {
    const schemas = getOrAdd(recent, this.#json, () => parseSchemas(this.#json));
    return schemas.get(version);
  }

  /** Reads a schema without caching it: publishing a thousand definitions would evict those in use. */
  readSchema(version: string): JSONSchemaProps | undefined {
    return (recent.peek(this.#json) ?? parseSchemas(this.#json)).get(version);
  }
}

function parseSchemas(json: Buffer): Schemas {
  const { spec } = parseStored<CustomResourceDefinition>(json);
  const schemas = new Map<string, JSONSchemaProps>();
  for (const { name = '', schema } of spec?.versions ?? [])
    if (schema?.openAPIV3Schema !== undefined) schemas.set(name, schema.openAPIV3Schema);
  return schemas;
}
