import type { HostAlias, Pod, PodSpec, PodTemplateSpec } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkSearchDomain } from '../../../object/text-formats.ts';
import { type Ratchet, ratchetOf } from '../../rules/checked.ts';
import { AMBIGUOUS, mustBeIp } from '../../rules/ip-rules.ts';
import { mustBeLabels } from '../../rules/labels.ts';
import { mustBeName, mustBeNamed } from '../../rules/name-rules.ts';
import { mustBeWithin } from '../../rules/numbers.ts';
import { isMirrorPod, validateAnnotations, validatePodAnnotations } from './annotations.ts';
import { validateOverhead, validateResourceClaims } from './container-resources.ts';
import {
  mustBeTrimmedImage,
  type PodContext,
  validateContainers,
  validateInitContainers,
} from './containers.ts';
import {
  NODE_VALUES,
  validateAffinity,
  validateGates,
  validateTolerations,
  validateTopologySpread,
} from './placement.ts';
import { validatePodResources } from './pod-level-resources.ts';
import { validateHostNetworkPorts } from './ports.ts';
import {
  validateHostUsers,
  validatePodSecurityContext,
  validateProfileAnnotations,
} from './security-context.ts';
import { validateEphemeralContainers } from './validate-ephemeral-containers.ts';
import { validateVolumes } from './volumes.ts';
import { validateHostProcess, validateLinuxPod, validateWindowsPod } from './windows-options.ts';

/** Rules of pods, and of templates wherever they are, that came late (Kubernetes: api/pod, GetValidationOptionsFromPodSpecAndMeta). */
export const POD_RATCHETS: readonly Ratchet[] = [
  ratchetOf(/annotations\[controller\.kubernetes\.io\/pod-deletion-cost\]$/),
  ratchetOf(/\[hugepages-[^\]]+\]$/, /is not positive integer multiple of/),
  // One switch for all selectors of the object, those that workloads find their pods by included.
  ratchetOf(/(\.affinity\.pod(Anti)?Affinity\..*|^spec\.selector)\.matchExpressions\[\d+\]\.values\[\d+\]$/),
  ratchetOf(/\.topologySpreadConstraints\[\d+\]\.labelSelector\./),
  ratchetOf(/\.topologySpreadConstraints\[\d+\](\.matchLabelKeys)?\[\d+\]$/, /exists in both/),
  AMBIGUOUS,
  ratchetOf(/\.dnsConfig\.searches\[\d+\]$/),
  ratchetOf(/\.lifecycle\.\w+\.sleep$/),
  // The path of a service account token, which messages report for the volume.
  ratchetOf(/\.projected\.path$/),
  ratchetOf(/\.sysctls\[\d+\]\.name$/, /may not be specified when 'host(Network|IPC)' is true$/),
  // What servers stored that emulate a newer version.
  ratchetOf(/\.(containers|initContainers)\[\d+\]\.restartPolicy$/),
  ratchetOf(/\.env\[\d+\]\.valueFrom$/, /must specify one of/),
  ratchetOf(/\.tolerations\[\d+\]\.operator$/, /^Unsupported value: "(Lt|Gt)"/),
  ratchetOf(/\.initContainers\[\d+\]\.resizePolicy\[\d+\]\.restartPolicy$/),
  ratchetOf(/\.volumeDevices$/, /hostUsers/),
  NODE_VALUES,
  { ...ratchetOf(/\.(env\[\d+\]\.name|envFrom\[\d+\]\.prefix)$/, /^Invalid value/), sameValue: true },
];

/** A pod, new or changed. */
export function validatePod(at: FieldPath, { metadata, spec = {} }: Pod, old?: Pod): void {
  const { name = '', annotations = {} } = metadata;
  validatePodAnnotations(at.field('metadata').field('annotations'), annotations, spec);
  if (old !== undefined && equal(spec, old.spec)) return;
  const path = at.field('spec');
  if (at.minor >= 32 && isMirrorPod(annotations) && (spec.resourceClaims ?? []).length > 0)
    at.whole.forbidden('static pods do not support resource claims');
  validatePodSpec(path, spec, name);
  validateTokens(path, spec);
  for (const list of ['containers', 'initContainers'] as const)
    for (const [item, container] of path.field(list).each(spec[list])) mustBeTrimmedImage(item, container);
}

