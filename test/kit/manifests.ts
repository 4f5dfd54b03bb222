import type { Minor } from '../../src/api/emulation.ts';
import { defaultGates, type Gates, gatesOf } from '../../src/api/feature-gates.ts';
import { loadTypes, type TypeLibrary } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { validateObjectMetaUpdate } from '../../src/object/validate-metadata.ts';
import { GatedFields } from '../../src/registry/gated-fields.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import type { UserInfo } from '../../src/request/api-request.ts';
import { validateObject, validateUpdate } from '../../src/verbs/writing/prepare-write.ts';

/** Manifests through a resource's strategy in the order of a real write, without a server and a database. */

const usualTypes = loadTypes();

/** Features that are off without a rule of theirs being there; all others are on, so that theirs can be looked at. */
const OFF: ReadonlySet<string> = new Set([
  'JobManagedBy',
  'MaxUnavailableStatefulSet',
  'RecoverVolumeExpansionFailure',
  'VolumeAttributesClass',
]);
export const gatedFields: GatedFields = new GatedFields((gate) => !OFF.has(gate), usualTypes);

/** Decoded, with the server's part of the metadata. `manifest` needs no kind and no apiVersion. */
function decode(definition: ResourceDefinition, manifest: JsonObject, types: TypeLibrary): ApiObject {
  const { object } = decodeObject(manifest, types.message(definition.storage.type));
  const metadata = { name: 'it', ...(definition.namespaced ? { namespace: 'default' } : {}) };
  return {
    kind: definition.kind,
    apiVersion: 'v1',
    ...object,
    metadata: { ...metadata, ...(object.metadata as JsonObject) },
  };
}

export interface Manifests {
  /** What a create would store: defaults filled in, and reset what callers may not set. */
  created(definition: ResourceDefinition, manifest: JsonObject, user?: UserInfo): ApiObject;
  /** What a create answers: a line `spec.x: Required value` for each cause, sorted; empty when the manifest is good. */
  problemsOnCreate(definition: ResourceDefinition, manifest: JsonObject): string[];
  /** What replacing the object made of `before` by `after` would store. */
  updated(definition: ResourceDefinition, before: JsonObject, after: JsonObject): ApiObject;
  /** What replacing the object made of `before` by `after` answers. */
  problemsOnUpdate(definition: ResourceDefinition, before: JsonObject, after: JsonObject): string[];
  /** What writing a status over another answers, through `status` unless another view is named. */
  problemsOnView(
    definition: ResourceDefinition,
    manifest: JsonObject,
    change: { readonly before: JsonObject; readonly after: JsonObject; readonly view: string | undefined },
  ): string[];
}

/** As a server with these feature gates takes manifests. */
export const manifestsWith = (isOn: Gates, types = usualTypes): Manifests =>
  takeManifests(isOn, new GatedFields(isOn, types), types);

/** The gates of a version by default, except for those that are named. */
export function gatesIn(minor: Minor, given: Readonly<Record<string, boolean>> = {}): Gates {
  const gates = gatesOf(minor);
  const isOn = (name: string): boolean => given[name] ?? gates.get(name)?.on ?? false;
  return Object.assign(isOn, { minor });
}

/** As a server that emulates this version takes them, with its gates by default except for those that are named. */
export const manifestsIn = (minor: Minor, given: Readonly<Record<string, boolean>> = {}): Manifests =>
  manifestsWith(gatesIn(minor, given), typesIn(minor));

const loaded = new Map<Minor, TypeLibrary>();

/** The types of a version, loaded once. */
export function typesIn(minor: Minor): TypeLibrary {
  const types = loaded.get(minor) ?? loadTypes(minor);
  loaded.set(minor, types);
  return types;
}

function takeManifests(isOn: Gates, gated: GatedFields, types: TypeLibrary): Manifests {
  const created: Manifests['created'] = (definition, manifest, user) => {
    const object = decode(definition, manifest, types);
    definition.strategy.defaults?.(object, isOn);
    definition.strategy.assigned?.complete(object, undefined);
    gated.drop(definition, object);
    definition.strategy.prepareForCreate?.(object, user, isOn);
    return object;
  };
  const updated: Manifests['updated'] = (definition, before, after) => {
    const object = decode(definition, after, types);
    definition.strategy.defaults?.(object, isOn);
    const old = created(definition, before);
    definition.strategy.assigned?.complete(object, old);
    gated.drop(definition, object, old);
    definition.strategy.prepareForUpdate?.(object, old, isOn);
    return object;
  };
  return {
    created,
    updated,
    problemsOnCreate: (definition, manifest) => {
      const object = created(definition, manifest);
      return lines([
        ...validateObject(definition, object, types, { isOn }),
        ...(definition.strategy.validateCreate?.(object, undefined, isOn) ?? []),
      ]);
    },
    problemsOnUpdate: (definition, before, after) => {
      const old = created(definition, before);
      const object = updated(definition, before, after);
      return lines([
        ...validateObject(definition, object, types, { isOn }),
        ...validateObjectMetaUpdate(object.metadata, old.metadata),
        ...validateUpdate(definition, object, { old, types, isOn }),
      ]);
    },
    problemsOnView: (definition, manifest, change) => {
      const name = change.view ?? 'status';
      const view = definition.subresources.find((subresource) => subresource.name === name);
      if (view?.access !== 'view') throw new Error(`${definition.resource} has no view ${name}`);
      const old = { ...created(definition, manifest), status: change.before };
      const written = { ...structuredClone(old), status: change.after };
      const object = view.write(structuredClone(written), structuredClone(old));
      gated.drop(definition, object, old);
      return lines([
        ...validateObject(definition, object, types, { isOn }),
        ...validateObjectMetaUpdate(object.metadata, old.metadata),
        ...(view.validate?.(object, old, isOn) ?? []),
      ]);
    },
  };
}

export const { created, updated, problemsOnCreate, problemsOnUpdate, problemsOnView } = takeManifests(
  defaultGates,
  gatedFields,
  usualTypes,
);

const lines = (errors: readonly { field: string; message: string }[]): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`).sort();
