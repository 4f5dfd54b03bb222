import { canonicalGroup } from '../../api/dialect.ts';
import { toApiVersion, toQualifiedResource } from '../../api/names.ts';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { isObject } from '../../object/json-values.ts';
import { type ApiClient, ApiError } from './api-client.ts';
import { rankOf } from './import-order.ts';

/** A resource that an API serves and keeps objects of. */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

interface Discovered {
  /** Each resource once, in the order in which their objects are written. */
  readonly resources: readonly ApiResource[];
  /** What is left out, with the reason. */
  readonly leftOut: readonly string[];
}

/** Chooses the version of a resource; undefined: the preferred one of the server. */
type ChooseVersion = (group: string, resource: string, versions: readonly string[]) => string | undefined;

/** Groups whose objects are computed for each request. */
const COMPUTED_GROUPS: ReadonlySet<string> = new Set(['history.cluster.io', 'metrics.k8s.io']);
/** The same objects under another name. */
const OTHER_NAMES: ReadonlySet<string> = new Set(['events.events.k8s.io']);

/** Asks a server for the resources whose objects it keeps itself. @throws ApiError, Error */
export async function discover(
  client: ApiClient,
  choose: ChooseVersion = () => undefined,
): Promise<Discovered> {
  const resources: ApiResource[] = [];
  const leftOut: string[] = [];
  const remote = await findRemoteGroups(client);
  for (const { group, versions } of await listGroups(client)) {
    if (COMPUTED_GROUPS.has(group)) continue;
    if (remote.has(group)) {
      leftOut.push(`${group}: another server keeps its objects, which the API service names`);
      continue;
    }
    const found = await listResources(client, group, versions);
    for (const [name, served] of found) {
      const chosen = choose(group, name, [...served.keys()]);
      const one = served.get(chosen ?? '') ?? served.values().next().value;
      if (one !== undefined && !OTHER_NAMES.has(toQualifiedResource(one))) resources.push(one);
    }
  }
  return { resources: resources.sort((a, b) => rankOf(a) - rankOf(b)), leftOut };
}

/** The path of a resource's objects; of all namespaces where none is given. */
export function pathOf({ group, version, resource, namespaced }: ApiResource, namespace = ''): string {
  const api = `${group === '' ? '/api' : '/apis'}/${toApiVersion({ group, version })}`;
  return namespaced && namespace !== '' ? `${api}/namespaces/${namespace}/${resource}` : `${api}/${resource}`;
}

async function listGroups(
  client: ApiClient,
): Promise<readonly { readonly group: string; readonly versions: readonly string[] }[]> {
  const core = textsOf((await client.get('/api')).versions);
  const { groups } = await client.get('/apis');
  const named = objectsOf(groups).map(({ name, versions, preferredVersion }) => {
    const all = objectsOf(versions).map(({ version }) => String(version));
    const preferred = isObject(preferredVersion) ? String(preferredVersion.version) : '';
    return {
      group: String(name),
      versions: [...all.filter((one) => one === preferred), ...all.filter((one) => one !== preferred)],
    };
  });
  const names = new Set(named.map(({ group }) => group));
  // A server of this kind lists a group by both of its names.
  const once = named.filter(
    ({ group }) => canonicalGroup(group).group === group || !names.has(canonicalGroup(group).group),
  );
  return [{ group: '', versions: core }, ...once];
}

/** By resource, then by version, the preferred one first. */
async function listResources(
  client: ApiClient,
  group: string,
  versions: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, ApiResource>>> {
  const found = new Map<string, Map<string, ApiResource>>();
  for (const version of versions) {
    const path = `${group === '' ? '/api' : '/apis'}/${toApiVersion({ group, version })}`;
    const { resources } = await client.get(path);
    for (const { name, kind, namespaced, verbs } of objectsOf(resources)) {
      const can = textsOf(verbs);
      if (typeof name !== 'string' || name.includes('/')) continue;
      if (!can.includes('list') || !can.includes('create')) continue;
      const known = found.get(name) ?? new Map<string, ApiResource>();
      found.set(name, known);
      const of = { group, version, resource: name, kind: String(kind), namespaced: namespaced === true };
      known.set(version, of);
    }
  }
  return found;
}

async function findRemoteGroups(client: ApiClient): Promise<ReadonlySet<string>> {
  try {
    const { items } = await client.get('/apis/apiregistration.k8s.io/v1/apiservices');
    const remote = objectsOf(items)
      .map(({ spec }) => (isObject(spec) ? spec : {}))
      .filter(({ service }) => isObject(service));
    return new Set(remote.map(({ group }) => String(group)));
  } catch (error) {
    if (error instanceof ApiError && (error.code === 404 || error.code === 403)) return new Set();
    throw error;
  }
}

export const objectsOf = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const textsOf = (value: JsonValue | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