/** Projected tokens require a service account. */
function validateTokens(at: FieldPath, { serviceAccountName = '', volumes }: PodSpec): void {
  if (serviceAccountName !== '') return;
  for (const [path, { projected }] of at.field('volumes').each(volumes)) {
    if (projected === undefined) continue;
    for (const [source, { serviceAccountToken }] of path
      .field('projected')
      .field('sources')
      .each(projected.sources))
      if (serviceAccountToken !== undefined)
        source
          .field('serviceAccountToken')
          .forbidden('must not be specified when serviceAccountName is not set');
  }
}

/** Rules of a new pod alone: an update may break them. */
export function validateNewPod(at: FieldPath, { metadata, spec = {} }: Pod): void {
  const { ephemeralContainers = [], nodeName = '', schedulingGates = [] } = spec;
  const path = at.field('spec');
  validateProfileAnnotations(path, metadata.annotations ?? {}, spec);
  if (ephemeralContainers.length > 0) path.field('ephemeralContainers').forbidden('cannot be set on create');
  if (nodeName !== '' && schedulingGates.length > 0)
    path.field('nodeName').forbidden('cannot be set until all schedulingGates have been cleared');
}

/** Validates a pod template at any path, such as `spec.template`. */
export function validatePodTemplate(at: FieldPath, { metadata = {}, spec = {} }: PodTemplateSpec): void {
  const { labels, annotations = {} } = metadata;
  mustBeLabels(at.field('labels'), labels);
  validateAnnotations(at.field('annotations'), annotations);
  validatePodAnnotations(at.field('annotations'), annotations, spec);
  validatePodSpec(at.field('spec'), spec);
  validateProfileAnnotations(at.field('spec'), annotations, spec);
  if ((spec.ephemeralContainers ?? []).length > 0)
    at.field('spec')
      .field('ephemeralContainers')
      .forbidden('ephemeral containers not allowed in pod template');
}

/**
 * A pod spec by itself (Kubernetes: core/validation, ValidatePodSpec). `podName` is given for pods; the spec of a template
 * has no name yet, and is judged a little more mildly.
 */
function validatePodSpec(at: FieldPath, spec: PodSpec, podName?: string): void {
  const { resourceClaims = [] } = spec;
  const containers = spec.containers ?? [];
  const pod: PodContext = {
    volumes: validateVolumes(at.field('volumes'), spec.volumes, podName ?? ''),
    claimNames: namesOf(resourceClaims),
    gracePeriodSeconds: Number(spec.terminationGracePeriodSeconds ?? 0),
    restartPolicy: spec.restartPolicy ?? '',
    hostUsers: spec.hostUsers !== false,
    os: spec.os?.name ?? '',
  };
  validateResourceClaims(at.field('resourceClaims'), resourceClaims);
  validateContainers(at.field('containers'), containers, pod);
  if (spec.initContainers !== undefined) validateInitContainers(at.field('initContainers'), spec, pod);
  if (spec.ephemeralContainers !== undefined)
    validateEphemeralContainers(at.field('ephemeralContainers'), spec, pod);
  validatePodResources(at.field('resources'), spec);
  if (spec.hostNetwork === true)
    validateHostNetworkPorts(at.field('containers'), containers, podName !== undefined);
  validatePolicies(at, spec);
  validatePlacement(at, spec);
  validateNames(at, spec);
  validateHostname(at, spec);
  validateWorkload(at, spec);
  validateIdentity(at, spec);
}

const NO_NAMES: ReadonlySet<string> = new Set();

function namesOf(claims: readonly { readonly name?: string }[]): ReadonlySet<string> {
  if (claims.length === 0) return NO_NAMES;
  return new Set(claims.map(({ name = '' }) => name).filter((name) => name !== ''));
}

/** In the order of messages, which is not alphabetical. */
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

