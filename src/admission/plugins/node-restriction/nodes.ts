import type { ApiObject, JsonValue } from '../../../api/object-meta.ts';
import { equal } from '../../../object/equality.ts';
import { goQuote } from '../../../object/go-value.ts';
import { part } from '../../../object/parts.ts';
import { refusal } from '../../refusal.ts';
import { refusedLabels } from './node-labels.ts';
import type { NodeWrite } from './node-write.ts';

/** A node writes itself alone, and not what would bring other pods, or the secrets of a configuration, to it. */
export function checkNode(write: NodeWrite): void {
  const { node, attributes } = write;
  if (attributes.name !== node)
    throw refusal(
      attributes,
      `node ${goQuote(node)} is not allowed to modify node ${goQuote(attributes.name)}`,
    );
  const why = whyNot(write);
  if (why !== undefined) throw refusal(attributes, why);
}

function whyNot({ node, attributes: { operation, object, old } }: NodeWrite): string | undefined {
  if (operation === 'CREATE') return whyNotCreate(node, object);
  return operation === 'UPDATE' ? whyNotUpdate(node, object, old) : undefined;
}

function whyNotCreate(node: string, object: ApiObject | undefined): string | undefined {
  const name = goQuote(node);
  if (isSet(part(object, 'spec').configSource))
    return `node ${name} is not allowed to create pods with a non-nil configSource`;
  const labels = refusedLabels(object?.metadata.labels, undefined);
  if (labels.length === 0) return undefined;
  return `node ${name} is not allowed to set the following labels: ${labels.join(', ')}`;
}

function whyNotUpdate(
  node: string,
  object: ApiObject | undefined,
  old: ApiObject | undefined,
): string | undefined {
  const name = goQuote(node);
  const [spec, before] = [part(object, 'spec'), part(old, 'spec')];
  // An agent that does not know the field may leave it out.
  if (isSet(spec.configSource) && !equal(spec.configSource, before.configSource))
    return `node ${name} is not allowed to update configSource to a new non-nil configSource`;
  if (!equal(spec.taints ?? [], before.taints ?? [])) return `node ${name} is not allowed to modify taints`;
  if (!equal(object?.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? []))
    return `node ${name} is not allowed to modify ownerReferences`;
  const labels = refusedLabels(object?.metadata.labels, old?.metadata.labels);
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(', ')}`;
}

const isSet = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;
