import type { OwnerReference } from '../../../api/object-meta.ts';
import { notFound, type StatusError } from '../../../api/status.ts';
import type { Pod } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import { goQuote } from '../../../object/go-value.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { refusal } from '../../refusal.ts';
import { NODES, PODS } from '../../resources.ts';
import type { WriteOf } from '../../write-of.ts';
import { checkReferences } from './mirror-references.ts';
import type { WritingNode } from './writing-node.ts';

const MIRROR = 'kubernetes.io/config.mirror';

/** In the singular: that is how those say it who look objects up by name (client-go: listers). */
export const noSuch = (kind: string, name: string): StatusError =>
  notFound({ group: '', resource: kind }, name);

export const nodeNameOf = (pod: Pod | undefined): string => pod?.spec?.nodeName ?? '';

/** A node makes pods only as mirrors of those that it has from a file, and deletes only those that run on it. */
export function checkPod(attributes: WriteOf<Pod>, writing: WritingNode): Promise<void> | void {
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

/** What is wrong with the owner that a mirror pod names, which has to be its node. */
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
  checkReferences(attributes, node);
}

/** A node tells how the pods fare that run on it, and no more than that. */
export function checkPodStatus(attributes: WriteOf<Pod>, { node }: WritingNode): void {
  const { operation, object, old } = attributes;
  if (operation !== 'UPDATE') throw refusal(attributes, `unexpected operation ${goQuote(operation)}`);
  const name = goQuote(node);
  if (nodeNameOf(old) !== node)
    throw refusal(
      attributes,
      `node ${name} can only update pod status for pods with spec.nodeName set to itself`,
    );
  if (!equal(old?.metadata.labels ?? {}, object?.metadata.labels ?? {}))
    throw refusal(attributes, `node ${name} cannot update labels through pod status`);
  // The misspelling is Kubernetes'.
  if (!equal(claimsOf(old), claimsOf(object)))
    throw refusal(attributes, `node ${name} cannot update resource claim statues`);
}

const claimsOf = (pod: Pod | undefined) =>
  (pod?.status?.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => ({
    name,
    resourceClaimName,
  }));

export function checkEviction(attributes: AdmissionAttributes, writing: WritingNode): Promise<void> {
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
