import type { AdmissionAttributes, AdmissionPlugin } from '../../src/admission/admission.ts';
import { type ClusterObjects, FollowedObjects } from '../../src/admission/cluster-objects.ts';
import type { FormOf } from '../../src/admission/policies/bindings.ts';
import { kindOf } from '../../src/admission/request-form.ts';
import type { GroupResource, ResourceOf } from '../../src/api/names.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { StatusError } from '../../src/api/status.ts';
import { CachedEntry } from '../../src/storage/cached-entry.ts';
import { toRevision } from '../../src/storage/revision.ts';
import { BUILT_IN_RESOURCES } from './built-in-resources.ts';

/** A manifest as a plugin finds it: with an object for metadata, also where the test has none. */
export const toObject = (manifest: JsonObject): ApiObject => ({
  kind: '',
  apiVersion: 'v1',
  ...manifest,
  metadata: { name: 'it', ...(manifest.metadata as JsonObject | undefined) },
});

/** What plugins see of a cluster that consists of these objects, by resource. `find` is up to date at once. */
export class FakeCluster implements ClusterObjects {
  readonly #objects: ReadonlyMap<string, readonly ApiObject[]>;

  constructor(objects: Readonly<Record<string, readonly JsonObject[]>> = {}) {
    this.#objects = new Map(
      Object.entries(objects).map(([resource, manifests]) => [resource, manifests.map(toObject)]),
    );
  }

  follow<T extends ApiObject>({ group, resource }: ResourceOf<T>): FollowedObjects<T> {
    const followed = new FollowedObjects<T>();
    const objects = this.#objects.get(resource) ?? [];
    followed.replace(objects.map((object) => toEntry({ group, resource }, object)));
    return followed;
  }

  async find<T extends ApiObject>(
    { resource }: ResourceOf<T>,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    const found = this.#objects
      .get(resource)
      ?.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace);
    return found as T | undefined;
  }
}

function toEntry(resource: GroupResource, object: ApiObject): CachedEntry {
  const { name = '', namespace = '', uid = '' } = object.metadata;
  const stored = {
    key: { ...resource, namespace, name },
    uid,
    revision: toRevision(1),
    json: Buffer.from(JSON.stringify(object)),
  };
  return new CachedEntry(stored, () => ({}));
}

/** The plugin that a description makes, with its feature gate on. */
export function pluginFrom<Parts>(
  { create, name }: { create: (parts: Parts) => AdmissionPlugin | undefined; name: string },
  parts: Parts,
): AdmissionPlugin {
  const plugin = create(parts);
  if (plugin === undefined) throw new Error(`${name} is off`);
  return plugin;
}

/** A write as plugins see it; `resource` is one of the core group unless it names another: `apps/deployments`. */
export function attributesOf(
  resource: string,
  attributes: Partial<AdmissionAttributes> & {
    readonly warnings?: string[];
    readonly annotations?: Record<string, string>;
  },
): AdmissionAttributes {
  const [group, plural] = resource.includes('/') ? resource.split('/') : ['', resource];
  const definition = BUILT_IN_RESOURCES.find((one) => one.group === group && one.resource === plural);
  if (definition === undefined) throw new Error(`no resource ${resource}`);
  const { metadata } = attributes.object ?? attributes.old ?? toObject({});
  return {
    operation: 'CREATE',
    definition,
    version: definition.storage.version,
    subresource: '',
    namespace: definition.namespaced ? (metadata.namespace ?? 'default') : '',
    name: metadata.name ?? '',
    object: undefined,
    old: undefined,
    dryRun: false,
    user: { username: 'jane', uid: '', groups: [], extra: {} },
    warn: (text) => attributes.warnings?.push(text),
    annotate: (key, value) => {
      if (attributes.annotations !== undefined) attributes.annotations[key] ??= value;
    },
    ...attributes,
  };
}

/** The form of a policy that matched the resource under another group and version, of the same content. */
export const namedForm: FormOf = ({ definition, subresource }, { group, version }) => {
  const served = {
    definition: { ...definition, group },
    version: { version, type: definition.storage.type, enabledByDefault: true },
  };
  return { served, kind: kindOf(served, subresource) };
};

/** Both halves of a plugin, one after the other. Answers the message of its refusal; undefined: it let the write pass. */
export async function refusalOf(
  plugin: AdmissionPlugin,
  attributes: AdmissionAttributes,
): Promise<string | undefined> {
  if (!plugin.operations.includes(attributes.operation)) return undefined;
  try {
    await plugin.mutate?.(attributes);
    await plugin.validate?.(attributes);
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error.status.message;
    throw error;
  }
}
