import type { Node } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import { goQuote } from '../../../object/go-value.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { refusal } from '../../refusal.ts';
import { NODES } from '../../resources.ts';
import { isWriteOf, type WriteOf } from '../../write-of.ts';
import { refusedLabels } from './node-labels.ts';
import type { WritingNode } from './writing-node.ts';

/** A node writes itself alone, and not what would bring other pods, or the secrets of a configuration, to it. */
export function checkNode(attributes: AdmissionAttributes, { node }: WritingNode): void {
  if (attributes.name !== node)
    throw refusal(
      attributes,
      `node ${goQuote(node)} is not allowed to modify node ${goQuote(attributes.name)}`,
    );
  if (!isWriteOf(attributes, NODES) && !isWriteOf(attributes, NODES, 'status')) return;
  const why = whyNot(attributes, node);
  if (why !== undefined) throw refusal(attributes, why);
}

function whyNot({ operation, object, old }: WriteOf<Node>, node: string): string | undefined {
  if (operation === 'CREATE') return whyNotCreate(node, object);
  return operation === 'UPDATE' ? whyNotUpdate(node, object, old) : undefined;
}

function whyNotCreate(node: string, object: Node | undefined): string | undefined {
  const name = goQuote(node);
  if (object?.spec?.configSource !== undefined)
    return `node ${name} is not allowed to create pods with a non-nil configSource`;
  const labels = refusedLabels(object?.metadata.labels, undefined);
  if (labels.length === 0) return undefined;
  return `node ${name} is not allowed to set the following labels: ${labels.join(', ')}`;
}

function whyNotUpdate(node: string, object: Node | undefined, old: Node | undefined): string | undefined {
  const name = goQuote(node);
  const { configSource, taints = [] } = object?.spec ?? {};
  // An agent that does not know the field may leave it out.
  if (configSource !== undefined && !equal(configSource, old?.spec?.configSource))
    return `node ${name} is not allowed to update configSource to a new non-nil configSource`;
  if (!equal(taints, old?.spec?.taints ?? [])) return `node ${name} is not allowed to modify taints`;
  if (!equal(object?.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? []))
    return `node ${name} is not allowed to modify ownerReferences`;
  const labels = refusedLabels(object?.metadata.labels, old?.metadata.labels);
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(', ')}`;
}
