import { part, text } from '../../../object/parts.ts';
import { refusal } from '../../refusal.ts';
import type { NodeWrite } from './node-write.ts';
import { nodeNameOf, noSuch } from './pods.ts';

const PODS = { group: '', resource: 'pods' };

/**
 * A node asks for tokens of its pods' accounts only, and only for tokens that end with the pod. A token is bound to one object
 * at most, so that this keeps a node from binding one to another node, too.
 */
export function checkToken(write: NodeWrite): Promise<void> | void {
  const { operation, subresource, object } = write.attributes;
  if (operation !== 'CREATE' || subresource !== 'token') return undefined;
  const { apiVersion, kind, name, uid } = part(object, 'spec', 'boundObjectRef');
  if (apiVersion !== 'v1' || kind !== 'Pod' || text(name) === '')
    throw refusal(write.attributes, 'node requested token not bound to a pod');
  if (text(uid) === '')
    throw refusal(write.attributes, 'node requested token with a pod binding without a uid');
  return checkPodOfToken(write, text(name), text(uid));
}

async function checkPodOfToken(
  { node, attributes, objects }: NodeWrite,
  name: string,
  uid: string,
): Promise<void> {
  const pod = await objects.find(PODS, attributes.namespace, name);
  if (pod === undefined) throw noSuch('pod', name);
  if (pod.metadata.uid !== uid)
    throw refusal(
      attributes,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (nodeNameOf(pod) !== node)
    throw refusal(attributes, 'node requested token bound to a pod scheduled on a different node');
}
