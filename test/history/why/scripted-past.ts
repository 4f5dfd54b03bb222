import type { JsonObject } from '../../../src/api/json.ts';
import type { GroupResource } from '../../../src/api/names.ts';
import { type Explained, explain } from '../../../src/history/why/explain.ts';
import type { KnownResource, Past, PastWrite, Stretch } from '../../../src/history/why/past.ts';
import { isObject } from '../../../src/object/json-values.ts';
import type { ObjectKey } from '../../../src/storage/key.ts';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';

type Explaining = Parameters<typeof explain>[1];

const CLUSTER = new Set(['Namespace', 'Node', 'PersistentVolume', 'ClusterRole']);

const KINDS: Readonly<Record<string, KnownResource>> = Object.fromEntries(
  [
    ['', 'Pod', 'pods'],
    ['', 'Service', 'services'],
    ['', 'ServiceAccount', 'serviceaccounts'],
    ['', 'ConfigMap', 'configmaps'],
    ['', 'Secret', 'secrets'],
    ['', 'PersistentVolumeClaim', 'persistentvolumeclaims'],
    ['', 'ResourceQuota', 'resourcequotas'],
    ['', 'Event', 'events'],
    ['', 'Namespace', 'namespaces'],
    ['', 'Node', 'nodes'],
    ['', 'PersistentVolume', 'persistentvolumes'],
    ['apps', 'Deployment', 'deployments'],
    ['apps', 'ReplicaSet', 'replicasets'],
    ['apps', 'StatefulSet', 'statefulsets'],
    ['apps', 'DaemonSet', 'daemonsets'],
    ['apps', 'ControllerRevision', 'controllerrevisions'],
    ['batch', 'Job', 'jobs'],
    ['batch', 'CronJob', 'cronjobs'],
    ['autoscaling', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'],
    ['discovery.k8s.io', 'EndpointSlice', 'endpointslices'],
    ['rbac.authorization.k8s.io', 'ClusterRole', 'clusterroles'],
    ['coordination.k8s.io', 'Lease', 'leases'],
    ['example.com', 'Widget', 'widgets'],
  ].map(([group = '', kind = '', resource = '']) => [
    `${group}/${kind}`,
    { resource: { group, resource }, namespaced: !CLUSTER.has(kind) },
  ]),
);

/** An author of writes. */
export interface Author {
  readonly user: string;
  readonly userAgent: string;
  readonly manager: string;
}

export const person = (name: string): Author => ({
  user: name,
  userAgent: 'kubectl/v1.31.0 (linux/amd64) kubernetes/9edcffc',
  manager: 'kubectl-client-side-apply',
});

export const controller = (name: string): Author => ({
  user: `system:serviceaccount:kube-system:${name}`,
  userAgent: `kube-controller-manager/v1.31.0 (linux/amd64) kubernetes/9edcffc/system:serviceaccount:kube-system:${name}`,
  manager: 'kube-controller-manager',
});

export const SCHEDULER: Author = {
  user: 'system:kube-scheduler',
  userAgent: 'kube-scheduler/v1.31.0 (linux/amd64) kubernetes/9edcffc/scheduler',
  manager: 'kube-scheduler',
};

export const kubelet = (node: string): Author => ({
  user: `system:node:${node}`,
  userAgent: 'kubelet/v1.31.0 (linux/amd64) kubernetes/9edcffc',
  manager: 'kubelet',
});

export const operator = (name: string): Author => ({
  user: `system:serviceaccount:${name}:${name}`,
  userAgent: `${name}/v1.0.0 (linux/amd64) kubernetes/$Format`,
  manager: name,
});

/** What a test says of an object. Names are in `default` unless it says otherwise. */
export interface Spoken extends JsonObject {
  kind: string;
  metadata: JsonObject & { name: string };
}

/** What a test says of a write besides. */
interface Said {
  /** By the clock of the server. */
  readonly atMs?: number;
  readonly requestId?: string;
}

/** How much may be read of a script. */
interface Reach {
  /** Rows of a reading. */
  readonly rows: number;
  /** The first revision that is kept. */
  readonly from: Revision;
}

/** A log that a test writes line by line, and that rules read as they read the real one. */
export class Script {
  readonly writes: PastWrite[] = [];
  /** Rows that explanations took. */
  taken = 0;
  #uids = 0;
  #at = Date.UTC(2026, 0, 31);
  readonly #last = new Map<string, Revision>();
  readonly #current = new Map<string, { readonly uid: string; readonly state: JsonObject }>();

  /** Writes the object as it is now to be: a create where nothing has its name. */
  put(author: Author, object: Spoken, from: Said = {}): PastWrite {
    const key = keyOf(object);
    const before = this.#current.get(JSON.stringify(key));
    const uid = before?.uid ?? this.#nextUid();
    const generation = this.#generationOf(before?.state, object);
    const state = {
      ...object,
      metadata: { namespace: key.namespace, uid, generation, ...object.metadata },
    };
    this.#current.set(JSON.stringify(key), { uid, state });
    const verb = before === undefined ? 'create' : 'update';
    return this.#add(author, { verb, key, uid, was: before?.state, is: state }, from);
  }

  /** Changes the object that is there. */
  change(author: Author, object: Pick<PastWrite, 'key'>, fields: JsonObject): PastWrite {
    const { state } = this.#current.get(JSON.stringify(object.key)) ?? {};
    return this.put(author, merge(state ?? {}, fields) as Spoken);
  }

  remove(author: Author, { key }: Pick<PastWrite, 'key'>): PastWrite {
    const before = this.#current.get(JSON.stringify(key));
    this.#current.delete(JSON.stringify(key));
    return this.#add(author, {
      verb: 'delete',
      key,
      uid: before?.uid ?? '',
      was: before?.state,
      is: before?.state,
    });
  }

  past({ rows, from }: Reach = { rows: 500, from: toRevision(0) }): Past {
    const newest = (test: (write: PastWrite) => boolean, { before, after = toRevision(0) }: Stretch) =>
      this.#take(
        this.writes
          .filter(({ revision }) => revision < before && revision > after && revision >= from)
          .filter(test)
          .toReversed()
          .slice(0, rows),
      );
    return {
      ofName: (key, stretch) => newest((write) => isSame(write.key, key), stretch),
      ofResource: ({ group, resource }, namespace, stretch) =>
        newest(({ key }) => isSame(key, { group, resource, namespace, name: key.name }), stretch),
      ofAuthor: (user, namespace, stretch) =>
        newest((write) => write.user === user && write.key.namespace === namespace, stretch),
      find: ({ group, kind }) => KINDS[`${group}/${kind}`],
      beyond: () => `older than the history that is kept, which begins with revision ${from}`,
    };
  }

  /** Why a write was made. */
  why(write: PastWrite, explaining: Partial<Explaining> = {}): Promise<Explained> {
    return explain(write, { past: () => this.past(), mayRead: async () => true, ...explaining });
  }

  async *#take(writes: readonly PastWrite[]): AsyncGenerator<PastWrite> {
    for (const write of writes) {
      this.taken += 1;
      yield write;
    }
  }

  #add(
    author: Author,
    write: Pick<PastWrite, 'verb' | 'key' | 'uid' | 'was' | 'is'>,
    { atMs, requestId }: Said = {},
  ): PastWrite {
    this.#at += 10;
    const revision = toRevision(this.writes.length + 101);
    const row = {
      ...author,
      ...write,
      revision,
      at: new Date(atMs ?? this.#at),
      requestId: requestId ?? `request-${revision}`,
      ...(write.was === undefined ? {} : { previous: this.#last.get(JSON.stringify(write.key)) }),
    };
    this.#last.set(JSON.stringify(write.key), revision);
    this.writes.push(row);
    return row;
  }

  #nextUid(): string {
    this.#uids += 1;
    return `uid-${this.#uids}`;
  }

  #generationOf(before: JsonObject | undefined, object: Spoken): number {
    const { generation } = isObject(before?.metadata) ? before.metadata : { generation: 0 };
    const isSameSpec = JSON.stringify(before?.spec) === JSON.stringify(object.spec);
    return Number(generation) + (isSameSpec && before !== undefined ? 0 : 1);
  }
}

