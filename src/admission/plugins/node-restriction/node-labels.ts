type Labels = Readonly<Record<string, string>>;

/** Labels that agents have always told of their nodes (Kubernetes: kubelet, pkg/apis/well_known_labels.go). */
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
/** Labels by which administrators keep workloads to some nodes. */
const RESTRICTED_DOMAIN = 'node-restriction.kubernetes.io';

/** Labels that are not as before, and not a node's to change. Sorted. */
export function refusedLabels(labels: Labels = {}, before: Labels = {}): string[] {
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
