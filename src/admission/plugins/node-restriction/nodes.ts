import type { Node } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import { goQuote } from '../../../object/go-value.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { isWriteOf, refusal, type WriteOf } from '../../plugin.ts';
import { NODES } from '../../resources.ts';
import type { WritingNode } from './own-objects.ts';

/** A node may write only itself, and no fields that would bring it other pods or the secrets of a configuration. */
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

type Labels = Readonly<Record<string, string>>;

/** Labels that node agents set on their nodes (Kubernetes: kubelet, pkg/apis/well_known_labels.go). */
const OF_AGENTS: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const AGENT_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const CLUSTER_DOMAINS = ['kubernetes.io', 'k8s.io'];
/** The domain of labels by which administrators restrict workloads to some nodes. */
const RESTRICTED_DOMAIN = 'node-restriction.kubernetes.io';

/** Changed labels that a node must not change, sorted. */
function refusedLabels(labels: Labels = {}, before: Labels = {}): string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(before)]);
  return [...keys].filter((key) => labels[key] !== before[key] && !isOwn(key)).sort();
}

function isOwn(key: string): boolean {
  const domain = domainOf(key);
  if (isIn(domain, RESTRICTED_DOMAIN)) return false;
  if (!CLUSTER_DOMAINS.some((one) => isIn(domain, one))) return true;
  return OF_AGENTS.has(key) || AGENT_DOMAINS.some((one) => isIn(domain, one));
}

/** `node.kubernetes.io/speed` → `node.kubernetes.io`, `speed` → ''. */
const domainOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));

const isIn = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);
