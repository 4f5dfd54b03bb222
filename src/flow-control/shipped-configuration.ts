import type { Minor } from '../api/emulation.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import { equal, equalExcept } from '../object/equality.ts';
import { parseGoBool } from '../object/go-value.ts';

/** A short notation for the objects below: words separated by blanks. */

export const FLOW_CONTROL_GROUP = 'flowcontrol.apiserver.k8s.io';
/** `true`: the server keeps the shipped spec. `false`: the spec belongs to the operator. */
const AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec';

const words = (text: string): string[] => text.split(' ');

function toObject(kind: string, name: string, spec: JsonObject): ApiObject {
  return {
    kind,
    apiVersion: `${FLOW_CONTROL_GROUP}/v1`,
    metadata: { name, annotations: { [AUTO_UPDATE]: 'true' } },
    spec,
    status: {},
  };
}

/** `queues`: the number of queues, and of queues in a hand. A level without queues refuses requests that get no seat. */
function limitedLevel(
  name: string,
  shares: number,
  lendablePercent: number,
  queues?: readonly [queues: number, handSize: number],
): ApiObject {
  const limitResponse: JsonObject =
    queues === undefined
      ? { type: 'Reject' }
      : { type: 'Queue', queuing: { queues: queues[0], handSize: queues[1], queueLengthLimit: 50 } };
  return toObject('PriorityLevelConfiguration', name, {
    type: 'Limited',
    limited: { nominalConcurrencyShares: shares, limitResponse, lendablePercent },
  });
}

const exemptLevel = (name: string): ApiObject =>
  toObject('PriorityLevelConfiguration', name, {
    type: 'Exempt',
    exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 },
  });

interface SchemaOutline {
  readonly level: string;
  readonly precedence: number;
  readonly distinguisher?: 'ByUser' | 'ByNamespace';
  readonly subjects: readonly JsonObject[];
  readonly resourceRules?: readonly JsonObject[];
  readonly pathRules?: readonly JsonObject[];
}

function flowSchema(name: string, outline: SchemaOutline): ApiObject {
  const { level, precedence, distinguisher, subjects, resourceRules, pathRules } = outline;
  return toObject('FlowSchema', name, {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(distinguisher === undefined ? {} : { distinguisherMethod: { type: distinguisher } }),
    rules: [
      {
        subjects: [...subjects],
        ...(resourceRules === undefined ? {} : { resourceRules: [...resourceRules] }),
        ...(pathRules === undefined ? {} : { nonResourceRules: [...pathRules] }),
      },
    ],
  });
}

const users = (names: string): JsonObject[] => words(names).map((name) => ({ kind: 'User', user: { name } }));

const groups = (names: string): JsonObject[] =>
  words(names).map((name) => ({ kind: 'Group', group: { name } }));

/** `*`: all accounts of the namespace. */
const systemAccounts = (names: string): JsonObject[] =>
  words(names).map((name) => ({
    kind: 'ServiceAccount',
    serviceAccount: { name, namespace: 'kube-system' },
  }));

/** Resources in all namespaces. `core` is the group without a name. */
const resources = (verbs: string, group: string, names: string): JsonObject => ({
  verbs: words(verbs),
  apiGroups: [group === 'core' ? '' : group],
  resources: words(names),
  namespaces: ['*'],
});

/** Resources with and without namespaces. */
const clusterResources = (verbs: string, group: string, names: string): JsonObject => ({
  ...resources(verbs, group, names),
  clusterScope: true,
});

const paths = (verbs: string, urls: string): JsonObject => ({
  verbs: words(verbs),
  nonResourceURLs: words(urls),
});

const EVERYTHING = {
  resourceRules: [clusterResources('*', '*', '*')],
  pathRules: [paths('*', '*')],
} as const;

/**
 * The flow schemas and priority levels of a fresh cluster. The mandatory ones let an administrator in at all
 * times, to repair the others; the suggested ones keep the parts of a cluster from starving each other.
 */
export interface BootstrapObjects {
  readonly levels: readonly ApiObject[];
  readonly schemas: readonly ApiObject[];
}

const EVERYBODY = 'system:unauthenticated system:authenticated';

export const MANDATORY: BootstrapObjects = {
  levels: [limitedLevel('catch-all', 5, 0), exemptLevel('exempt')],
  schemas: [
    flowSchema('exempt', {
      level: 'exempt',
      precedence: 1,
      subjects: groups('system:masters'),
      ...EVERYTHING,
    }),
    flowSchema('catch-all', {
      level: 'catch-all',
      precedence: 10_000,
      distinguisher: 'ByUser',
      subjects: groups(EVERYBODY),
      ...EVERYTHING,
    }),
  ],
};

/** The verbs of leader election. */
const LEAD = 'get create update';
const LEASES = resources(LEAD, 'coordination.k8s.io', 'leases');
const LEADER = { level: 'leader-election', distinguisher: 'ByUser' } as const;
const CONTROLLER = { level: 'workload-high', distinguisher: 'ByNamespace', ...EVERYTHING } as const;

