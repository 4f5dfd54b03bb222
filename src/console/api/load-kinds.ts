import { askJson } from './ask.ts';

/** The kinds that the server serves, from its aggregated discovery. */
export interface Kind {
  /** `pods`, `deployments.apps`: the form in addresses. */
  readonly id: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly isNamespaced: boolean;
  readonly canWatch: boolean;
  readonly isCustom: boolean;
}

interface DiscoveryList {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string; readonly group?: string };
        readonly scope: 'Namespaced' | 'Cluster';
        readonly verbs: readonly string[];
        readonly shortNames?: readonly string[];
      }[];
    }[];
  }[];
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** @throws ApiError */
export async function loadKinds(): Promise<Kind[]> {
  const [core, named] = await Promise.all(
    ['api', 'apis'].map((path) => askJson<DiscoveryList>(path, { accept: AGGREGATED })),
  );
  const items = [...(core?.items ?? []), ...(named?.items ?? [])];
  const groups = new Set(items.map(({ metadata }) => metadata.name ?? ''));
  const found = new Map<string, Kind>();
  for (const { metadata, versions } of items) {
    const group = metadata.name ?? '';
    // The same group under its other name.
    if (group.endsWith('.cluster.io') && groups.has(twinOf(group))) continue;
    for (const { version, resources = [] } of versions) {
      for (const { resource, responseKind, scope, verbs, shortNames = [] } of resources) {
        const id = group === '' ? resource : `${resource}.${group}`;
        // The first version of a group is the preferred one.
        if (!verbs.includes('list') || found.has(id)) continue;
        found.set(id, {
          ...{ id, group, version, shortNames, plural: resource, kind: responseKind?.kind ?? resource },
          isNamespaced: scope === 'Namespaced',
          canWatch: verbs.includes('watch'),
          isCustom: group.includes('.') && !/\.(k8s|cluster)\.io$/.test(group),
        });
      }
    }
  }
  return [...found.values()];
}

const twinOf = (group: string): string => group.replace(/cluster\.io$/, 'k8s.io');

/** The path of all objects of a kind, of a namespace's, or of one. */
export function pathOf({ group, version, plural, isNamespaced }: Kind, namespace = '', name = ''): string {
  const root = group === '' ? `api/${version}` : `apis/${group}/${version}`;
  const where = isNamespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${where}/${plural}${name === '' ? '' : `/${encodeURIComponent(name)}`}`;
}

/** `Pods`, `NetworkPolicies`: the kind with the server's plural ending. */
export function pluralOf({ kind, plural }: Kind): string {
  let same = 0;
  while (same < plural.length && kind[same]?.toLowerCase() === plural[same]) same++;
  return same < kind.length - 2 ? kind : kind.slice(0, same) + plural.slice(same);
}

interface Section {
  readonly title: string;
  readonly kinds: readonly Kind[];
}

/** Sections of the most used kinds, in order; others follow by group. */
const USUAL: readonly (readonly [string, string])[] = [
  [
    'Workloads',
    'pods deployments.apps statefulsets.apps daemonsets.apps jobs.batch cronjobs.batch replicasets.apps replicationcontrollers horizontalpodautoscalers.autoscaling poddisruptionbudgets.policy',
  ],
  [
    'Network',
    'services ingresses.networking.k8s.io endpointslices.discovery.k8s.io endpoints networkpolicies.networking.k8s.io ingressclasses.networking.k8s.io',
  ],
  ['Configuration', 'configmaps secrets resourcequotas limitranges'],
  ['Storage', 'persistentvolumeclaims persistentvolumes storageclasses.storage.k8s.io'],
  [
    'Cluster',
    'namespaces nodes events leases.coordination.k8s.io customresourcedefinitions.apiextensions.k8s.io',
  ],
  [
    'Access',
    'serviceaccounts roles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io clusterrolebindings.rbac.authorization.k8s.io',
  ],
];

export const HISTORY_GROUP = 'history.cluster.io';
/** Events of the core group under a second name. */
const HIDDEN: ReadonlySet<string> = new Set(['events.events.k8s.io', 'componentstatuses']);

export function toSections(kinds: readonly Kind[]): Section[] {
  const byId = new Map(kinds.map((kind) => [kind.id, kind]));
  const listed = new Set<string>();
  const usual = USUAL.map(([title, ids]) => {
    const own = ids.split(' ').flatMap((id) => byId.get(id) ?? []);
    for (const { id } of own) listed.add(id);
    return { title, kinds: own };
  });
  const rest = kinds.filter(({ id, group }) => !listed.has(id) && !HIDDEN.has(id) && group !== HISTORY_GROUP);
  const custom = Map.groupBy(
    rest.filter(({ isCustom }) => isCustom),
    ({ group }) => group,
  );
  return [
    ...usual,
    ...[...custom].map(([title, own]) => ({ title, kinds: own })),
    { title: 'Other', kinds: rest.filter(({ isCustom }) => !isCustom) },
  ].filter(({ kinds: own }) => own.length > 0);
}
