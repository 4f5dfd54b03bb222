import { goQuote } from '../../../object/go-value.ts';
import type { UserInfo } from '../../../request/api-request.ts';
import { table } from '../../../util/table.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.ts';
import { describePlugin, isWriteOf, type PluginParts, refusal } from '../../plugin.ts';
import { PODS } from '../../resources.ts';
import { checkNode } from './nodes.ts';
import {
  checkCertificateRequest,
  checkClaim,
  checkCsiNode,
  checkLease,
  checkResourceSlice,
  type WritingNode,
} from './own-objects.ts';
import { checkEviction, checkPod, checkPodStatus, checkToken } from './pods.ts';

interface NodeRestrictionParts extends Pick<WritingNode, 'objects' | 'recoversExpansion'> {
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
  'certificates.k8s.io': { certificatesigningrequests: checkCertificateRequest },
});

export const nodeRestriction = describePlugin({
  name: 'NodeRestriction',
  isDefault: false,
  create: ({
    objects,
    nodeOf,
    isFeatureOn,
  }: Pick<PluginParts, 'objects' | 'isFeatureOn'> & Pick<NodeRestrictionParts, 'nodeOf'>) =>
    createNodeRestriction({
      objects,
      nodeOf,
      recoversExpansion: isFeatureOn('RecoverVolumeExpansionFailure'),
    }),
});
