import { isIPv6 } from 'node:net';
import type { Gates } from '../../api/feature-gates.ts';
import type { JsonObject, JsonValue, ObjectMeta } from '../../api/object-meta.ts';
import type { Node, NodeStatus, NodeSystemInfo, Taint } from '../../api/types/core/v1.ts';
import { equal } from '../../object/equality.ts';
import { FieldPath } from '../../object/field-path.ts';
import { objectOf, objectsOf, stringOf } from '../../object/json-values.ts';
import { checkLabelValue, checkQualifiedName } from '../../object/text-formats.ts';
import { age, NONE } from '../cells.ts';
import { nodeProxy } from '../connect/proxies.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { goNodeAddress, goTaint } from '../rules/go-structs.ts';
import { mustBeCidr } from '../rules/ip-rules.ts';
import { cidrWarningsSince33, warningsOfEach } from '../rules/ip-warnings.ts';
import { mustBeOneOf } from '../rules/name-rules.ts';
import { roundUpToMilli } from '../rules/numbers.ts';
import { mustBeAmountOf } from '../rules/resource-amounts.ts';
import { goJsonError } from './go-json-error.ts';

const tableWith = (kernel: (info: NodeSystemInfo) => string): Table<Node> => ({
  columns: [
    nameColumn(),
    column('Status'),
    column('Roles'),
    column('Age'),
    column('Version'),
    column('Internal-IP', 1),
    column('External-IP', 1),
    column('OS-Image', 1),
    column('Kernel-Version', 1),
    column('Container-Runtime', 1),
  ],
  cells: (node, now) => {
    const { metadata, status = {} } = node;
    const { nodeInfo: info = {} } = status;
    return [
      metadata.name ?? '',
      readinessText(node),
      rolesOf(metadata.labels ?? {}).join(',') || NONE,
      age(node, now),
      info.kubeletVersion ?? '',
      addressText(status, 'InternalIP'),
      addressText(status, 'ExternalIP'),
      info.osImage || '<unknown>',
      kernel(info),
      info.containerRuntimeVersion || '<unknown>',
    ];
  },
});

const kernelOf = ({ kernelVersion = '' }: NodeSystemInfo): string => kernelVersion || '<unknown>';

/** `6.12.0 (amd64)` */
function kernelAndMachine(info: NodeSystemInfo): string {
  const { architecture = '' } = info;
  return architecture === '' ? kernelOf(info) : `${kernelOf(info)} (${architecture})`;
}

