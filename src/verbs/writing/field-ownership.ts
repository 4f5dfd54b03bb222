import type { TypeLibrary } from '../../api/idl/types.ts';
import { toApiVersion } from '../../api/names.ts';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { MessageSchema } from '../../api/schema.ts';
import { setOf } from '../../object/managed-fields/field-set.ts';
import { shapeOfMessage } from '../../object/managed-fields/shape.ts';
import {
  type Converted,
  type OwnedVersion,
  trackInSteps,
  type Writing,
  withoutOwners,
} from '../../object/managed-fields/track.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import { messageOf } from '../../registry/custom.ts';
import type { Registry, ServedResource } from '../../registry/registry.ts';
import type { ResourceDefinition, ServedVersion } from '../../registry/resource-definition.ts';
import type { Steps } from '../../util/turns.ts';
import type { WriteCall } from './write-call.ts';

/** Tracks the ownership of fields in each write: versions, resets, names. */
export class Ownership {
  readonly #types: TypeLibrary;
  readonly #registry: Registry;
  readonly #now: () => Date;
  readonly #versions = new WeakMap<ServedVersion, OwnedVersion>();

  constructor(options: { types: TypeLibrary; registry: Registry; now: () => Date }) {
    this.#types = options.types;
    this.#registry = options.registry;
    this.#now = options.now;
  }

  /** `object` and `old` are in the stored form. */
  track(call: WriteCall, object: ApiObject, old: ApiObject | undefined): Steps<void> {
    return trackInSteps(object, old, this.describe(call));
  }

  /** Records the author as the owner of a posted body that is not stored: it has one version, and is not its resource's type. */
  trackBody({ subresource, author }: WriteCall, body: ApiObject, type: MessageSchema): Steps<void> {
    const { apiVersion } = body;
    return trackInSteps(body, undefined, {
      manager: author.attribution.fieldManager,
      subresource,
      version: { apiVersion, shape: shapeOfMessage(type), convert: same, convertBack: same, isTyped: true },
      reset: NO_RESETS,
      findVersion: () => undefined,
      now: toTimestamp(this.#now()),
    });
  }

  describe({ definition, version, subresource, author }: WriteCall): Writing {
    const view = definition.subresources.find(({ name }) => name === subresource);
    const resets = view?.access === 'view' ? view.resetFields : definition.strategy.resetFields;
    const apiVersion = toApiVersion({ group: definition.group, version });
    return {
      manager: author.attribution.fieldManager,
      subresource,
      version: this.#find(apiVersion, definition) ?? unknownVersion(apiVersion),
      reset: resets === undefined ? NO_RESETS : toSet(resets),
      findVersion: (other) => this.#find(other, definition),
      now: toTimestamp(this.#now()),
    };
  }

  #find(apiVersion: string, definition: ResourceDefinition): OwnedVersion | undefined {
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const served =
      this.#registry.find(group, version, definition.resource) ?? unserved(definition, group, version);
    if (served === undefined) return undefined;
    // Not cached for a custom resource, so that it is freed with its schema.
    if (served.definition.custom !== undefined) return this.#toOwned(apiVersion, served);
    let owned = this.#versions.get(served.version);
    if (owned === undefined) {
      owned = this.#toOwned(apiVersion, served);
      this.#versions.set(served.version, owned);
    }
    return owned;
  }

  #toOwned(apiVersion: string, { definition, version: { type, conversion } }: ServedResource): OwnedVersion {
    const { custom } = definition;
    const shape = shapeOfMessage(messageOf(definition, type, this.#types));
    if (custom !== undefined) {
      const convert = (objects: readonly JsonObject[]): Converted => {
        if (objects.every((object) => object.apiVersion === apiVersion)) return objects;
        // Conversion does not need managed fields, which may be half of the bytes.
        return custom.fromAll(objects.map((object) => withoutOwners(object as ApiObject)));
      };
      return { apiVersion, shape, convert, convertBack: same };
    }
    if (conversion === undefined)
      return { apiVersion, shape, convert: same, convertBack: same, isTyped: true };
    const stored = toApiVersion(definition.storage);
    const toVersion = (one: JsonObject) => ({ ...conversion.fromStorage(one as ApiObject), apiVersion });
    const toStored = (one: JsonObject) => ({
      ...conversion.toStorage(one as ApiObject),
      apiVersion: stored,
    });
    return {
      apiVersion,
      shape,
      isTyped: true,
      convert: (objects) => objects.map(toVersion),
      convertBack: (objects) => objects.map(toStored),
    };
  }
}

const same = (objects: readonly JsonObject[]): readonly JsonObject[] => objects;
const NO_RESETS = setOf();

const sets = new WeakMap<object, ReturnType<typeof setOf>>();

function toSet(paths: readonly (readonly string[])[]): ReturnType<typeof setOf> {
  let set = sets.get(paths);
  if (set === undefined) {
    set = setOf(...paths);
    sets.set(paths, set);
  }
  return set;
}

/** The server's own parts write in the stored version of a resource, even if --runtime-config disables it. */
function unserved(
  definition: ResourceDefinition,
  group: string,
  version: string,
): ServedResource | undefined {
  if (definition.custom !== undefined || definition.group !== group) return undefined;
  const known = definition.versions.find((one) => one.version === version);
  return known === undefined ? undefined : { definition, version: known };
}

function unknownVersion(apiVersion: string): never {
  throw new Error(`${apiVersion} is written, and no version of the resource`);
}
