import { NODES, PODS, SERVICE_ACCOUNTS } from '../../../api/known-resources.ts';
import { unknownError } from '../../../api/status.ts';
import type { Pod } from '../../../api/types/core/v1.ts';
import { goQuote } from '../../../object/go-value.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { isWriteOf, refusal } from '../../plugin.ts';
import { POD_REQUESTS } from '../../pod-certificate-signing.ts';
import type { WritingNode } from './own-objects.ts';

const MIRROR = 'kubernetes.io/config.mirror';

/**
 * A node may ask for certificates of the pods that run on it, as they are: with their account, on this very node. What is
 * not as the request says may only be news that has not arrived yet: such an error is no refusal, and a node tries again.
 */
export async function checkPodCertificate(
  attributes: AdmissionAttributes,
  { node, objects }: WritingNode,
): Promise<void> {
  const { operation, namespace, subresource } = attributes;
  if (operation !== 'CREATE') throw refusal(attributes, `unexpected operation ${operation}`);
  if (subresource !== '') throw refusal(attributes, `unexpected subresource ${subresource}`);
  if (!isWriteOf(attributes, POD_REQUESTS)) return;
  const spec = attributes.object?.spec ?? {};
  const { nodeName = '', podName = '', serviceAccountName: account = '' } = spec;
  const refuse = (why: string | undefined): void => {
    if (why !== undefined) throw refusal(attributes, why);
  };
  if (nodeName !== node)
    refuse(
      `PodCertificateRequest.Spec.NodeName=${goQuote(nodeName)}, which is not the requesting node ${goQuote(node)}`,
    );
  const asking = `PodCertificateRequest for pod ${goQuote(`${namespace}/${podName}`)}`;
  const own = found('node', node, node, await objects.find(NODES, '', node));
  const { uid: nodeUid = '' } = own.metadata;
  if (nodeUid !== spec.nodeUID)
    throw unknownError(
      `${asking} names node UID ${goQuote(spec.nodeUID ?? '')}, inconsistent with the running node (${goQuote(nodeUid)})`,
    );
  const place = `${namespace}/${podName}`;
  const pod = found('pod', place, podName, await objects.find(PODS, namespace, podName));
  const { uid: podUid = '' } = pod.metadata;
  if (podUid !== spec.podUID)
    throw unknownError(
      `${asking} contains pod UID (${goQuote(spec.podUID ?? '')}) which differs from running pod ${goQuote(podUid)}`,
    );
  refuse(podProblem(pod, { place, node, account }));
  const owner = found(
    'service account',
    `${namespace}/${account}`,
    account,
    await objects.find(SERVICE_ACCOUNTS, namespace, account),
  );
  const { uid: accountUid = '' } = owner.metadata;
  if (accountUid !== spec.serviceAccountUID)
    throw unknownError(
      `${asking} names service account UID ${goQuote(spec.serviceAccountUID ?? '')}, which differs from the running service account (${goQuote(accountUid)})`,
    );
}

/** The object that is not undefined. `place`: its namespace and name, as messages have it. */
function found<T>(kind: string, place: string, name: string, object: T | undefined): T {
  if (object !== undefined) return object;
  throw unknownError(
    `while retrieving ${kind} ${goQuote(place)} named in the PodCertificateRequest: ${kind.replace(' ', '')} ${goQuote(name)} not found`,
  );
}

interface Claimed {
  readonly place: string;
  readonly node: string;
  readonly account: string;
}

function podProblem({ metadata, spec }: Pod, { place, node, account }: Claimed): string | undefined {
  const name = goQuote(place);
  if (spec?.nodeName !== node)
    return `pod ${name} is not running on node ${goQuote(node)} named in the PodCertificateRequest`;
  if (metadata.annotations?.[MIRROR] !== undefined) return `pod ${name} is a mirror pod`;
  const { serviceAccountName: actual = '' } = spec;
  if (actual === account) return undefined;
  return `PodCertificateRequest for pod ${name} contains serviceAccountName (${goQuote(account)}) that differs from running pod (${goQuote(actual)})`;
}
