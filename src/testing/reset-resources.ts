import type { Api, KubeObject } from './api-requests.ts';

/** A resource whose objects a reset can list and remove. */
export interface Resource {
  /** `/apis/apps/v1` */
  readonly root: string;
  /** `deployments` */
  readonly name: string;
  /** `deployments.apps` */
  readonly qualified: string;
  readonly hasStatus: boolean;
}

interface Discovered {
  readonly resource: string;
  readonly verbs: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
}

interface DiscoveryList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources?: readonly Discovered[] }[];
  }[];
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** The same objects as the events of the core group. */
const TWICE = 'events.events.k8s.io';

/** Those served now, in the version that is preferred. */
export async function findResources(api: Api): Promise<Resource[]> {
  const lists = await Promise.all(
    ['/api', '/apis'].map((path) => api.send<DiscoveryList>('GET', path, { accept: AGGREGATED })),
  );
  const groups = lists.flatMap(({ body }) => body.items ?? []);
  const names = new Set(groups.map(({ metadata }) => metadata?.name ?? ''));
  // Both dialects serve the same objects: storage.k8s.io has those of storage.cluster.io.
  const isTwin = (group: string): boolean =>
    group.endsWith('.cluster.io') && names.has(group.replace(/cluster\.io$/, 'k8s.io'));
  return groups
    .filter(({ metadata }) => !isTwin(metadata?.name ?? ''))
    .flatMap(({ metadata, versions: [preferred] }) => resourcesOf(metadata?.name ?? '', preferred))
    .filter(({ qualified }) => qualified !== TWICE);
}

function resourcesOf(
  group: string,
  preferred: { readonly version: string; readonly resources?: readonly Discovered[] } | undefined,
): Resource[] {
  const root = `${group === '' ? '/api' : `/apis/${group}`}/${preferred?.version ?? ''}`;
  return (preferred?.resources ?? [])
    .filter(({ verbs }) => ['list', 'delete', 'create', 'update'].every((verb) => verbs.includes(verb)))
    .map(({ resource, subresources = [] }) => ({
      ...{ root, name: resource },
      qualified: group === '' ? resource : `${resource}.${group}`,
      hasStatus: subresources.some(({ subresource }) => subresource === 'status'),
    }));
}

/** Path of the collection in which the object is. */
export const collectionOf = ({ root, name }: Resource, { metadata: { namespace } }: KubeObject): string =>
  namespace === undefined ? `${root}/${name}` : `${root}/namespaces/${namespace}/${name}`;

export const pathOf = (resource: Resource, object: KubeObject): string =>
  `${collectionOf(resource, object)}/${encodeURIComponent(object.metadata.name)}`;