function keyOf({ kind, metadata: { name, namespace }, apiVersion }: Spoken): ObjectKey {
  const [group = ''] = String(apiVersion ?? '').includes('/') ? String(apiVersion).split('/') : [''];
  const { resource, namespaced } = KINDS[`${group}/${kind}`] ?? missing(kind);
  return { ...resource, name, namespace: namespaced ? String(namespace ?? 'default') : '' };
}

function missing(kind: string): never {
  throw new Error(`no test knows the kind ${kind}`);
}

const isSame = (a: ObjectKey, b: GroupResource & { namespace: string; name: string }): boolean =>
  a.group === b.group && a.resource === b.resource && a.namespace === b.namespace && a.name === b.name;

/** A merge patch, without null. */
function merge(state: JsonObject, fields: JsonObject): JsonObject {
  const merged = { ...state };
  for (const [name, value] of Object.entries(fields)) {
    const there = merged[name];
    merged[name] = isObject(there) && isObject(value) ? merge(there, value) : value;
  }
  return merged;
}

/** An owner reference of the controller of an object. */
export const controlledBy = ({ uid, is }: PastWrite): { ownerReferences: JsonObject[] } => {
  const { apiVersion, kind, metadata } = is ?? {};
  const { name } = isObject(metadata) ? metadata : { name: '' };
  return { ownerReferences: [{ apiVersion, kind, name, uid, controller: true } as JsonObject] };
};

/** The revisions of an explanation with how sure each is. */
export const chainOf = ({ links }: Explained): string[] =>
  links.map(
    ({ write, confidence }) => `${write.revision}${confidence === undefined ? '' : ` ${confidence}`}`,
  );
