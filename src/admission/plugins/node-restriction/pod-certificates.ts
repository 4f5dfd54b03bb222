import type { PodCertificateRequestSpec } from '../../../api/types/certificates/v1alpha1.ts';
import type { Pod } from '../../../api/types/core/v1.ts';
import { goQuote } from '../../../object/go-value.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { isWriteOf, refusal } from '../../plugin.ts';
import { POD_REQUESTS } from '../../pod-certificate-signing.ts';
import { NODES, PODS, SERVICE_ACCOUNTS } from '../../resources.ts';
import type { WritingNode } from './own-objects.ts';

const MIRROR = 'kubernetes.io/config.mirror';

/** A node may ask for certificates of the pods that run on it, as they are: with their account, on this very node. */
export async function checkPodCertificate(
  attributes: AdmissionAttributes,
  { node, objects }: WritingNode,
): Promise<void> {
  const { operation, namespace, subresource } = attributes;
  if (operation !== 'CREATE') throw refusal(attributes, `unexpected operation ${operation}`);
  if (subresource !== '') throw refusal(attributes, `unexpected subresource ${subresource}`);
  if (!isWriteOf(attributes, POD_REQUESTS)) return;
  const spec = attributes.object?.spec ?? {};
  const { nodeName = '', podName = '', serviceAccountName = '' } = spec;
  const refuse = (why: string | undefined): void => {
    if (why !== undefined) throw refusal(attributes, why);
  };
  if (nodeName !== node)
    refuse(
      `PodCertificateRequest.Spec.NodeName=${goQuote(nodeName)}, which is not the requesting node ${goQuote(node)}`,
    );
  const pod = await objects.find(PODS, namespace, podName);
  refuse(podProblem(pod, spec, node));
  const account = await objects.find(SERVICE_ACCOUNTS, namespace, serviceAccountName);
  refuse(uidProblem('service account', serviceAccountName, account?.metadata.uid, spec.serviceAccountUID));
  const own = await objects.find(NODES, '', node);
  refuse(uidProblem('node', node, own?.metadata.uid, spec.nodeUID));
}

function podProblem(pod: Pod | undefined, spec: PodCertificateRequestSpec, node: string): string | undefined {
  const { podName = '', podUID, serviceAccountName } = spec;
  const name = goQuote(podName);
  if (pod === undefined) return `pod ${name} named in the PodCertificateRequest does not exist`;
  if (pod.metadata.annotations?.[MIRROR] !== undefined)
    return `pod ${name} is a mirror pod, which has no certificates`;
  if (pod.spec?.nodeName !== node) return `pod ${name} is not running on node ${goQuote(node)}`;
  if (pod.spec.serviceAccountName !== serviceAccountName)
    return `PodCertificateRequest names service account ${goQuote(serviceAccountName ?? '')}, which pod ${name} does not run as`;
  return uidProblem('pod', podName, pod.metadata.uid, podUID);
}

function uidProblem(
  kind: string,
  name: string,
  actual: string | undefined,
  asked: string | undefined,
): string | undefined {
  if (actual === undefined)
    return `${kind} ${goQuote(name)} named in the PodCertificateRequest does not exist`;
  if (actual === asked) return undefined;
  return `PodCertificateRequest contains the UID ${goQuote(asked ?? '')}, which differs from that of ${kind} ${goQuote(name)}`;
}
