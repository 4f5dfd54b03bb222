import type { ApiObject, OwnerReference } from '../../../api/object-meta.ts';
import { notFound, type StatusError } from '../../../api/status.ts';
import { equal } from '../../../object/equality.ts';
import { goQuote } from '../../../object/go-value.ts';
import { objectsOf, part, text } from '../../../object/parts.ts';
import { refusal } from '../../refusal.ts';
import { checkReferences } from './mirror-references.ts';
import type { NodeWrite } from './node-write.ts';

const PODS = { group: '', resource: 'pods' };
const NODES = { group: '', resource: 'nodes' };
const MIRROR = 'kubernetes.io/config.mirror';

/** In the singular: that is how those say it who look objects up by name (client-go: listers). */
export const noSuch = (kind: string, name: string): StatusError =>
  notFound({ group: '', resource: kind }, name);

export const nodeNameOf = (pod: ApiObject | undefined): string => text(part(pod, 'spec').nodeName);

/** A node makes pods only as mirrors of those that it has from a file, and deletes only those that run on it. */
export function checkPod(write: NodeWrite): Promise<void> | void {
  const { node, attributes } = write;
  const { operation, old } = attributes;
  const name = goQuote(node);
  switch (operation) {
    case 'CREATE':
      return checkMirrorPod(write);
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

function checkMirrorPod(write: NodeWrite): Promise<void> | void {
  const { node, attributes } = write;
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
  return checkOwnerAndReferences(write, owner);
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

async function checkOwnerAndReferences(write: NodeWrite, owner: OwnerReference): Promise<void> {
  const { node, attributes, objects } = write;
  const found = await objects.find(NODES, '', node);
  if (found === undefined) throw noSuch('node', node);
  const uid = found.metadata.uid ?? '';
  if (owner.uid !== uid)
    throw refusal(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  checkReferences(write);
}

/** A node tells how the pods fare that run on it, and no more than that. */
export function checkPodStatus({ node, attributes }: NodeWrite): void {
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

const claimsOf = (pod: ApiObject | undefined) =>
  objectsOf(part(pod, 'status').resourceClaimStatuses).map(({ name, resourceClaimName }) => ({
    name,
    resourceClaimName,
  }));

export function checkEviction(write: NodeWrite): Promise<void> {
  const { attributes } = write;
  const { operation, object } = attributes;
  if (operation !== 'CREATE') throw refusal(attributes, `unexpected operation ${operation}`);
  const name = attributes.name || text(object?.metadata.name);
  if (name === '') throw refusal(attributes, 'could not determine pod from request data');
  return checkEvicted(write, name);
}

async function checkEvicted({ node, attributes, objects }: NodeWrite, name: string): Promise<void> {
  const pod = await objects.find(PODS, attributes.namespace, name);
  if (pod === undefined) throw noSuch('pod', name);
  if (nodeNameOf(pod) !== node)
    throw refusal(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
}
