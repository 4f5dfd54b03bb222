import { NODES, PODS } from '../../../api/known-resources.ts';
import type { OwnerReference } from '../../../api/object-meta.ts';
import type { Pod } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import { goQuote } from '../../../object/go-value.ts';
import type { UserInfo } from '../../../request/api-request.ts';
import { table } from '../../../util/text-table.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.ts';
import { describePlugin, isWriteOf, refusal, type WriteOf } from '../../plugin.ts';
import {
  checkCertificateRequest,
  checkClaim,
  checkCsiNode,
  checkLease,
  checkNode,
  checkResourceSlice,
  nodeNameOf,
  noSuch,
  type WritingNode,
} from './own-objects.ts';
import { checkPodCertificate } from './pod-certificate-requests.ts';
import { referenceOf } from './references.ts';
import { checkToken } from './tokens.ts';

interface NodeRestrictionParts extends Omit<WritingNode, 'node'> {
  /** The name of the node that a user is; '' for a node without a name, undefined for other users. */
  readonly nodeOf: (user: UserInfo) => string | undefined;
}

type Check = (attributes: AdmissionAttributes, writing: WritingNode) => Promise<void> | void;

/**
 * Restricts nodes to their own objects: themselves, the pods that run on them, and the objects that these need. It checks the
 * bodies of requests, which the Node authorizer does not see (Kubernetes: plugin/pkg/admission/noderestriction).
 */
export function createNodeRestriction({ nodeOf, ...parts }: NodeRestrictionParts): AdmissionPlugin {
  const check = (attributes: AdmissionAttributes): Promise<void> | void => {
    const node = nodeOf(attributes.user);
    if (node === undefined) return undefined;
    if (node === '') {
      const user = goQuote(attributes.user.username);
      throw refusal(attributes, `could not determine node from user ${user}`);
    }
    return CHECKS[attributes.definition.group]?.[attributes.definition.resource]?.(attributes, {
      ...parts,
      node,
    });
  };
  return {
    name: 'NodeRestriction',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    mutate: check,
    // Deletes have no mutating phase, so they are checked here.
    validate: (attributes) => (attributes.operation === 'DELETE' ? check(attributes) : undefined),
  };
}

function checkPods(attributes: AdmissionAttributes, writing: WritingNode): Promise<void> | void {
  if (isWriteOf(attributes, PODS)) return checkPod(attributes, writing);
  if (isWriteOf(attributes, PODS, 'status')) return checkPodStatus(attributes, writing);
  if (attributes.subresource === 'eviction') return checkEviction(attributes, writing);
  throw refusal(
    attributes,
    `unexpected pod subresource ${goQuote(attributes.subresource)}, only 'status' and 'eviction' are allowed`,
  );
}

/** By group, then by resource. */
const CHECKS: Readonly<Record<string, Readonly<Record<string, Check>>>> = table({
  '': {
    pods: checkPods,
    nodes: checkNode,
    persistentvolumeclaims: checkClaim,
    serviceaccounts: checkToken,
  },
  'coordination.k8s.io': { leases: checkLease },
  'storage.k8s.io': { csinodes: checkCsiNode },
  'resource.k8s.io': { resourceslices: checkResourceSlice },
  'certificates.k8s.io': {
    certificatesigningrequests: checkCertificateRequest,
    podcertificaterequests: checkPodCertificate,
  },
});

export const nodeRestriction = describePlugin({
  name: 'NodeRestriction',
  isDefault: false,
  create: ({ objects, access, isFeatureOn, nodeOf }: NodeRestrictionParts) =>
    createNodeRestriction({ objects, access, isFeatureOn, nodeOf }),
});

const MIRROR = 'kubernetes.io/config.mirror';

/** A node may create only mirrors of its static pods, and delete only pods that run on it. */
function checkPod(attributes: WriteOf<Pod>, writing: WritingNode): Promise<void> | void {
  const { node } = writing;
  const { operation, old } = attributes;
  const name = goQuote(node);
  switch (operation) {
    case 'CREATE':
      return checkMirrorPod(attributes, writing);
    case 'DELETE':
      if (nodeNameOf(old) === node) return undefined;
      throw refusal(attributes, `node ${name} can only delete pods with spec.nodeName set to itself`);
    default:
      throw refusal(
        attributes,
        `unexpected operation ${goQuote(operation)}, node ${name} can only create and delete mirror pods`,
      );
  }
}

