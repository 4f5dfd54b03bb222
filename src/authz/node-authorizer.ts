import { type Gates, minorOf } from '../api/feature-gates.ts';
import { toQualifiedResource } from '../api/names.ts';
import { requiredValue } from '../object/selectors.ts';
import type { ResourceTarget, UserInfo } from '../request/api-request.ts';
import {
  ALLOW,
  type AskedSelectors,
  type AuthorizationAttributes,
  type Authorizer,
  NO_OPINION,
  NO_RULES,
  type Rules,
  type Verdict,
} from './authorizer.ts';
import type { NodeRelations, RelatedKind } from './node-graph.ts';
import { type PolicyRule, rulesAllow, toQuestion } from './rbac/role-rules.ts';

/** A node's question about a resource that is divided among nodes. */
interface NodeRequest {
  readonly node: string;
  readonly verb: string;
  readonly target: ResourceTarget;
  readonly relations: NodeRelations;
  readonly selectors: AskedSelectors | undefined;
}

const PREFIX = 'system:node:';
const LEASES = 'kube-node-lease';
const OWN_VERBS = ['get', 'create', 'update', 'patch', 'delete'];

/** The name of the node that the user is; undefined for other users. */
export function nodeNameOf({ username, groups }: UserInfo): string | undefined {
  if (!username.startsWith(PREFIX) || !groups.includes('system:nodes')) return undefined;
  return username.slice(PREFIX.length);
}

/**
 * Mode Node: lets a node read the objects that its pods need, write its own objects, and otherwise do what `rules` allow every
 * node (bootstrap/component-roles.ts). Bodies of requests are not visible here; admission checks them (Kubernetes:
 * plugin/pkg/auth/authorizer/node). With the feature AuthorizeNodeWithSelectors a node reads its own Node, and lists what is on
 * it; since 1.33 two others let it read the service accounts of its pods.
 */
export function createNodeAuthorizer(
  relations: NodeRelations,
  rules: readonly PolicyRule[],
  isFeatureOn: Gates,
): Authorizer {
  const divided = dividedBy(isFeatureOn);
  return {
    authorize: (attributes) => {
      const node = nodeNameOf(attributes.user);
      if (node === undefined) return NO_OPINION;
      if (node === '') return refuse(`unknown node for user ${JSON.stringify(attributes.user.username)}`);
      return decide(attributes, { node, relations, divided }) ?? byRules(attributes, rules);
    },
    rules: (user): Rules =>
      nodeNameOf(user) === undefined
        ? NO_RULES
        : { ...NO_RULES, incomplete: true, error: 'node authorizer does not support user rule resolution' },
  };
}

const refuse = (reason: string): Verdict => ({ decision: 'no-opinion', reason });

function byRules(attributes: AuthorizationAttributes, rules: readonly PolicyRule[]): Verdict {
  return rulesAllow(rules, toQuestion(attributes)) ? ALLOW : NO_OPINION;
}

/** Undefined: the resource is not divided among nodes. */
function decide(
  { verb, target, selectors }: AuthorizationAttributes,
  { node, relations, divided }: { node: string; relations: NodeRelations; divided: Divided },
): Verdict | undefined {
  return target === undefined
    ? undefined
    : divided.get(toQualifiedResource(target))?.({ node, verb, target, relations, selectors });
}

type Divided = ReadonlyMap<string, (request: NodeRequest) => Verdict>;

/** The resources that are divided among nodes. */
const DIVIDED: Divided = new Map(
  Object.entries({
    secrets: (request: NodeRequest) => decideRead(request, 'secret'),
    configmaps: (request: NodeRequest) => decideRead(request, 'configmap'),
    persistentvolumeclaims: (request: NodeRequest) =>
      request.target.subresource === 'status'
        ? decideClaimStatus(request)
        : decideGet(request, 'persistentvolumeclaim'),
    persistentvolumes: (request: NodeRequest) => decideGet(request, 'persistentvolume'),
    'resourceclaims.resource.k8s.io': (request: NodeRequest) => decideGet(request, 'resourceclaim'),
    'volumeattachments.storage.k8s.io': (request: NodeRequest) => decideGet(request, 'volumeattachment'),
    serviceaccounts: (request: NodeRequest) => decideToken(request),
    'leases.coordination.k8s.io': (request: NodeRequest) => decideLease(request),
    'csinodes.storage.k8s.io': (request: NodeRequest) => decideCsiNode(request),
    'resourceslices.resource.k8s.io': (request: NodeRequest) => decideSlice(request, false),
    'podcertificaterequests.certificates.k8s.io': () => NO_OPINION,
  }),
);

/** Rights that are divided when authorization sees selectors. */
const DIVIDED_BY_SELECTORS: Divided = new Map(
  Object.entries({
    nodes: (request: NodeRequest) => decideNode(request),
    pods: (request: NodeRequest) => decidePod(request),
    'resourceslices.resource.k8s.io': (request: NodeRequest) => decideSlice(request, true),
  }),
);

const CREDENTIALS = 'AgentServiceAccountTokenForCredentialProviders';

function dividedBy(isFeatureOn: Gates): Divided {
  const divided = new Map(DIVIDED);
  const bySelectors = isFeatureOn('AuthorizeNodeWithSelectors');
  const certificates = isFeatureOn('PodCertificateRequest');
  if (bySelectors) for (const [resource, decide] of DIVIDED_BY_SELECTORS) divided.set(resource, decide);
  if (bySelectors && certificates)
    divided.set('podcertificaterequests.certificates.k8s.io', decidePodCertificate);
  if (minorOf(isFeatureOn) >= 33)
    divided.set('serviceaccounts', decideAccount(certificates || isFeatureOn(CREDENTIALS)));
  return divided;
}