const SUGGESTED: BootstrapObjects = {
  levels: [
    limitedLevel('system', 30, 33, [64, 6]),
    limitedLevel('node-high', 40, 25, [64, 6]),
    limitedLevel('leader-election', 10, 0, [16, 4]),
    limitedLevel('workload-high', 40, 50, [128, 6]),
    limitedLevel('workload-low', 100, 90, [128, 6]),
    limitedLevel('global-default', 20, 50, [128, 6]),
  ],
  schemas: [
    flowSchema('probes', {
      level: 'exempt',
      precedence: 2,
      subjects: groups(EVERYBODY),
      pathRules: [paths('get', '/healthz /readyz /livez')],
    }),
    flowSchema('system-leader-election', {
      ...LEADER,
      precedence: 100,
      subjects: [...users('system:kube-controller-manager system:kube-scheduler'), ...systemAccounts('*')],
      resourceRules: [LEASES],
    }),
    flowSchema('endpoint-controller', {
      level: 'workload-high',
      precedence: 150,
      distinguisher: 'ByUser',
      subjects: [
        ...users('system:kube-controller-manager'),
        ...systemAccounts('endpoint-controller endpointslicemirroring-controller'),
      ],
      resourceRules: [resources(LEAD, 'core', 'endpoints')],
    }),
    flowSchema('workload-leader-election', {
      ...LEADER,
      precedence: 200,
      subjects: systemAccounts('*'),
      resourceRules: [resources(LEAD, 'core', 'endpoints configmaps'), LEASES],
    }),
    flowSchema('system-node-high', {
      level: 'node-high',
      precedence: 400,
      distinguisher: 'ByUser',
      subjects: groups('system:nodes'),
      resourceRules: [
        clusterResources('*', 'core', 'nodes nodes/status'),
        resources('*', 'coordination.k8s.io', 'leases'),
      ],
    }),
    flowSchema('system-nodes', {
      level: 'system',
      precedence: 500,
      distinguisher: 'ByUser',
      subjects: groups('system:nodes'),
      ...EVERYTHING,
    }),
    flowSchema('kube-controller-manager', {
      ...CONTROLLER,
      precedence: 800,
      subjects: users('system:kube-controller-manager'),
    }),
    flowSchema('kube-scheduler', {
      ...CONTROLLER,
      precedence: 800,
      subjects: users('system:kube-scheduler'),
    }),
    flowSchema('kube-system-service-accounts', {
      ...CONTROLLER,
      precedence: 900,
      subjects: systemAccounts('*'),
    }),
    flowSchema('service-accounts', {
      level: 'workload-low',
      precedence: 9000,
      distinguisher: 'ByUser',
      subjects: groups('system:serviceaccounts'),
      ...EVERYTHING,
    }),
    flowSchema('global-default', {
      level: 'global-default',
      precedence: 9900,
      distinguisher: 'ByUser',
      subjects: groups(EVERYBODY),
      ...EVERYTHING,
    }),
  ],
};

/** Schemas for leader election with other objects than leases, which Kubernetes dropped with 1.34. */
const BEFORE_1_34: readonly string[] = ['endpoint-controller', 'workload-leader-election'];

/** The suggested objects as a version of Kubernetes has them. */
export const suggestedIn = (minor: Minor): BootstrapObjects =>
  minor < 34
    ? SUGGESTED
    : {
        ...SUGGESTED,
        schemas: SUGGESTED.schemas.filter(({ metadata: { name = '' } }) => !BEFORE_1_34.includes(name)),
      };

/**
 * The object that the server would write in place of `current` (Kubernetes: registry/flowcontrol/ensurer). Mandatory objects
 * always get the shipped spec. Suggested ones get it until the operator takes them over: by the annotation or, without one, by a
 * change of the spec. Undefined: no write is needed. `current` is not changed.
 */
export function revise(current: ApiObject, shipped: ApiObject, mandatory: boolean): ApiObject | undefined {
  const updates = mandatory || mayUpdate(current);
  const specChanged = updates && !sameSpec(current, shipped);
  const noted = readAutoUpdate(current) === updates;
  if (noted && !specChanged) return undefined;
  const annotations = { ...current.metadata.annotations, [AUTO_UPDATE]: String(updates) };
  return {
    ...current,
    metadata: { ...current.metadata, annotations },
    ...(specChanged && shipped.spec !== undefined ? { spec: structuredClone(shipped.spec) } : {}),
  };
}

/** Whether the object is of an earlier release and was not taken over, so that it must be deleted. */
export const isAbandoned = (object: ApiObject, shipped: ReadonlySet<string>): boolean =>
  !shipped.has(object.metadata.name ?? '') && readAutoUpdate(object) === true;

const mayUpdate = (object: ApiObject): boolean => readAutoUpdate(object) ?? object.metadata.generation === 1;

const readAutoUpdate = ({ metadata }: ApiObject): boolean | undefined =>
  parseGoBool(metadata.annotations?.[AUTO_UPDATE] ?? '');

/** Compares specs. The seats of the exempt level are left out, because they belong to the operator. */
function sameSpec({ metadata, spec }: ApiObject, shipped: ApiObject): boolean {
  if (metadata.name !== 'exempt' || shipped.kind !== 'PriorityLevelConfiguration')
    return equal(spec, shipped.spec);
  return (
    isObject(spec) &&
    isObject(shipped.spec) &&
    isObject(spec.exempt) &&
    equalExcept(spec, shipped.spec, ['exempt'])
  );
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
