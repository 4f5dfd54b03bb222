import { askJson } from '../api/ask.ts';
import { type Kind, pathOf } from '../api/load-kinds.ts';
import type { ApiObject, OwnerReference } from '../model/api-object.ts';
import {
  type Candidate,
  dependentsOf,
  type Edge,
  ownersOf,
  type Related,
} from '../model/relation-picture.ts';

/** Owners and dependents of an object. The API has no index for them, so the possible kinds are listed, as metadata alone. */

const OWNABLE: ReadonlySet<string> = new Set([
  ...[
    'pods',
    'replicasets.apps',
    'jobs.batch',
    'controllerrevisions.apps',
    'statefulsets.apps',
    'deployments.apps',
  ],
  ...[
    'daemonsets.apps',
    'cronjobs.batch',
    'endpointslices.discovery.k8s.io',
    'persistentvolumeclaims',
    'services',
  ],
  ...['configmaps', 'secrets', 'ingresses.networking.k8s.io', 'poddisruptionbudgets.policy'],
]);
const MOST_CUSTOM = 30;
const AT_ONCE = 4;
const LIMIT = '1000';
/** A larger picture is unreadable. */
const MOST_SHOWN = 40;
const LONGEST_CHAIN = 6;

const LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const ONE = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

interface Relations {
  readonly nodes: readonly Related[];
  readonly edges: readonly Edge[];
  /** The number of dependents outside the picture. */
  readonly leftOut: number;
}

interface RelationsQuery {
  readonly kind: Kind;
  readonly object: ApiObject;
  readonly kinds: readonly Kind[];
  readonly asOf: string | undefined;
  readonly signal: AbortSignal;
}

export async function readRelations(query: RelationsQuery): Promise<Relations> {
  const here: Related = { ...toRelated(query.kind, query.object), isHere: true };
  const [owners, candidates] = await Promise.all([readOwners(query), readCandidates(query)]);
  const dependents = dependentsOf(query.object.metadata.uid, candidates);
  const shown = dependents.slice(0, MOST_SHOWN);
  return {
    nodes: [here, ...owners.nodes, ...shown.map(({ object, ...of }) => toRelated(of, object))],
    edges: [
      ...owners.edges,
      ...shown.flatMap(({ object }) =>
        ownersOf(object).map(({ uid }) => ({ owner: uid, dependent: object.metadata.uid })),
      ),
    ],
    leftOut: dependents.length - shown.length,
  };
}

const toRelated = (
  kind: { kind: string } & ({ id: string } | { resource: string }),
  { metadata }: ApiObject,
): Related => ({
  key: metadata.uid,
  kind: kind.kind,
  name: metadata.name,
  namespace: metadata.namespace ?? '',
  resource: 'id' in kind ? kind.id : kind.resource,
  isHere: false,
});

async function readOwners({
  object,
  kinds,
  asOf,
  signal,
}: RelationsQuery): Promise<Pick<Relations, 'nodes' | 'edges'>> {
  const nodes = new Map<string, Related>();
  const edges: Edge[] = [];
  const namespace = object.metadata.namespace ?? '';
  let dependents = [object];
  for (let depth = 0; depth < LONGEST_CHAIN && dependents.length > 0; depth++) {
    const next: ApiObject[] = [];
    for (const dependent of dependents) {
      for (const reference of ownersOf(dependent)) {
        edges.push({ owner: reference.uid, dependent: dependent.metadata.uid });
        if (nodes.has(reference.uid) || reference.uid === object.metadata.uid) continue;
        const kind = kindOfReference(kinds, reference);
        const owner = kind && (await readOne(kind, namespace, { reference, asOf, signal }));
        const resource = owner === undefined ? '' : (kind?.id ?? '');
        const { name } = reference;
        nodes.set(reference.uid, {
          ...{ key: reference.uid, kind: reference.kind, name, resource, isHere: false },
          namespace: kind?.isNamespaced === false ? '' : namespace,
        });
        if (owner !== undefined) next.push(owner);
      }
    }
    dependents = next;
  }
  return { nodes: [...nodes.values()], edges };
}

function kindOfReference(kinds: readonly Kind[], { apiVersion, kind }: OwnerReference): Kind | undefined {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  return kinds.find((one) => one.kind === kind && one.group === group);
}

/** Undefined: the object is gone, unreadable, or a different one of the same name. */
async function readOne(
  kind: Kind,
  namespace: string,
  { reference, asOf, signal }: { reference: OwnerReference; asOf: string | undefined; signal: AbortSignal },
): Promise<ApiObject | undefined> {
  const path = pathOf(kind, namespace, reference.name);
  const found = await askJson<ApiObject>(path, { accept: ONE, query: { asOf }, signal }).catch(
    () => undefined,
  );
  return found?.metadata.uid === reference.uid ? found : undefined;
}

async function readCandidates({ kind, object, kinds, asOf, signal }: RelationsQuery): Promise<Candidate[]> {
  const custom = kinds.filter(({ isCustom }) => isCustom).slice(0, MOST_CUSTOM);
  const wanted = [...kinds.filter(({ id }) => OWNABLE.has(id)), ...custom].filter(
    ({ isNamespaced }) => isNamespaced || !kind.isNamespaced,
  );
  const found: Candidate[] = [];
  const work = async (): Promise<void> => {
    for (let next = wanted.pop(); next !== undefined && !signal.aborted; next = wanted.pop()) {
      const { id: resource, kind: name } = next;
      const path = pathOf(next, object.metadata.namespace);
      // Kinds that the user may not list are left out.
      const list = await askJson<{ items: readonly ApiObject[] }>(path, {
        accept: LIST,
        query: { asOf, limit: LIMIT },
        signal,
      }).catch(() => undefined);
      for (const one of list?.items ?? []) found.push({ resource, kind: name, object: one });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}
