import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { notSupported, required } from '../../../object/field-errors.ts';
import { validateLabels } from '../../../registry/validate-metadata.ts';
import { count, part, parts, text } from '../../cells.ts';
import { stringMap, validateName, validateRange } from '../../validation/values.ts';
import { validateAffinity } from './affinity.ts';
import { type PodContext, validateContainers, validateInitContainers } from './containers.ts';
import { validateDns, validateHostAliases } from './dns.ts';
import { validateEphemeralContainers } from './ephemeral-containers.ts';
import { validateGates } from './gates.ts';
import { validateHostNetworkPorts } from './ports.ts';
import { validateResourceClaims } from './resource-claims.ts';
import { validateOverhead } from './resource-requirements.ts';
import { validateHostUsers, validatePodSecurityContext } from './security-context.ts';
import { validateTolerations } from './tolerations.ts';
import { validateTopologySpread } from './topology-spread.ts';
import { validateVolumes } from './volumes.ts';
import { validateHostProcess, validateLinuxPod, validateWindowsPod } from './windows-options.ts';

/**
 * A pod spec by itself (Kubernetes: core/validation, ValidatePodSpec). `podName` is given for pods; the spec of a template
 * has no name yet, and is judged a little more mildly.
 */
export function validatePodSpec(spec: JsonObject, path: string, podName?: string): FieldError[] {
  const claims = parts(spec, 'resourceClaims');
  const volumes = validateVolumes(parts(spec, 'volumes'), `${path}.volumes`, podName ?? '');
  const pod: PodContext = {
    volumes: volumes.byName,
    claimNames: new Set(claims.map(({ name }) => text(name)).filter((name) => name !== '')),
    gracePeriodSeconds: count(spec.terminationGracePeriodSeconds),
    restartPolicy: text(spec.restartPolicy),
    hostUsers: spec.hostUsers !== false,
  };
  return [
    ...volumes.errors,
    ...validateResourceClaims(claims, `${path}.resourceClaims`),
    ...validateContainers(parts(spec, 'containers'), `${path}.containers`, pod),
    ...validateInitContainers(spec, `${path}.initContainers`, pod),
    ...validateEphemeralContainers(spec, `${path}.ephemeralContainers`, pod),
    ...validateHostNetworkPorts(spec, path, podName !== undefined),
    ...validatePolicies(spec, path),
    ...validatePlacement(spec, path),
    ...validateNames(spec, path),
    ...validateIdentity(spec, path),
  ];
}

/** In the order in which messages list them, which is not that of the alphabet. */
const POLICIES: Readonly<Record<string, readonly string[]>> = {
  restartPolicy: ['Always', 'OnFailure', 'Never'],
  dnsPolicy: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
  preemptionPolicy: ['PreemptLowerPriority', 'Never'],
};

const MAX_INT32 = 2 ** 31 - 1;

function validatePolicies(spec: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [field, supported] of Object.entries(POLICIES)) {
    const value = spec[field];
    if (value === undefined) continue;
    if (value === '') errors.push(required(`${path}.${field}`));
    else if (!supported.includes(text(value)))
      errors.push(notSupported(`${path}.${field}`, value, supported));
  }
  if (spec.terminationGracePeriodSeconds === undefined)
    errors.push(required(`${path}.terminationGracePeriodSeconds`));
  const deadline = spec.activeDeadlineSeconds;
  return [...errors, ...validateRange(`${path}.activeDeadlineSeconds`, deadline, 1, MAX_INT32)];
}

/** On which node, and with which others. */
function validatePlacement(spec: JsonObject, path: string): FieldError[] {
  return [
    ...validateLabels(stringMap(spec, 'nodeSelector'), `${path}.nodeSelector`),
    ...validateAffinity(part(spec, 'affinity'), `${path}.affinity`),
    ...validateGates(spec, path),
    ...validateTopologySpread(parts(spec, 'topologySpreadConstraints'), `${path}.topologySpreadConstraints`),
    ...validateTolerations(parts(spec, 'tolerations'), `${path}.tolerations`),
    ...validateOverhead(spec, `${path}.overhead`),
  ];
}

const SUBDOMAINS = ['serviceAccountName', 'nodeName', 'priorityClassName', 'runtimeClassName'];
const LABELS = ['hostname', 'subdomain'];

function validateNames(spec: JsonObject, path: string): FieldError[] {
  return [
    ...SUBDOMAINS.filter((field) => isNamed(spec, field)).flatMap((field) =>
      validateName(`${path}.${field}`, text(spec[field]), 'dns-subdomain'),
    ),
    ...LABELS.filter((field) => isNamed(spec, field)).flatMap((field) =>
      validateName(`${path}.${field}`, text(spec[field]), 'dns-label'),
    ),
    ...validateDns(spec, `${path}.dnsConfig`),
    ...validateHostAliases(parts(spec, 'hostAliases'), `${path}.hostAliases`),
  ];
}

/** A runtime class that is there must be named; the others are texts, absent when empty. */
const isNamed = (spec: JsonObject, field: string): boolean =>
  spec[field] !== undefined && (spec[field] !== '' || field === 'runtimeClassName');

function validateIdentity(spec: JsonObject, path: string): FieldError[] {
  return [
    ...validatePodSecurityContext(spec, `${path}.securityContext`),
    ...validateHostProcess(spec, path),
    ...validateHostUsers(spec, path),
    ...validateOs(spec, path),
  ];
}

function validateOs(spec: JsonObject, path: string): FieldError[] {
  if (spec.os === undefined) return [];
  switch (part(spec, 'os').name) {
    case 'linux':
      return validateLinuxPod(spec, path);
    case 'windows':
      return validateWindowsPod(spec, path);
    case '':
    case undefined:
      return [required(`${path}.os.name`, 'cannot be empty')];
    default:
      return [notSupported(`${path}.os`, part(spec, 'os').name, ['linux', 'windows'])];
  }
}