function readinessText({ spec = {}, status = {} }: Node): string {
  const ready = (status.conditions ?? []).find(({ type }) => type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec.unschedulable === true ? `${state},SchedulingDisabled` : state;
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function rolesOf(labels: Readonly<Record<string, string>>): string[] {
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length)
      return [key.slice(ROLE_PREFIX.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return [...new Set(roles)].sort();
}

const addressText = ({ addresses = [] }: NodeStatus, type: string): string =>
  addresses.find((one) => one.type === type)?.address || NONE;

export const nodes = define<Node>({
  group: '',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
  shortNames: ['no'],
  versions: [{ version: 'v1', type: 'core/v1.Node' }],
  emptyStatus: {},
  subresources: [nodeProxy],
  prepareStatus,
  validateStatus: checkedUpdate(validateStatus),
  table: tableWith(kernelAndMachine),
  olderTables: [{ until: 36, ...tableWith(kernelOf) }],
  fields: {
    paths: {
      'spec.unschedulable': ['spec.unschedulable'],
    },
    // Without the field a node is schedulable, and selected as such.
    absent: { 'spec.unschedulable': 'false' },
  },
  strategy: {
    defaults: setDefaults,
    // A node agent registers its node with the status it has.
    prepareForCreate: ({ spec, status }) => {
      delete spec?.configSource;
      delete status?.config;
      delete status?.features;
    },
    prepareForUpdate: ({ spec }, old) => {
      if (old.spec?.configSource === undefined) delete spec?.configSource;
    },
    validate: checked(validate),
    judgesAlone: () => ['spec.taints'],
    validateUpdate: checkedUpdate(validateUpdate),
    warnings,
  },
});

function setDefaults(node: Node): void {
  const { spec = {} } = node;
  const { podCIDR: single = '', podCIDRs: [first] = [] } = spec;
  // Old clients know podCIDR only: where it differs from podCIDRs, it counts.
  if (single !== '' && single !== first) spec.podCIDRs = [single];
  else if (first !== undefined) spec.podCIDR = first;
  if (node.status !== undefined) fillAllocatable(node.status);
}

/** Pods may use all of the capacity by default. */
function fillAllocatable(status: NodeStatus): void {
  const { capacity } = status;
  if (capacity !== undefined) {
    status.allocatable ??= { ...capacity };
    roundUpToMilli(capacity);
  }
  if (status.allocatable !== undefined) roundUpToMilli(status.allocatable);
}

function prepareStatus(node: Node, old: Node): void {
  const status = { ...node.status };
  if (old.status?.config === undefined) delete status.config;
  node.status = status;
  fillAllocatable(status);
}

function validate(root: FieldPath, { metadata, spec = {}, status = {} }: Node): void {
  const meta = root.field('metadata');
  validateNodeAnnotations(meta.field('annotations'), metadata.annotations);
  // The path is that of Kubernetes' errors, though taints are in the spec.
  validateTaints(meta.field('taints'), spec.taints);
  validatePodRanges(root.field('spec').field('podCIDRs'), spec.podCIDRs ?? []);
  validateFeatures(root.field('status').field('declaredFeatures'), status.declaredFeatures ?? []);
  for (const list of ['capacity', 'allocatable'] as const)
    for (const [name, amount] of Object.entries(status[list] ?? {}))
      mustBeAmountOf(root.field('status').field(list).field(name), name, amount);
}

/** `InPlacePodResize`, `Swap/limited`. */
const FEATURE = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const MAX_FEATURE_CHARS = 253;
const NO_FEATURE = `must be at most ${MAX_FEATURE_CHARS} characters in segments with a slash between them, letters and digits, of which the first begins in upper case (e.g., MyFeature or MyFeature/mySubFeature)`;

/** Features of the node agent, each once and in order. */
function validateFeatures(at: FieldPath, features: readonly string[]): void {
  for (const [path, feature, index] of at.each(features)) {
    if (feature.length > MAX_FEATURE_CHARS || !FEATURE.test(feature)) path.invalid(feature, NO_FEATURE);
    const before = features[index - 1];
    if (before === feature) path.duplicate(feature);
    else if (before !== undefined && before > feature)
      path.invalid(feature, 'list must be sorted alphabetically');
  }
}

/** One for each address family. */
const MAX_POD_RANGES = 2;

function validatePodRanges(at: FieldPath, ranges: readonly string[]): void {
  for (const [path, range] of at.each(ranges)) mustBeCidr(path, range);
  if (ranges.length < MAX_POD_RANGES) return;
  const isOfOneFamily = (): boolean =>
    new Set(ranges.map((range) => isIPv6(range.split('/')[0] ?? ''))).size < MAX_POD_RANGES;
  if (ranges.length > MAX_POD_RANGES || isOfOneFamily())
    at.invalid(ranges, 'may specify no more than one CIDR for each IP family');
  const seen = new Set(ranges);
  // Nearly always; a path for each of very many takes long. Since 1.33, the message above is enough.
  if (seen.size === ranges.length || at.minor >= 33) return;
  seen.clear();
  for (const [path, range] of at.each(ranges)) {
    if (seen.has(range)) path.duplicate(range);
    seen.add(range);
  }
}

/** A node keeps the ranges of pod addresses and the identity at the provider that it once got. */
function validateUpdate(root: FieldPath, { spec = {} }: Node, old: Node): void {
  const at = root.field('spec');
  const before = old.spec ?? {};
  if ((before.podCIDRs ?? []).length > 0 && !equal(spec.podCIDRs, before.podCIDRs))
    at.field('podCIDRs').forbidden('node updates may not change podCIDR except from "" to valid');
  if ((before.providerID ?? '') !== '' && spec.providerID !== before.providerID)
    at.field('providerID').forbidden('node updates may not change providerID except from "" to valid');
  if ((spec.externalID ?? '') !== (before.externalID ?? ''))
    at.field('externalID').forbidden('may not be updated');
}

function validateStatus(root: FieldPath, { status = {} }: Node): void {
  const seen = new Set<string>();
  for (const [path, address] of root.field('status').field('addresses').each(status.addresses)) {
    const identity = JSON.stringify([address.type ?? '', address.address ?? '']);
    if (seen.has(identity)) path.duplicate(goNodeAddress(address));
    seen.add(identity);
  }
}

function warnings({ spec = {} }: Node, _: Node | undefined, isOn?: Gates): string[] {
  const at = FieldPath.root([], isOn).field('spec').field('podCIDRs');
  return [
    ...(spec.configSource === undefined ? [] : ['spec.configSource: the feature is removed']),
    ...((spec.externalID ?? '') === ''
      ? []
      : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
    ...warningsOfEach(at.each(spec.podCIDRs), cidrWarningsSince33),
  ];
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** A taint is known by its key and effect. */
function validateTaints(at: FieldPath, taints: readonly Taint[] | undefined): void {
  const seen = new Set<string>();
  for (const [path, taint] of at.each(taints)) {
    const { key = '', value = '', effect = '' } = taint;
    const identity = `${effect} ${key}`;
    const reasons = checkLabelValue(value);
    path.field('key').invalidFor(key, checkQualifiedName(key));
    if (reasons.length > 0) path.field('value').invalid(value, reasons.join(';'));
    if (effect === '') path.field('effect').required();
    else mustBeOneOf(path.field('effect'), effect, EFFECTS);
    if (seen.has(identity)) path.duplicate(goTaint(taint), 'taints must be unique by key and effect pair');
    seen.add(identity);
  }
}

const TAINTS = 'scheduler.alpha.kubernetes.io/taints';
const AVOID_PODS = 'scheduler.alpha.kubernetes.io/preferAvoidPods';

/** Two old annotations contain JSON for schedulers, whose field types are unchecked. */
function validateNodeAnnotations(at: FieldPath, annotations: ObjectMeta['annotations']): void {
  validateTaintsText(at, annotations?.[TAINTS] ?? '');
  validateAvoidPodsText(at, annotations?.[AVOID_PODS] ?? '');
}

function validateTaintsText(at: FieldPath, json: string): void {
  if (json === '') return;
  const error = goJsonError(json, 'array', '[]core.Taint');
  if (error !== undefined) at.invalid(TAINTS, error);
  else validateTaints(at.field(TAINTS), objectsOf(JSON.parse(json)).map(toTaint));
}

function toTaint(value: JsonValue): Taint {
  const { key, value: label, effect, timeAdded } = objectOf(value);
  return {
    key: stringOf(key),
    value: stringOf(label),
    effect: stringOf(effect),
    ...(stringOf(timeAdded) === '' ? {} : { timeAdded: stringOf(timeAdded) }),
  };
}

function validateAvoidPodsText(at: FieldPath, json: string): void {
  if (json === '') return;
  const error = goJsonError(json, 'object', 'v1.AvoidPods');
  if (error !== undefined) {
    at.field('AvoidPods').invalid(AVOID_PODS, error);
    return;
  }
  const { preferAvoidPods } = objectOf(JSON.parse(json));
  for (const [path, entry] of at.field(AVOID_PODS).each(objectsOf(preferAvoidPods)))
    validateAvoidance(path.field('PodSignature'), entry);
}

/** The pods to be avoided are those of a controller. */
function validateAvoidance(at: FieldPath, entry: JsonObject): void {
  const { podController } = objectOf(objectOf(entry).podSignature);
  if (podController === undefined || podController === null) at.required();
  else if (objectOf(podController).controller !== true)
    at.field('PodController').field('Controller').invalid(false, 'must point to a controller');
}
