import type { ObjectMeta } from '../../../api/object-meta.ts';
import type * as v1 from '../../../api/types/autoscaling/v1.ts';
import type * as v2 from '../../../api/types/autoscaling/v2.ts';
import type { Conversion } from '../../../registry/resource-definition.ts';
import {
  readBehavior,
  readConditions,
  readMetricSpecs,
  readMetricStatuses,
  writeBehavior,
} from './v1-annotations.ts';
import { fromV1Spec, fromV1Status, toV1Spec, toV1Status } from './v1-metrics.ts';

/**
 * Converts autoscaling/v1 to v2, the stored version. v1 has one metric, CPU utilization; annotations keep the rest, so that an
 * object read and written through v1 loses nothing (Kubernetes: pkg/apis/autoscaling/v1).
 */
const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const CURRENT_METRICS = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CARRIED = [METRICS, BEHAVIOR, CONDITIONS, CURRENT_METRICS];

export const autoscalerV1: Conversion = { toStorage, fromStorage };

type Annotations = Readonly<Record<string, string>>;

function toStorage(autoscaler: v1.HorizontalPodAutoscaler): v2.HorizontalPodAutoscaler {
  const { targetCPUUtilizationPercentage: target, ...spec } = autoscaler.spec ?? {};
  const { annotations = {} } = autoscaler.metadata;
  const metrics = (readMetricSpecs(annotations[METRICS]) ?? []).map(fromV1Spec);
  if (target !== undefined) metrics.push(cpuTarget(target));
  const behavior = readBehavior(annotations[BEHAVIOR]) ?? {};
  return {
    ...autoscaler,
    apiVersion: 'autoscaling/v2',
    metadata: withCarried(autoscaler.metadata, {}),
    spec: {
      ...spec,
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(Object.keys(behavior).length === 0 ? {} : { behavior }),
    },
    status: statusToStorage(autoscaler.status ?? {}, annotations),
  };
}

function statusToStorage(
  status: v1.HorizontalPodAutoscalerStatus,
  annotations: Annotations,
): v2.HorizontalPodAutoscalerStatus {
  const {
    currentCPUUtilizationPercentage: used,
    currentReplicas = 0,
    desiredReplicas = 0,
    ...observed
  } = status;
  const measured = (readMetricStatuses(annotations[CURRENT_METRICS]) ?? []).map(fromV1Status);
  // The annotation includes the percentage.
  if (measured.length === 0 && used !== undefined) measured.push(cpuUse(used));
  const conditions = readConditions(annotations[CONDITIONS]) ?? [];
  return {
    ...observed,
    ...(currentReplicas === 0 ? {} : { currentReplicas }),
    desiredReplicas,
    currentMetrics: measured.length === 0 ? null : measured,
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

function fromStorage(autoscaler: v2.HorizontalPodAutoscaler): v1.HorizontalPodAutoscaler {
  const { metrics = [], behavior, ...spec } = autoscaler.spec ?? {};
  const {
    currentMetrics,
    conditions = [],
    currentReplicas,
    desiredReplicas,
    ...status
  } = autoscaler.status ?? {};
  const current = currentMetrics ?? [];
  const target = metrics.map(cpuTargetOf).find((percent) => percent !== undefined);
  const used = current.map(cpuUseOf).findLast((percent) => percent !== undefined);
  const others = metrics.filter((metric) => cpuTargetOf(metric) === undefined);
  const carried = {
    ...carry(METRICS, others.map(toV1Spec)),
    ...carry(CURRENT_METRICS, current.map(toV1Status)),
    ...(behavior === undefined ? {} : { [BEHAVIOR]: writeBehavior(behavior) }),
    ...carry(CONDITIONS, conditions),
  };
  return {
    ...autoscaler,
    apiVersion: 'autoscaling/v1',
    metadata: withCarried(autoscaler.metadata, carried),
    spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: {
      ...status,
      currentReplicas: currentReplicas ?? 0,
      desiredReplicas: desiredReplicas ?? 0,
      ...(used === undefined ? {} : { currentCPUUtilizationPercentage: used }),
    },
  };
}

/** Parts of v2 that v1 has fields for. */

const cpuTarget = (averageUtilization: number): v2.MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

const cpuTargetOf = ({ type, resource }: v2.MetricSpec): number | undefined =>
  type === 'Resource' && resource?.name === 'cpu' ? resource.target?.averageUtilization : undefined;

const cpuUse = (averageUtilization: number): v2.MetricStatus => ({
  type: 'Resource',
  resource: { name: 'cpu', current: { averageUtilization } },
});

const cpuUseOf = ({ type, resource }: v2.MetricStatus): number | undefined =>
  type === 'Resource' && resource?.name === 'cpu' ? resource.current?.averageUtilization : undefined;

const carry = (name: string, values: readonly object[]): Annotations =>
  values.length === 0 ? {} : { [name]: JSON.stringify(values) };

/** Metadata with these annotations in the place of those that carried something before. */
function withCarried({ annotations = {}, ...metadata }: ObjectMeta, carried: Annotations): ObjectMeta {
  const others = Object.entries(annotations).filter(([name]) => !CARRIED.includes(name));
  const all = { ...Object.fromEntries(others), ...carried };
  return Object.keys(all).length === 0 ? metadata : { ...metadata, annotations: all };
}