/** Validates node selection and affinity. */
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
    // A runtime class must have a name if present; the others are texts, absent when empty.
    if (name !== undefined && (name !== '' || field === 'runtimeClassName'))
      mustBeName(at.field(field), name, rule);
  }
  if (spec.dnsConfig !== undefined || spec.dnsPolicy === 'None') validateDns(at.field('dnsConfig'), spec);
  if (spec.hostAliases !== undefined) validateHostAliases(at.field('hostAliases'), spec.hostAliases);
}

const MAX_HOSTNAME_CHARS = 64;

function validateHostname(at: FieldPath, spec: PodSpec): void {
  const { hostnameOverride: name, hostNetwork, setHostnameAsFQDN } = spec;
  if (name === undefined) return;
  const path = at.field('hostnameOverride');
  mustBeName(path, name, 'dns-subdomain');
  if (name.length > MAX_HOSTNAME_CHARS) path.tooLong(MAX_HOSTNAME_CHARS);
  if (hostNetwork === true) path.forbidden('may not be set when `hostNetwork` is true');
  if (setHostnameAsFQDN === true) path.forbidden('may not be set when `setHostnameAsFQDN` is true');
}

/** The workload in 1.35, and the pod group since 1.36. */
function validateWorkload(at: FieldPath, { workloadRef, schedulingGroup }: PodSpec): void {
  if (workloadRef !== undefined) {
    const { name = '', podGroup = '', podGroupReplicaKey = '' } = workloadRef;
    const path = at.field('workloadRef');
    mustBeNamed(path.field('name'), name, 'dns-subdomain');
    mustBeNamed(path.field('podGroup'), podGroup, 'dns-label');
    if (podGroupReplicaKey !== '')
      mustBeName(path.field('podGroupReplicaKey'), podGroupReplicaKey, 'dns-label');
  }
  if (schedulingGroup === undefined) return;
  const { podGroupName } = schedulingGroup;
  const path = at.field('schedulingGroup').field('podGroupName');
  if (podGroupName === undefined) path.invalid(null, 'must specify one of: `podGroupName`');
  else mustBeName(path, podGroupName, 'dns-subdomain');
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

/** How a pod finds names: /etc/resolv.conf and /etc/hosts. */

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARS = 2048;

/** `at` is the configuration. */
function validateDns(at: FieldPath, { dnsConfig, dnsPolicy }: PodSpec): void {
  const { nameservers = [], searches = [], options } = dnsConfig ?? {};
  const servers = at.field('nameservers');
  if (dnsPolicy === 'None' && dnsConfig === undefined) {
    at.required('must provide `dnsConfig` when `dnsPolicy` is None');
    return;
  }
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    servers.required('must provide at least one DNS nameserver when `dnsPolicy` is None');
    return;
  }
  if (nameservers.length > MAX_NAMESERVERS)
    servers.invalid(nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`);
  for (const [path, server] of servers.each(nameservers)) mustBeIp(path, server);
  validateSearches(at.field('searches'), searches);
  for (const [path, { name = '' }] of at.field('options').each(options))
    if (name === '') path.required('must not be empty');
}

function validateSearches(at: FieldPath, searches: readonly string[]): void {
  if (searches.length > MAX_SEARCHES)
    at.invalid(searches, `must not have more than ${MAX_SEARCHES} search paths`);
  if (searches.join(' ').length > MAX_SEARCH_CHARS)
    at.invalid(
      searches,
      `must not have more than ${MAX_SEARCH_CHARS} characters (including spaces) in the search list`,
    );
  const isRelaxed = at.isOn('RelaxedDNSSearchValidation');
  for (const [path, search] of at.each(searches)) {
    const name = search.replace(/\.$/, '');
    if (!isRelaxed) mustBeName(path, name, 'dns-subdomain');
    else if (search !== '.') path.invalidFor(name, checkSearchDomain(name));
  }
}

function validateHostAliases(at: FieldPath, aliases: readonly HostAlias[]): void {
  for (const [path, { ip = '', hostnames }] of at.each(aliases)) {
    mustBeIp(path.field('ip'), ip);
    for (const [item, name] of path.field('hostnames').each(hostnames))
      mustBeName(item, name, 'dns-subdomain');
  }
}
