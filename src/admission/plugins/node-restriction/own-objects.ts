import { CLAIMS, NODES, SIGNING_REQUESTS } from '../../../api/known-resources.ts';
import type { ResourceOf } from '../../../api/names.ts';
import type { JsonObject } from '../../../api/object-meta.ts';
import { notFound, type StatusError } from '../../../api/status.ts';
import type { Node, PersistentVolumeClaim, Pod } from '../../../api/types/core/v1.ts';
import type { ResourceSlice } from '../../../api/types/resource/v1alpha3.ts';
import { equal } from '../../../object/equality.ts';
import { goQuote } from '../../../object/go-value.ts';
import { isObject } from '../../../object/json-values.ts';
import { errorText } from '../../../util/error-text.ts';
import { readCertificationRequest } from '../../../x509/certification-request.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { isWriteOf, type PluginParts, refusal, type WriteOf } from '../../plugin.ts';

const RESOURCE_SLICES: ResourceOf<ResourceSlice> = { group: 'resource.k8s.io', resource: 'resourceslices' };

/** Checks of objects that belong to one node each. */

const LEASES = 'kube-node-lease';
const NODE_SIGNERS = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

export function checkLease(attributes: AdmissionAttributes, { node }: WritingNode): void {
  if (attributes.namespace !== LEASES)
    throw refusal(attributes, `can only access leases in the ${goQuote(LEASES)} system namespace`);
  if (writtenName(attributes) !== node)
    throw refusal(attributes, 'can only access node lease with the same name as the requesting node');
}

export function checkCsiNode(attributes: AdmissionAttributes, { node }: WritingNode): void {
  if (writtenName(attributes) !== node)
    throw refusal(attributes, 'can only access CSINode with the same name as the requesting node');
}

const writtenName = ({ operation, name, object }: AdmissionAttributes): string =>
  operation === 'CREATE' ? (object?.metadata.name ?? '') : name;

/** Checks creates and deletes of collections; the authorizer checks other writes, because it knows the existing slices. */
export function checkResourceSlice(attributes: AdmissionAttributes, { node }: WritingNode): void {
  if (!isWriteOf(attributes, RESOURCE_SLICES)) return;
  const { operation, object, old } = attributes;
  const nodeOf = (slice: ResourceSlice | undefined): string => slice?.spec?.nodeName ?? '';
  if (operation === 'CREATE' && nodeOf(object) !== node)
    throw refusal(attributes, 'can only create ResourceSlice with the same NodeName as the requesting node');
  if (operation === 'DELETE' && nodeOf(old) !== node)
    throw refusal(attributes, 'can only delete ResourceSlice with the same NodeName as the requesting node');
}

/** A node may ask for certificates of its own name. The signer checks the rest of a request. */
export function checkCertificateRequest(
  attributes: AdmissionAttributes,
  { node, isFeatureOn }: WritingNode,
): void {
  if (isFeatureOn('AllowInsecureAgentCertificateSigningRequests')) return;
  if (attributes.operation !== 'CREATE' || !isWriteOf(attributes, SIGNING_REQUESTS)) return;
  const { signerName = '', request } = attributes.object?.spec ?? {};
  if (!NODE_SIGNERS.includes(signerName)) return;
  const wanted = `system:node:${node}`;
  if (commonNameOf(request ?? '', attributes) !== wanted)
    throw refusal(attributes, `can only create a node CSR with CN=${wanted}`);
}

/** The request is not validated yet. */
function commonNameOf(request: string, attributes: AdmissionAttributes): string {
  try {
    return readCertificationRequest(request).subject.commonName;
  } catch (error) {
    throw refusal(attributes, `unable to parse csr: ${errorText(error)}`);
  }
}

const OWN = ['capacity', 'conditions'];
const RECOVERY = ['allocatedResourceStatuses', 'allocatedResources'];

/** A node may only report the size of a volume that it has enlarged. */
export function checkClaim(attributes: AdmissionAttributes, { node, isFeatureOn }: WritingNode): void {
  if (!isWriteOf(attributes, CLAIMS, 'status')) throw refusal(attributes, 'may only update PVC status');
  const { operation, object, old, sent = object } = attributes;
  if (operation !== 'UPDATE') throw refusal(attributes, `unexpected operation ${goQuote(operation)}`);
  const own = isFeatureOn('RecoverVolumeExpansionFailure') ? [...OWN, ...RECOVERY] : OWN;
  const changed = changedFields(withoutOwn(old, own), withoutOwn(sent, own));
  if (changed.length === 0) return;
  throw refusal(
    attributes,
    `node ${goQuote(node)} is not allowed to update fields other than status.quantity and status.conditions: ${changed.join(', ')}`,
  );
}

/** The claim without the fields that a node may change, and without those that the server keeps. */
function withoutOwn(claim: PersistentVolumeClaim | undefined, own: readonly string[]): JsonObject {
  const { resourceVersion: _, managedFields: __, ...metadata } = claim?.metadata ?? {};
  const status = Object.entries(claim?.status ?? {}).filter(([name]) => !own.includes(name));
  return { ...claim, metadata, status: Object.fromEntries(status) };
}

/** The paths of changed fields, two levels deep, such as `spec.volumeName`. */
function changedFields(before: JsonObject, after: JsonObject, path = ''): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !equal(before[name], after[name]))
    .flatMap((name) =>
      path === ''
        ? changedFields(fieldsOf(before[name]), fieldsOf(after[name]), `${name}.`)
        : [`${path}${name}`],
    );
}

const fieldsOf = (value: JsonObject[string]): JsonObject => (isObject(value) ? value : {});

/** The writing node and the parts that checks need. A check refuses writes that it does not expect. */
export interface WritingNode extends Pick<PluginParts, 'objects' | 'access' | 'isFeatureOn'> {
  readonly node: string;
}

/** Names the kind in the singular, as client-go's listers do. */
export const noSuch = (kind: string, name: string): StatusError =>
  notFound({ group: '', resource: kind }, name);

export const nodeNameOf = (pod: Pod | undefined): string => pod?.spec?.nodeName ?? '';

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

function whyNot({ operation, object, old, sent = object }: WriteOf<Node>, node: string): string | undefined {
  if (operation === 'CREATE') return whyNotCreate(node, object);
  return operation === 'UPDATE' ? whyNotUpdate(node, sent, old) : undefined;
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
