import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { notSupported, required } from '../../../object/field-errors.ts';
import { count, objectOf, objectsOf, text } from '../../../object/parts.ts';
import { validateLabels } from '../../../registry/validate-metadata.ts';
import { addAll, addName, stringMap, validateRange } from '../../validation/values.ts';
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

interface Where {
  readonly path: string;
  /** Given for pods; the spec of a template has no name yet, and is judged a little more mildly. */
  readonly podName?: string;
}

/** A pod spec by itself (Kubernetes: core/validation, ValidatePodSpec). */
export function validatePodSpec(spec: JsonObject, { path, podName }: Where, errors: FieldError[]): void {
  const claims = objectsOf(spec.resourceClaims);
  const pod: PodContext = {
    volumes: validateVolumes(objectsOf(spec.volumes), `${path}.volumes`, podName ?? '', errors),
    claimNames: namesOf(claims),
    gracePeriodSeconds: count(spec.terminationGracePeriodSeconds),
    restartPolicy: text(spec.restartPolicy),
    hostUsers: spec.hostUsers !== false,
  };
  validateResourceClaims(claims, `${path}.resourceClaims`, errors);
  validateContainers(objectsOf(spec.containers), `${path}.containers`, pod, errors);
  if (spec.initContainers !== undefined) validateInitContainers(spec, `${path}.initContainers`, pod, errors);
  if (spec.ephemeralContainers !== undefined)
    validateEphemeralContainers(spec, `${path}.ephemeralContainers`, pod, errors);
  if (spec.hostNetwork === true) validateHostNetworkPorts(spec, path, podName !== undefined, errors);
  validatePolicies(spec, path, errors);
  validatePlacement(spec, path, errors);
  validateNames(spec, path, errors);
  validateIdentity(spec, path, errors);
}

const NO_NAMES: ReadonlySet<string> = new Set();

function namesOf(claims: readonly JsonObject[]): ReadonlySet<string> {
  if (claims.length === 0) return NO_NAMES;
  return new Set(claims.map(({ name }) => text(name)).filter((name) => name !== ''));
}

/** In the order in which messages list them, which is not that of the alphabet. */
const POLICIES: readonly (readonly [string, readonly string[]])[] = [
  ['restartPolicy', ['Always', 'OnFailure', 'Never']],
  ['dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']],
  ['preemptionPolicy', ['PreemptLowerPriority', 'Never']],
];

const MAX_INT32 = 2 ** 31 - 1;

function validatePolicies(spec: JsonObject, path: string, errors: FieldError[]): void {
  for (const [field, supported] of POLICIES) {
    const value = spec[field];
    if (value === undefined) continue;
    if (value === '') errors.push(required(`${path}.${field}`));
    else if (!supported.includes(text(value)))
      errors.push(notSupported(`${path}.${field}`, value, supported));
  }
  const { terminationGracePeriodSeconds, activeDeadlineSeconds } = spec;
  if (terminationGracePeriodSeconds === undefined)
    errors.push(required(`${path}.terminationGracePeriodSeconds`));
  if (activeDeadlineSeconds !== undefined)
    errors.push(...validateRange(`${path}.activeDeadlineSeconds`, activeDeadlineSeconds, 1, MAX_INT32));
}

/** On which node, and with which others. */
function validatePlacement(spec: JsonObject, path: string, errors: FieldError[]): void {
  const { nodeSelector, affinity, topologySpreadConstraints: spread, tolerations, overhead } = spec;
  if (nodeSelector !== undefined)
    addAll(errors, validateLabels(stringMap(spec, 'nodeSelector'), `${path}.nodeSelector`));
  if (affinity !== undefined) addAll(errors, validateAffinity(objectOf(affinity), `${path}.affinity`));
  validateGates(spec, path, errors);
  if (spread !== undefined)
    addAll(errors, validateTopologySpread(objectsOf(spread), `${path}.topologySpreadConstraints`));
  if (tolerations !== undefined) validateTolerations(objectsOf(tolerations), `${path}.tolerations`, errors);
  if (overhead !== undefined) validateOverhead(objectOf(overhead), `${path}.overhead`, errors);
}

const NAMES = [
  ['serviceAccountName', 'dns-subdomain'],
  ['nodeName', 'dns-subdomain'],
  ['priorityClassName', 'dns-subdomain'],
  ['runtimeClassName', 'dns-subdomain'],
  ['hostname', 'dns-label'],
  ['subdomain', 'dns-label'],
] as const;

function validateNames(spec: JsonObject, path: string, errors: FieldError[]): void {
  for (const [field, rule] of NAMES)
    if (isNamed(spec[field], field)) addName(errors, `${path}.${field}`, text(spec[field]), rule);
  if (spec.dnsConfig !== undefined || spec.dnsPolicy === 'None')
    addAll(errors, validateDns(spec, `${path}.dnsConfig`));
  if (spec.hostAliases !== undefined)
    addAll(errors, validateHostAliases(objectsOf(spec.hostAliases), `${path}.hostAliases`));
}

/** A runtime class that is there must be named; the others are texts, absent when empty. */
const isNamed = (name: JsonValue | undefined, field: string): boolean =>
  name !== undefined && (name !== '' || field === 'runtimeClassName');

function validateIdentity(spec: JsonObject, path: string, errors: FieldError[]): void {
  validatePodSecurityContext(spec, `${path}.securityContext`, errors);
  validateHostProcess(spec, path, errors);
  if (spec.hostUsers === false) addAll(errors, validateHostUsers(spec, path));
  if (spec.os !== undefined) addAll(errors, validateOs(spec, path));
}

function validateOs(spec: JsonObject, path: string): FieldError[] {
  switch (objectOf(spec.os).name) {
    case 'linux':
      return validateLinuxPod(spec, path);
    case 'windows':
      return validateWindowsPod(spec, path);
    case '':
    case undefined:
      return [required(`${path}.os.name`, 'cannot be empty')];
    default:
      return [notSupported(`${path}.os`, objectOf(spec.os).name, ['linux', 'windows'])];
  }
}
