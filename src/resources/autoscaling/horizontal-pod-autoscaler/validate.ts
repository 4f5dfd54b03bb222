import type {
  ContainerResourceMetricSource,
  CrossVersionObjectReference,
  ExternalMetricSource,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from '../../../api/types/autoscaling/v2.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import {
  isExtendedResource,
  isNativeResource,
  isStandardContainerResource,
  isStandardResource,
} from '../../../object/resource-list.ts';
import { checkQualifiedName } from '../../../object/text-formats.ts';
import { type Ratchet, ratchetOf } from '../../rules/checked.ts';
import { mustBeName, mustBeNamed, mustBeOneOf } from '../../rules/name-rules.ts';
import { mustAllBeNonNegative, mustBeNonNegativeQuantity, nanosOf } from '../../rules/numbers.ts';

export function validate(root: FieldPath, { spec = {} }: HorizontalPodAutoscaler): void {
  const at = root.field('spec');
  const { scaleUp, scaleDown } = spec.behavior ?? {};
  validateReplicas(at, spec);
  validateReference(at.field('scaleTargetRef'), spec.scaleTargetRef ?? {});
  mustNameGroup(at.field('scaleTargetRef').field('apiVersion'), spec.scaleTargetRef ?? {});
  for (const [path, metric] of at.field('metrics').each(spec.metrics)) validateMetric(path, metric);
  if (scaleUp !== undefined) validateRules(at.field('behavior').field('scaleUp'), scaleUp);
  if (scaleDown !== undefined) validateRules(at.field('behavior').field('scaleDown'), scaleDown);
}

/** An autoscaler with minReplicas 0 was stored while the gate was open. */
export const SCALED_TO_NOTHING: Ratchet<HorizontalPodAutoscaler> = {
  ...ratchetOf(/^spec\.minReplicas$/),
  allows: (old, { spec = {} }) => old.spec?.minReplicas === 0 && (spec.minReplicas ?? 0) >= 0,
};

function validateReplicas(at: FieldPath, spec: HorizontalPodAutoscalerSpec): void {
  const { minReplicas: least, maxReplicas: most = 0 } = spec;
  const lowest = at.isOn('HPAScaleToZero') ? 0 : 1;
  if (least !== undefined && least < lowest)
    at.field('minReplicas').invalid(least, `must be greater than or equal to ${lowest}`);
  validateMost(at.field('maxReplicas'), most);
  if (least !== undefined && most < least)
    at.field('maxReplicas').invalid(most, 'must be greater than or equal to `minReplicas`');
  if (least === 0) mustHaveOuterMetric(at.field('metrics'), spec);
}

function validateMost(at: FieldPath, most: number): void {
  if (most >= 1) return;
  if (at.minor < 36) at.invalid(most, 'must be greater than 0');
  else if (most === 0) at.required('must be set and greater than 0');
  else at.invalid(most, 'must be greater than or equal to 1');
}

/** Without pods there is no usage to measure. */
function mustHaveOuterMetric(at: FieldPath, { metrics = [] }: HorizontalPodAutoscalerSpec): void {
  if (!metrics.some(({ type }) => type === 'Object' || type === 'External'))
    at.forbidden('must specify at least one Object or External metric to support scaling to zero replicas');
}

const SELECTIONS = ['Disabled', 'Max', 'Min'];
const MAX_WINDOW_SECONDS = 3600;

function validateRules(at: FieldPath, rules: HPAScalingRules): void {
  const { stabilizationWindowSeconds: windowSeconds = 0, selectPolicy, policies = [], tolerance } = rules;
  const path = at.field('stabilizationWindowSeconds');
  if (windowSeconds < 0) path.invalid(windowSeconds, 'must be greater than or equal to zero');
  if (windowSeconds > MAX_WINDOW_SECONDS)
    path.invalid(windowSeconds, `must be less than or equal to ${MAX_WINDOW_SECONDS}`);
  mustBeOneOf(at.field('selectPolicy'), selectPolicy, SELECTIONS);
  mustBeNonNegativeQuantity(at.field('tolerance'), tolerance);
  if (policies.length === 0) at.field('policies').required('must specify at least one Policy');
  for (const [item, policy] of at.field('policies').each(policies)) validatePolicy(item, policy);
}

