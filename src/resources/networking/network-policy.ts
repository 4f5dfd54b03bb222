import type { Gates } from '../../api/feature-gates.ts';
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from '../../api/types/networking/v1.ts';
import { FieldPath } from '../../object/field-path.ts';
import { goList } from '../../object/go-value.ts';
import { contains, parseCidr } from '../../object/ip.ts';
import { checkPort, checkPortName } from '../../object/text-formats.ts';
import { age, selectorText } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, selectorRatchet } from '../rules/checked.ts';
import { AMBIGUOUS, mustBeCidr } from '../rules/ip-rules.ts';
import { cidrWarningsSince33, warningsOfEach } from '../rules/ip-warnings.ts';
import { mustBeLabelSelector } from '../rules/labels.ts';
import { mustBeOneOf } from '../rules/name-rules.ts';

export const networkpolicies = define<NetworkPolicy>({
  group: 'networking.k8s.io',
  resource: 'networkpolicies',
  kind: 'NetworkPolicy',
  namespaced: true,
  shortNames: ['netpol'],
  versions: [{ version: 'v1', type: 'networking/v1.NetworkPolicy' }],
  table: {
    columns: [nameColumn(), column('Pod-Selector'), column('Age')],
    cells: (policy, now) => [
      policy.metadata.name ?? '',
      selectorText(policy.spec?.podSelector ?? {}),
      age(policy, now),
    ],
  },
  ratchets: [selectorRatchet('spec\\..*'), AMBIGUOUS],
  strategy: {
    tracksGeneration: true,
    defaults: setDefaults,
    validate: checked(validate),
    warnings,
  },
});

function warnings({ spec = {} }: NetworkPolicy, _: NetworkPolicy | undefined, isOn?: Gates): string[] {
  return warningsOfEach(rangesOf(FieldPath.root([], isOn).field('spec'), spec), cidrWarningsSince33);
}

function* rangesOf(at: FieldPath, { ingress, egress }: NetworkPolicySpec): Generator<[FieldPath, string]> {
  for (const [path, { from }] of at.field('ingress').each(ingress))
    yield* rangesOfPeers(path.field('from'), from);
  for (const [path, { to }] of at.field('egress').each(egress)) yield* rangesOfPeers(path.field('to'), to);
}

function* rangesOfPeers(
  at: FieldPath,
  peers: readonly NetworkPolicyPeer[] | undefined,
): Generator<[FieldPath, string]> {
  for (const [peer, { ipBlock }] of at.each(peers)) {
    if (ipBlock === undefined) continue;
    const block = peer.field('ipBlock');
    yield [block.field('cidr'), ipBlock.cidr ?? ''];
    for (const [except, range] of block.field('except').each(ipBlock.except)) yield [except, range];
  }
}

function setDefaults({ spec = {} }: NetworkPolicy): void {
  const { policyTypes = [], egress = [] } = spec;
  if (policyTypes.length === 0) spec.policyTypes = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

function validate(root: FieldPath, { spec = {} }: NetworkPolicy): void {
  const at = root.field('spec');
  mustBeLabelSelector(at.field('podSelector'), spec.podSelector);
  for (const [path, { ports, from }] of at.field('ingress').each(spec.ingress)) {
    for (const [item, port] of path.field('ports').each(ports)) validatePort(item, port);
    for (const [item, peer] of path.field('from').each(from)) validatePeer(item, peer);
  }
  for (const [path, { ports, to }] of at.field('egress').each(spec.egress)) {
    for (const [item, port] of path.field('ports').each(ports)) validatePort(item, port);
    for (const [item, peer] of path.field('to').each(to)) validatePeer(item, peer);
  }
  validateTypes(at.field('policyTypes'), spec.policyTypes ?? []);
}

const POLICY_TYPES = ['Ingress', 'Egress'];

function validateTypes(at: FieldPath, types: readonly string[]): void {
  if (types.length > POLICY_TYPES.length)
    at.invalid(goList('networking.PolicyType', types), 'may not specify more than two policyTypes');
  else for (const [path, type] of at.each(types)) mustBeOneOf(path, type, POLICY_TYPES);
}

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];

function validatePort(at: FieldPath, { protocol, port, endPort }: NetworkPolicyPort): void {
  const end = at.field('endPort');
  mustBeOneOf(at.field('protocol'), protocol, PROTOCOLS);
  if (port === undefined) {
    if (endPort !== undefined) end.invalid(endPort, 'may not be specified when `port` is not specified');
  } else if (typeof port === 'string') {
    if (endPort !== undefined) end.invalid(endPort, 'may not be specified when `port` is non-numeric');
    at.field('port').invalidFor(port, checkPortName(port));
  } else {
    at.field('port').invalidFor(port, checkPort(port));
    if (endPort === undefined) return;
    // Kubernetes shows the port here, not the end.
    if (endPort < port) end.invalid(port, 'must be greater than or equal to `port`');
    end.invalidFor(endPort, checkPort(endPort));
  }
}

function validatePeer(at: FieldPath, { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer): void {
  const isSelecting = podSelector !== undefined || namespaceSelector !== undefined;
  mustBeLabelSelector(at.field('podSelector'), podSelector);
  mustBeLabelSelector(at.field('namespaceSelector'), namespaceSelector);
  if (ipBlock === undefined) {
    if (!isSelecting) at.required('must specify a peer');
    return;
  }
  validateIpBlock(at.field('ipBlock'), ipBlock);
  if (isSelecting) at.forbidden('may not specify both ipBlock and another peer');
}

function validateIpBlock(at: FieldPath, { cidr = '', except }: IPBlock): void {
  if (cidr === '') {
    at.field('cidr').required();
    return;
  }
  mustBeCidr(at.field('cidr'), cidr);
  const range = parseCidr(cidr);
  if (range === undefined) return;
  for (const [path, exception] of at.field('except').each(except)) {
    mustBeCidr(path, exception);
    const inner = parseCidr(exception);
    if (inner !== undefined && (!contains(range, inner) || range.prefixBits >= inner.prefixBits))
      path.invalid(exception, 'must be a strict subset of `cidr`');
  }
}
