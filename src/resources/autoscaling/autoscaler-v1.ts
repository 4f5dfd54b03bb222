import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { count, part, parts } from '../../object/parts.ts';
import type { Conversion } from '../../registry/definition.ts';
import { fromV1Metric, toV1Metric } from './metrics-v1.ts';

/**
 * autoscaling/v1 on the storage of v2. v1 has room for one metric, CPU utilization; whatever else v2 has travels in
 * annotations, so that an object that is read and written through v1 loses nothing (Kubernetes: pkg/apis/autoscaling/v1).
 */
const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const CURRENT_METRICS = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CARRIED = [METRICS, BEHAVIOR, CONDITIONS, CURRENT_METRICS];

export const autoscalerV1: Conversion = { toStorage, fromStorage };

function toStorage(v1: ApiObject): ApiObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = part(v1, 'spec');
  const carried = v1.metadata.annotations ?? {};
  const cpu =
    target === undefined ? [] : [cpuMetric('target', { type: 'Utilization', averageUtilization: target })];
  const metrics = [...readList(carried[METRICS]).map((metric) => fromV1Metric(metric, 'spec')), ...cpu];
  const behavior = readBehavior(carried[BEHAVIOR]);
  return {
    ...v1,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(v1, {}),
    spec: {
      ...spec,
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(behavior === undefined ? {} : { behavior }),
    },
    status: statusToStorage(part(v1, 'status'), carried),
  };
}

function statusToStorage(v1: JsonObject, carried: Readonly<Record<string, string>>): JsonObject {
  const { currentCPUUtilizationPercentage: current, currentReplicas, ...status } = v1;
  const { desiredReplicas, ...observed } = status;
  const used = current === undefined ? [] : [cpuMetric('current', { averageUtilization: current })];
  const measured = readList(carried[CURRENT_METRICS]).map((metric) => fromV1Metric(metric, 'status'));
  // The annotation says all that the percentage says, and more.
  const currentMetrics = measured.length > 0 ? measured : used;
  const conditions = readList(carried[CONDITIONS]);
  return {
    ...observed,
    ...(count(currentReplicas) === 0 ? {} : { currentReplicas }),
    desiredReplicas: count(desiredReplicas),
    currentMetrics: currentMetrics.length === 0 ? null : currentMetrics,
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

function fromStorage(v2: ApiObject): ApiObject {
  const { metrics: _, behavior, ...spec } = part(v2, 'spec');
  const { currentMetrics: __, conditions, currentReplicas, desiredReplicas, ...status } = part(v2, 'status');
  const metrics = parts(part(v2, 'spec'), 'metrics');
  const current = parts(part(v2, 'status'), 'currentMetrics');
  const target = metrics
    .map((metric) => cpuPercent(metric, 'target'))
    .find((percent) => percent !== undefined);
  const used = current
    .map((metric) => cpuPercent(metric, 'current'))
    .findLast((percent) => percent !== undefined);
  const others = metrics.filter((metric) => cpuPercent(metric, 'target') === undefined);
  const annotations = {
    ...carry(
      METRICS,
      others.map((metric) => toV1Metric(metric, 'spec')),
    ),
    ...carry(
      CURRENT_METRICS,
      current.map((metric) => toV1Metric(metric, 'status')),
    ),
    ...(behavior === undefined
      ? {}
      : { [BEHAVIOR]: JSON.stringify(toGoBehavior(part(v2, 'spec', 'behavior'))) }),
    ...carry(CONDITIONS, Array.isArray(conditions) ? conditions : []),
  };
  return {
    ...v2,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(v2, annotations),
    spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: {
      ...status,
      currentReplicas: count(currentReplicas),
      desiredReplicas: count(desiredReplicas),
      ...(used === undefined ? {} : { currentCPUUtilizationPercentage: used }),
    },
  };
}

const cpuMetric = (field: string, value: JsonObject): JsonObject => ({
  type: 'Resource',
  resource: { name: 'cpu', [field]: value },
});

/** What v1 has a field for. */
function cpuPercent(metric: JsonObject, field: 'target' | 'current'): number | undefined {
  if (metric.type !== 'Resource' || part(metric, 'resource').name !== 'cpu') return undefined;
  const percent = part(metric, 'resource', field).averageUtilization;
  return typeof percent === 'number' ? percent : undefined;
}

const carry = (name: string, values: readonly JsonValue[]): Record<string, string> =>
  values.length === 0 ? {} : { [name]: JSON.stringify(values) };

/** An annotation that somebody has spoiled is as good as none. */
function readJson(text: string | undefined): JsonValue {
  try {
    return text === undefined ? null : (JSON.parse(text) as JsonValue);
  } catch {
    return null;
  }
}

function readList(text: string | undefined): JsonObject[] {
  const value = readJson(text);
  const isObject = (item: JsonValue): item is JsonObject =>
    typeof item === 'object' && item !== null && !Array.isArray(item);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * Behavior is carried as Go writes a struct whose fields have no JSON names: with capitals, and null for what is not set.
 *
 *   {"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[…]},"ScaleDown":null}
 */
function toGoBehavior({ scaleUp, scaleDown }: JsonObject): JsonObject {
  return { ScaleUp: toGoRules(scaleUp), ScaleDown: toGoRules(scaleDown) };
}

function toGoRules(rules: JsonValue | undefined): JsonObject | null {
  if (rules === undefined || rules === null) return null;
  const { stabilizationWindowSeconds, selectPolicy, policies } = part({ rules }, 'rules');
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds ?? null,
    SelectPolicy: selectPolicy ?? null,
    Policies: renamed(policies ?? null, (name) => name.slice(0, 1).toUpperCase() + name.slice(1)),
  };
}

/** As Go reads it: names in any case. Undefined when there is none. */
function readBehavior(text: string | undefined): JsonObject | undefined {
  const read = renamed(readJson(text), (name) => name.slice(0, 1).toLowerCase() + name.slice(1));
  const behavior = part({ read }, 'read');
  return Object.keys(behavior).length === 0 ? undefined : behavior;
}

/** The value with its fields renamed; those without a value are left out. */
function renamed(value: JsonValue, rename: (name: string) => string): JsonValue {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  const out: JsonObject = {};
  for (const [name, item] of Object.entries(value)) {
    if (item !== undefined && item !== null) out[rename(name)] = renamed(item, rename);
  }
  return out;
}

function withAnnotations(object: ApiObject, added: Record<string, string>): ApiObject['metadata'] {
  const { annotations = {}, ...metadata } = object.metadata;
  const kept = Object.fromEntries(Object.entries(annotations).filter(([name]) => !CARRIED.includes(name)));
  const all = { ...kept, ...added };
  return Object.keys(all).length === 0 ? metadata : { ...metadata, annotations: all };
}