const POLICIES = ['Percent', 'Pods'];
const MAX_PERIOD_SECONDS = 1800;

function validatePolicy(at: FieldPath, policy: HPAScalingPolicy): void {
  const { type = '', value = 0, periodSeconds = 0 } = policy;
  mustBeOneOf(at.field('type'), type, POLICIES);
  if (value <= 0) at.field('value').invalid(value, 'must be greater than zero');
  if (periodSeconds <= 0) at.field('periodSeconds').invalid(periodSeconds, 'must be greater than zero');
  if (periodSeconds > MAX_PERIOD_SECONDS)
    at.field('periodSeconds').invalid(periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`);
}

export function validateStatus(root: FieldPath, { status = {} }: HorizontalPodAutoscaler): void {
  mustAllBeNonNegative(root.field('status'), status, ['currentReplicas', 'desiredReplicas']);
}

/** The metrics that the number of replicas follows (Kubernetes: autoscaling validation, validateMetricSpec). */

type SourceField = Exclude<keyof MetricSpec, 'type'>;

/** Each type of metric with the field that describes it. */
export const SOURCE_FIELDS: ReadonlyMap<string, SourceField> = new Map([
  ['ContainerResource', 'containerResource'],
  ['External', 'external'],
  ['Object', 'object'],
  ['Pods', 'pods'],
  ['Resource', 'resource'],
]);

type SourceRule<Field extends SourceField> = (at: FieldPath, source: NonNullable<MetricSpec[Field]>) => void;

/** The first of several counts. */
const RULES: { readonly [Field in SourceField]: SourceRule<Field> } = {
  object: validateObject,
  external: validateExternal,
  pods: validatePods,
  resource: validateResource,
  containerResource: validateContainerResource,
};
const PRECEDENCE = Object.keys(RULES) as readonly SourceField[];

function validateMetric(at: FieldPath, metric: MetricSpec): void {
  const { type = '' } = metric;
  const expected = SOURCE_FIELDS.get(type);
  const present = PRECEDENCE.filter((field) => metric[field] !== undefined);
  const [first] = present;
  if (type === '') at.field('type').required('must specify a metric source type');
  if (expected === undefined) at.field('type').notSupported(type, [...SOURCE_FIELDS.keys()]);
  if (first !== undefined) validateSource(at.field(first), metric, first);
  if (expected !== undefined && !present.includes(expected))
    at.field(expected).required('must populate information for the given metric source');
  if (present.length === 1) return;
  for (const field of present)
    if (field !== expected) at.field(field).forbidden('must populate the given metric source only');
}

function validateSource<Field extends SourceField>(at: FieldPath, metric: MetricSpec, field: Field): void {
  const source = metric[field];
  if (source !== undefined) RULES[field](at, source);
}

function validateReference(at: FieldPath, reference: CrossVersionObjectReference): void {
  const { kind = '', name = '' } = reference;
  mustBeNamed(at.field('kind'), kind, 'path-segment');
  mustBeNamed(at.field('name'), name, 'path-segment');
  const { apiVersion = '' } = reference;
  if (judgesVersions(at) && apiVersion.split('/').length > 2)
    at.field('apiVersion').invalid(apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
}

/** Kubernetes 1.34 and later judge the versions of references. */
const judgesVersions = ({ minor }: FieldPath): boolean => minor >= 34;

/** The core group scales replication controllers alone. */
function mustNameGroup(at: FieldPath, { kind, apiVersion = '' }: CrossVersionObjectReference): void {
  if (kind === 'ReplicationController') return;
  const parts = apiVersion.split('/');
  const hasGroup = parts.length > 2 || (parts.length === 2 && parts[0] !== '');
  if (judgesVersions(at) && !hasGroup) at.invalid(apiVersion, 'apiVersion must specify API group');
}

/** Stored references, which older versions did not judge. */
export const VERSIONS: Ratchet<HorizontalPodAutoscaler> = ratchetOf(
  /^spec\.(scaleTargetRef|metrics\[\d+\]\.object\.describedObject)\.apiVersion$/,
);

function validateObject(at: FieldPath, { describedObject, metric, target = {} }: ObjectMetricSource): void {
  validateReference(at.field('describedObject'), describedObject ?? {});
  validateIdentifier(at.field('metric'), metric);
  validateTarget(at.field('target'), target);
  if (target.value === undefined && target.averageValue === undefined)
    at.field('target').field('averageValue').required('must set either a target value or averageValue');
}

function validateExternal(at: FieldPath, { metric, target = {} }: ExternalMetricSource): void {
  const { value, averageValue } = target;
  const path = at.field('target');
  validateIdentifier(at.field('metric'), metric);
  validateTarget(path, target);
  if (value === undefined && averageValue === undefined)
    path.field('averageValue').required('must set either a target value for metric or a per-pod target');
  if (value !== undefined && averageValue !== undefined)
    path.field('value').forbidden('may not set both a target value for metric and a per-pod target');
}

function validatePods(at: FieldPath, { metric, target = {} }: PodsMetricSource): void {
  validateIdentifier(at.field('metric'), metric);
  validateTarget(at.field('target'), target);
  if (target.averageValue === undefined)
    at.field('target').field('averageValue').required('must specify a positive target averageValue');
}

function validateResource(at: FieldPath, { name = '', target = {} }: ResourceMetricSource): void {
  if (name === '') at.field('name').required('must specify a resource name');
  validateTarget(at.field('target'), target);
  validateUtilization(at.field('target'), target);
}

function validateContainerResource(at: FieldPath, source: ContainerResourceMetricSource): void {
  const { name = '', container = '', target = {} } = source;
  if (name === '') at.field('name').required('must specify a resource name');
  else at.field('name').invalidFor(name, checkContainerResource(name));
  if (container === '') at.field('container').required('must specify a container');
  else mustBeName(at.field('container'), container, 'dns-label');
  validateTarget(at.field('target'), target);
  validateUtilization(at.field('target'), target);
}

/** `cpu`, `hugepages-2Mi`, `example.com/gpu` */
function checkContainerResource(name: string): readonly string[] {
  const reasons = checkQualifiedName(name);
  if (reasons.length > 0) return reasons;
  if (name.includes('/')) {
    const isKnown = isNativeResource(name) || isExtendedResource(name);
    return isKnown ? [] : ["doesn't follow extended resource name standard"];
  }
  if (isStandardContainerResource(name)) return [];
  const why = 'must be a standard resource for containers';
  return isStandardResource(name) ? [why] : ['must be a standard resource type or fully qualified', why];
}

/** Targets of resource metrics: an amount, or a share of the pods' requests. */
function validateUtilization(at: FieldPath, { averageUtilization, averageValue }: MetricTarget): void {
  if (averageUtilization === undefined && averageValue === undefined)
    at.field('averageUtilization').required('must set either a target raw value or a target utilization');
  if (averageUtilization !== undefined && averageValue !== undefined)
    at.field('averageValue').forbidden('may not set both a target raw value and a target utilization');
}

const TARGETS = ['Utilization', 'Value', 'AverageValue'];

function validateTarget(at: FieldPath, target: MetricTarget): void {
  const { type = '', averageUtilization } = target;
  if (type === '') at.field('type').required('must specify a metric target type');
  if (!TARGETS.includes(type))
    at.field('type').invalid(type, 'must be either Utilization, Value, or AverageValue');
  mustBePositive(at.field('value'), target.value);
  mustBePositive(at.field('averageValue'), target.averageValue);
  if (averageUtilization !== undefined && averageUtilization < 1)
    at.field('averageUtilization').invalid(averageUtilization, 'must be greater than 0');
}

function mustBePositive(at: FieldPath, quantity: string | undefined): void {
  if (quantity !== undefined && nanosOf(quantity) <= 0n) at.invalid(quantity, 'must be positive');
}

function validateIdentifier(at: FieldPath, { name = '' }: MetricIdentifier = {}): void {
  if (name === '') at.field('name').required('must specify a metric name');
  else mustBeName(at.field('name'), name, 'path-segment');
}
