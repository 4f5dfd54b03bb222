import type { PodSpec } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeLabels } from '../../rules/labels.ts';
import { mustBeName } from '../../rules/names.ts';
import { mustBeWithin } from '../../rules/numbers.ts';
import { validateAffinity } from './affinity.ts';
import { type PodContext, validateContainers, validateInitContainers } from './containers.ts';
import { validateDns, validateHostAliases } from './dns.ts';
import { validateEphemeralContainers } from './ephemeral-containers.ts';
import { validateGates, validateTolerations, validateTopologySpread } from './placement.ts';
import { validateHostNetworkPorts } from './ports.ts';
import { validateOverhead, validateResourceClaims } from './resources.ts';
import { validateHostUsers, validatePodSecurityContext } from './security-context.ts';
import { validateVolumes } from './volumes.ts';
import { validateHostProcess, validateLinuxPod, validateWindowsPod } from './windows-options.ts';

/**
 * A pod spec by itself (Kubernetes: core/validation, ValidatePodSpec). `podName` is given for pods; the spec of a template
 * has no name yet, and is judged a little more mildly.
 */
export function validatePodSpec(at: FieldPath, spec: PodSpec, podName?: string): void {
  const { resourceClaims = [] } = spec;
  const containers = spec.containers ?? [];
  const pod: PodContext = {
    volumes: validateVolumes(at.field('volumes'), spec.volumes, podName ?? ''),
    claimNames: namesOf(resourceClaims),
    gracePeriodSeconds: Number(spec.terminationGracePeriodSeconds ?? 0),
    restartPolicy: spec.restartPolicy ?? '',
    hostUsers: spec.hostUsers !== false,
  };
  validateResourceClaims(at.field('resourceClaims'), resourceClaims);
  validateContainers(at.field('containers'), containers, pod);
  if (spec.initContainers !== undefined) validateInitContainers(at.field('initContainers'), spec, pod);
  if (spec.ephemeralContainers !== undefined)
    validateEphemeralContainers(at.field('ephemeralContainers'), spec, pod);
  if (spec.hostNetwork === true)
    validateHostNetworkPorts(at.field('containers'), containers, podName !== undefined);
  validatePolicies(at, spec);
  validatePlacement(at, spec);
  validateNames(at, spec);
  validateIdentity(at, spec);
}

const NO_NAMES: ReadonlySet<string> = new Set();

function namesOf(claims: readonly { readonly name?: string }[]): ReadonlySet<string> {
  if (claims.length === 0) return NO_NAMES;
  return new Set(claims.map(({ name = '' }) => name).filter((name) => name !== ''));
}

/** In the order in which messages list them, which is not that of the alphabet. */
const POLICIES = [
  ['restartPolicy', ['Always', 'OnFailure', 'Never']],
  ['dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']],
  ['preemptionPolicy', ['PreemptLowerPriority', 'Never']],
] as const;

const ACTIVE_SECONDS = { least: 1, most: 2 ** 31 - 1 };

function validatePolicies(at: FieldPath, spec: PodSpec): void {
  for (const [field, supported] of POLICIES) {
    const value = spec[field];
    if (value === '') at.field(field).required();
    else if (value !== undefined && !supported.some((one) => one === value))
      at.field(field).notSupported(value, supported);
  }
  if (spec.terminationGracePeriodSeconds === undefined) at.field('terminationGracePeriodSeconds').required();
  mustBeWithin(at.field('activeDeadlineSeconds'), spec.activeDeadlineSeconds, ACTIVE_SECONDS);
}

/** On which node, and with which others. */
function validatePlacement(at: FieldPath, spec: PodSpec): void {
  const { nodeSelector, affinity, topologySpreadConstraints, tolerations, overhead } = spec;
  mustBeLabels(at.field('nodeSelector'), nodeSelector);
  if (affinity !== undefined) validateAffinity(at.field('affinity'), affinity);
  validateGates(at, spec);
  if (topologySpreadConstraints !== undefined)
    validateTopologySpread(at.field('topologySpreadConstraints'), topologySpreadConstraints);
  validateTolerations(at.field('tolerations'), tolerations);
  if (overhead !== undefined) validateOverhead(at.field('overhead'), overhead);
}

const NAMES = [
  ['serviceAccountName', 'dns-subdomain'],
  ['nodeName', 'dns-subdomain'],
  ['priorityClassName', 'dns-subdomain'],
  ['runtimeClassName', 'dns-subdomain'],
  ['hostname', 'dns-label'],
  ['subdomain', 'dns-label'],
] as const;

function validateNames(at: FieldPath, spec: PodSpec): void {
  for (const [field, rule] of NAMES) {
    const name = spec[field];
    // A runtime class that is there must be named; the others are texts, absent when empty.
    if (name !== undefined && (name !== '' || field === 'runtimeClassName'))
      mustBeName(at.field(field), name, rule);
  }
  if (spec.dnsConfig !== undefined || spec.dnsPolicy === 'None') validateDns(at.field('dnsConfig'), spec);
  if (spec.hostAliases !== undefined) validateHostAliases(at.field('hostAliases'), spec.hostAliases);
}

function validateIdentity(at: FieldPath, spec: PodSpec): void {
  validatePodSecurityContext(at.field('securityContext'), spec);
  validateHostProcess(at, spec);
  validateHostUsers(at, spec);
  if (spec.os !== undefined) validateOs(at, spec);
}

function validateOs(at: FieldPath, spec: PodSpec): void {
  const name = spec.os?.name ?? '';
  switch (name) {
    case 'linux':
      validateLinuxPod(at, spec);
      return;
    case 'windows':
      validateWindowsPod(at, spec);
      return;
    case '':
      at.field('os').field('name').required('cannot be empty');
      return;
    default:
      at.field('os').notSupported(name, ['linux', 'windows']);
  }
}