function checkMirrorPod(attributes: WriteOf<Pod>, writing: WritingNode): Promise<void> | void {
  const { node } = writing;
  const { object } = attributes;
  const name = goQuote(node);
  if (object?.metadata.annotations?.[MIRROR] === undefined)
    throw refusal(
      attributes,
      `pod does not have ${goQuote(MIRROR)} annotation, node ${name} can only create mirror pods`,
    );
  if (nodeNameOf(object) !== node)
    throw refusal(attributes, `node ${name} can only create pods with spec.nodeName set to itself`);
  const [owner, ...others] = object.metadata.ownerReferences ?? [];
  if (others.length > 0)
    throw refusal(
      attributes,
      `node ${name} can only create pods with a single owner reference set to itself`,
    );
  const why = whyNotOwner(owner, node);
  if (owner === undefined || why !== undefined) throw refusal(attributes, `node ${name} ${why}`);
  return checkOwnerAndReferences(attributes, writing, owner);
}

/** Why the owner of a mirror pod is invalid; it must be the pod's node. */
function whyNotOwner(owner: OwnerReference | undefined, node: string): string | undefined {
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    return 'can only create pods with an owner reference set to itself';
  if (owner.controller !== true)
    return 'can only create pods with a controller owner reference set to itself';
  if (owner.blockOwnerDeletion === true) return 'must not set blockOwnerDeletion on an owner reference';
  return undefined;
}

async function checkOwnerAndReferences(
  attributes: WriteOf<Pod>,
  { node, objects }: WritingNode,
  owner: OwnerReference,
): Promise<void> {
  const found = await objects.find(NODES, '', node);
  if (found === undefined) throw noSuch('node', node);
  const uid = found.metadata.uid ?? '';
  if (owner.uid !== uid)
    throw refusal(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  const what = referenceOf(attributes.object?.spec ?? {});
  if (what !== undefined)
    throw refusal(attributes, `node ${goQuote(node)} can not create pods that reference ${what}`);
}

/** A node may write only the status of pods that run on it. */
function checkPodStatus(attributes: WriteOf<Pod>, { node }: WritingNode): void {
  const { operation, object, old, sent = object } = attributes;
  if (operation !== 'UPDATE') throw refusal(attributes, `unexpected operation ${goQuote(operation)}`);
  const name = goQuote(node);
  if (nodeNameOf(old) !== node)
    throw refusal(
      attributes,
      `node ${name} can only update pod status for pods with spec.nodeName set to itself`,
    );
  if (!equal(old?.metadata.labels ?? {}, sent?.metadata.labels ?? {}))
    throw refusal(attributes, `node ${name} cannot update labels through pod status`);
  // The misspelling is Kubernetes'.
  if (!equal(claimsOf(old), claimsOf(sent)))
    throw refusal(attributes, `node ${name} cannot update resource claim statues`);
  if (!equal(old?.status?.extendedResourceClaimStatus, sent?.status?.extendedResourceClaimStatus))
    throw refusal(attributes, `node ${name} cannot update extended resource claim status`);
}

const claimsOf = (pod: Pod | undefined) =>
  (pod?.status?.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => ({
    name,
    resourceClaimName,
  }));

function checkEviction(attributes: AdmissionAttributes, writing: WritingNode): Promise<void> {
  const { operation, object } = attributes;
  if (operation !== 'CREATE') throw refusal(attributes, `unexpected operation ${operation}`);
  const name = attributes.name || object?.metadata.name || '';
  if (name === '') throw refusal(attributes, 'could not determine pod from request data');
  return checkEvicted(attributes, writing, name);
}

async function checkEvicted(
  attributes: AdmissionAttributes,
  { node, objects }: WritingNode,
  name: string,
): Promise<void> {
  const pod = await objects.find(PODS, attributes.namespace, name);
  if (pod === undefined) throw noSuch('pod', name);
  if (nodeNameOf(pod) !== node)
    throw refusal(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
}
