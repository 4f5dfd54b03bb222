import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { Conversion } from '../../registry/definition.ts';
import { part, parts } from '../cells.ts';

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
  const { currentCPUUtilizationPercentage: current, ...status } = part(v1, 'status');
  const carried = v1.metadata.annotations ?? {};
  const cpu =
    target === undefined ? [] : [cpuMetric('target', { type: 'Utilization', averageUtilization: target })];
  const metrics = [...cpu, ...readCarried(carried[METRICS], [])];
  const behavior = readCarried<JsonObject | undefined>(carried[BEHAVIOR], undefined);
  const conditions = readCarried<JsonObject[]>(carried[CONDITIONS], []);
  const used = current === undefined ? [] : [cpuMetric('current', { averageUtilization: current })];
  const currentMetrics = [...used, ...readCarried<JsonObject[]>(carried[CURRENT_METRICS], [])];
  return {
    ...v1,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(v1, {}),
    spec: {
      ...spec,
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(behavior === undefined ? {} : { behavior }),
    },
    status: {
      ...status,
      currentMetrics: currentMetrics.length === 0 ? null : currentMetrics,
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  };
}

function fromStorage(v2: ApiObject): ApiObject {
  const { metrics: _, behavior, ...spec } = part(v2, 'spec');
  const { currentMetrics: __, conditions, ...status } = part(v2, 'status');
  const target = splitCpu(parts(part(v2, 'spec'), 'metrics'), 'target');
  const current = splitCpu(parts(part(v2, 'status'), 'currentMetrics'), 'current');
  const annotations = {
    ...carry(METRICS, target.others),
    ...(behavior === undefined ? {} : { [BEHAVIOR]: JSON.stringify(behavior) }),
    ...carry(CONDITIONS, Array.isArray(conditions) ? conditions : []),
    ...carry(CURRENT_METRICS, current.others),
  };
  return {
    ...v2,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(v2, annotations),
    spec: {
      ...spec,
      ...(target.percent === undefined ? {} : { targetCPUUtilizationPercentage: target.percent }),
    },
    status: {
      currentReplicas: 0,
      ...status,
      ...(current.percent === undefined ? {} : { currentCPUUtilizationPercentage: current.percent }),
    },
  };
}

const cpuMetric = (field: string, value: JsonObject): JsonObject => ({
  type: 'Resource',
  resource: { name: 'cpu', [field]: value },
});

function splitCpu(
  metrics: readonly JsonObject[],
  field: string,
): { percent: number | undefined; others: JsonObject[] } {
  const percentOf = (metric: JsonObject): unknown =>
    part(metric, 'resource').name === 'cpu' ? part(metric, 'resource', field).averageUtilization : undefined;
  const cpu = metrics.find((metric) => typeof percentOf(metric) === 'number');
  const percent = cpu === undefined ? undefined : percentOf(cpu);
  return {
    percent: typeof percent === 'number' ? percent : undefined,
    others: metrics.filter((metric) => metric !== cpu),
  };
}

const carry = (name: string, values: readonly unknown[]): Record<string, string> =>
  values.length === 0 ? {} : { [name]: JSON.stringify(values) };

/** An annotation that somebody has spoiled is as good as none. */
function readCarried<T>(text: string | undefined, fallback: T): T {
  try {
    return text === undefined ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

function withAnnotations(object: ApiObject, added: Record<string, string>): ApiObject['metadata'] {
  const { annotations = {}, ...metadata } = object.metadata;
  const kept = Object.fromEntries(Object.entries(annotations).filter(([name]) => !CARRIED.includes(name)));
  const all = { ...kept, ...added };
  return Object.keys(all).length === 0 ? metadata : { ...metadata, annotations: all };
}