/** Admission restricts writes to the node's own object. Reads are allowed by name, even before the object exists. */
function decideNode({ node, verb, target: { name, subresource } }: NodeRequest): Verdict {
  const isWrite = verb === 'update' || verb === 'patch';
  if (subresource === 'status') return isWrite ? ALLOW : NO_OPINION;
  if (subresource !== '') return NO_OPINION;
  if (isWrite || verb === 'create') return ALLOW;
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return NO_OPINION;
  if (name === node) return ALLOW;
  const what = name === '' ? 'all nodes' : `'${name}'`;
  return refuse(`node '${node}' cannot read ${what}, only its own Node object`);
}

const POD_WRITES: Readonly<Record<string, readonly string[]>> = {
  '': ['create', 'delete'],
  status: ['update', 'patch'],
  eviction: ['create'],
};

/** Admission restricts writes to the node's own pods. */
function decidePod(request: NodeRequest): Verdict {
  const { verb, target } = request;
  if (POD_WRITES[target.subresource]?.includes(verb) === true) return ALLOW;
  if (target.subresource !== '') return NO_OPINION;
  if (verb === 'get') return decideGet(request, 'pod');
  if (verb !== 'list' && verb !== 'watch') return NO_OPINION;
  if (isOnNode(request)) return ALLOW;
  return target.name === ''
    ? refuse('can only list/watch pods with spec.nodeName field selector')
    : decideRelated(request, 'pod');
}

const isOnNode = ({ node, selectors }: NodeRequest): boolean =>
  requiredValue(selectors?.fields ?? [], 'spec.nodeName') === node;

/** Lists and watches count as reads of one object, because they must name it. */
function decideRead(request: NodeRequest, kind: RelatedKind): Verdict {
  if (!['get', 'list', 'watch'].includes(request.verb)) return refuse('can only read resources of this type');
  if (request.target.subresource !== '') return refuse('cannot read subresource');
  if (request.target.namespace === '') return refuse('can only read namespaced object of this type');
  return decideRelated(request, kind);
}

function decideGet(request: NodeRequest, kind: RelatedKind): Verdict {
  if (request.verb !== 'get') return refuse('can only get individual resources of this type');
  if (request.target.subresource !== '') return refuse('cannot get subresource');
  return decideRelated(request, kind);
}

function decideClaimStatus(request: NodeRequest): Verdict {
  if (request.verb !== 'update' && request.verb !== 'patch') {
    return refuse('can only get/update/patch this type');
  }
  return decideRelated(request, 'persistentvolumeclaim');
}

function decideRelated({ node, target, relations }: NodeRequest, kind: RelatedKind): Verdict {
  if (target.name === '') return refuse('No Object name found');
  if (relations.isRelated(node, kind, target.namespace, target.name)) return ALLOW;
  return refuse(`no relationship found between node '${node}' and this object`);
}

/** Agents read the service accounts of their pods for providers of image credentials and for certificates of pods. */
const decideAccount =
  (isReadable: boolean) =>
  (request: NodeRequest): Verdict => {
    if (request.verb !== 'get' || request.target.subresource !== '') return decideToken(request);
    return isReadable ? decideRead(request, 'serviceaccount') : refuse('not allowed to get service accounts');
  };

function decideToken(request: NodeRequest): Verdict {
  if (request.verb !== 'create' || request.target.name === '') {
    return refuse('can only create tokens for individual service accounts');
  }
  if (request.target.subresource !== 'token') {
    return refuse('can only create token subresource of serviceaccount');
  }
  return decideRelated(request, 'serviceaccount');
}

/** The name of a new object is unknown here. */
const isOwn = ({ verb, target, node }: NodeRequest): boolean => verb === 'create' || target.name === node;

function decideLease(request: NodeRequest): Verdict {
  if (!OWN_VERBS.includes(request.verb)) {
    return refuse('can only get, create, update, patch, or delete a node lease');
  }
  if (request.target.namespace !== LEASES) {
    return refuse(`can only access leases in the "${LEASES}" system namespace`);
  }
  if (isOwn(request)) return ALLOW;
  return refuse('can only access node lease with the same name as the requesting node');
}

function decideCsiNode(request: NodeRequest): Verdict {
  if (!OWN_VERBS.includes(request.verb)) {
    return refuse('can only get, create, update, patch, or delete a CSINode');
  }
  if (request.target.subresource !== '') return refuse('cannot authorize CSINode subresources');
  if (isOwn(request)) return ALLOW;
  return refuse('can only access CSINode with the same name as the requesting node');
}

/** Admission checks that a new request is for a pod of the node. */
function decidePodCertificate(request: NodeRequest): Verdict {
  if (request.target.subresource !== '')
    return refuse('nodes may not access the status subresource of PodCertificateRequests');
  switch (request.verb) {
    case 'create':
      return ALLOW;
    case 'get':
      return decideRelated(request, 'podcertificaterequest');
    case 'list':
    case 'watch':
      return isOnNode(request)
        ? ALLOW
        : refuse('can only list/watch podcertificaterequests with nodeName field selector');
    default:
      return refuse(`nodes may not ${request.verb} podcertificaterequests`);
  }
}

function decideSlice(request: NodeRequest, bySelectors: boolean): Verdict {
  if (request.target.subresource !== '') return refuse('cannot authorize ResourceSlice subresources');
  switch (request.verb) {
    case 'create':
      return ALLOW;
    case 'list':
    case 'watch':
    case 'deletecollection':
      return !bySelectors || isOnNode(request)
        ? ALLOW
        : refuse('can only list/watch/deletecollection resourceslices with nodeName field selector');
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return decideRelated(request, 'resourceslice');
    default:
      return refuse(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      );
  }
}
