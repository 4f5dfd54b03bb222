import type { ApiObject, JsonObject } from '../../api/object-meta.ts';

/** How the objects of a fresh cluster are written down: words separated by blanks. */

export const FLOW_CONTROL_GROUP = 'flowcontrol.apiserver.k8s.io';
/** `true`: the server keeps the spec as it ships it. `false`: it is the operator's. */
export const AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec';

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

/** `queues`: how many, and of how many queues a hand is; a level without refuses what has no seat. */
export function limitedLevel(
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

export const exemptLevel = (name: string): ApiObject =>
  toObject('PriorityLevelConfiguration', name, {
    type: 'Exempt',
    exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 },
  });

export interface SchemaOutline {
  readonly level: string;
  readonly precedence: number;
  readonly distinguisher?: 'ByUser' | 'ByNamespace';
  readonly subjects: readonly JsonObject[];
  readonly resourceRules?: readonly JsonObject[];
  readonly pathRules?: readonly JsonObject[];
}

export function flowSchema(name: string, outline: SchemaOutline): ApiObject {
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

export const users = (names: string): JsonObject[] =>
  words(names).map((name) => ({ kind: 'User', user: { name } }));

export const groups = (names: string): JsonObject[] =>
  words(names).map((name) => ({ kind: 'Group', group: { name } }));

/** `*`: all of the namespace. */
export const systemAccounts = (names: string): JsonObject[] =>
  words(names).map((name) => ({
    kind: 'ServiceAccount',
    serviceAccount: { name, namespace: 'kube-system' },
  }));

/** In all namespaces. `core` is the group without a name. */
export const resources = (verbs: string, group: string, names: string): JsonObject => ({
  verbs: words(verbs),
  apiGroups: [group === 'core' ? '' : group],
  resources: words(names),
  namespaces: ['*'],
});

/** In all namespaces and outside of them. */
export const clusterResources = (verbs: string, group: string, names: string): JsonObject => ({
  ...resources(verbs, group, names),
  clusterScope: true,
});

export const paths = (verbs: string, urls: string): JsonObject => ({
  verbs: words(verbs),
  nonResourceURLs: words(urls),
});

export const EVERYTHING = {
  resourceRules: [clusterResources('*', '*', '*')],
  pathRules: [paths('*', '*')],
} as const;
