import type { JsonValue } from '../../../api/object-meta.ts';
import type * as v1 from '../../../api/types/autoscaling/v1.ts';
import type * as v2 from '../../../api/types/autoscaling/v2.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../../../api/types/meta/v1.ts';
import { DecodeError } from '../../../codec/decode-error.ts';
import { decodeScalar } from '../../../codec/decode-scalar.ts';
import { isObject } from '../../../object/json-values.ts';

/**
 * Annotations in which autoscaling/v1 keeps values that it has no fields for. Users can write them, so that their texts are
 * decoded by type, field for field, as in Go.
 */

/** @throws DecodeError for a value of another type */
type Reader<T> = (value: JsonValue) => T;

/** An annotation that cannot be read counts as absent. */
const reading =
  <T>(read: Reader<T>) =>
  (text: string | undefined): T | undefined => {
    if (text === undefined) return undefined;
    try {
      return read(JSON.parse(text));
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof DecodeError) return undefined;
      throw error;
    }
  };

function misfit(): never {
  throw new DecodeError('a value of another type');
}

const writtenAs =
  (kind: 'string' | 'Quantity' | 'Time'): Reader<string> =>
  (value) => {
    const decoded = decodeScalar(value, kind);
    return typeof decoded === 'string' ? decoded : misfit();
  };

const text = writtenAs('string');
const quantity = writtenAs('Quantity');
const time = writtenAs('Time');

const int32: Reader<number> = (value) => {
  const decoded = decodeScalar(value, 'int32');
  return typeof decoded === 'number' ? decoded : misfit();
};

const listOf =
  <T>(item: Reader<T>): Reader<T[]> =>
  (value) =>
    Array.isArray(value) ? value.map(item) : misfit();

const mapOf =
  <T>(item: Reader<T>): Reader<Record<string, T>> =>
  (value) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, item(one ?? null)]))
      : misfit();

type Readers<T> = { readonly [Name in keyof T]-?: Reader<NonNullable<T[Name]>> };

/**
 * Names begin with a small or a capital letter, and unknown fields are left out. So is null, but in `nullable` fields, which
 * Go always writes.
 */
function message<T extends object>(readers: Readers<T>, nullable: readonly (keyof T)[] = []): Reader<T> {
  const known = new Map<string, Reader<unknown>>(Object.entries(readers));
  const canBeNull = new Set<PropertyKey>(nullable);
  return (value) => {
    if (!isObject(value)) return misfit();
    const fields: [string, unknown][] = [];
    for (const [key, field = null] of Object.entries(value)) {
      const name = key.slice(0, 1).toLowerCase() + key.slice(1);
      const read = known.get(name);
      if (field === null && canBeNull.has(name)) fields.push([name, null]);
      else if (field !== null && read !== undefined) fields.push([name, read(field)]);
    }
    return Object.fromEntries(fields) as T;
  };
}

const reference = message<v1.CrossVersionObjectReference>({ kind: text, name: text, apiVersion: text });
const selector = message<LabelSelector>({
  matchLabels: mapOf(text),
  matchExpressions: listOf(
    message<LabelSelectorRequirement>({ key: text, operator: text, values: listOf(text) }),
  ),
});

export const readMetricSpecs = reading(
  listOf(
    message<v1.MetricSpec>({
      type: text,
      object: message<v1.ObjectMetricSource>({
        target: reference,
        metricName: text,
        targetValue: quantity,
        selector,
        averageValue: quantity,
      }),
      pods: message<v1.PodsMetricSource>({ metricName: text, targetAverageValue: quantity, selector }),
      resource: message<v1.ResourceMetricSource>({
        name: text,
        targetAverageUtilization: int32,
        targetAverageValue: quantity,
      }),
      containerResource: message<v1.ContainerResourceMetricSource>({
        name: text,
        targetAverageUtilization: int32,
        targetAverageValue: quantity,
        container: text,
      }),
      external: message<v1.ExternalMetricSource>({
        metricName: text,
        metricSelector: selector,
        targetValue: quantity,
        targetAverageValue: quantity,
      }),
    }),
  ),
);

export const readMetricStatuses = reading(
  listOf(
    message<v1.MetricStatus>({
      type: text,
      object: message<v1.ObjectMetricStatus>({
        target: reference,
        metricName: text,
        currentValue: quantity,
        selector,
        averageValue: quantity,
      }),
      pods: message<v1.PodsMetricStatus>({ metricName: text, currentAverageValue: quantity, selector }),
      resource: message<v1.ResourceMetricStatus>({
        name: text,
        currentAverageUtilization: int32,
        currentAverageValue: quantity,
      }),
      containerResource: message<v1.ContainerResourceMetricStatus>({
        name: text,
        currentAverageUtilization: int32,
        currentAverageValue: quantity,
        container: text,
      }),
      external: message<v1.ExternalMetricStatus>({
        metricName: text,
        metricSelector: selector,
        currentValue: quantity,
        currentAverageValue: quantity,
      }),
    }),
  ),
);

export const readConditions = reading(
  listOf(
    message<v2.HorizontalPodAutoscalerCondition>(
      { type: text, status: text, lastTransitionTime: time, reason: text, message: text },
      ['lastTransitionTime'],
    ),
  ),
);

const rules = message<v2.HPAScalingRules>({
  stabilizationWindowSeconds: int32,
  selectPolicy: text,
  policies: listOf(message<v2.HPAScalingPolicy>({ type: text, value: int32, periodSeconds: int32 })),
  tolerance: quantity,
});

export const readBehavior = reading(
  message<v2.HorizontalPodAutoscalerBehavior>({ scaleUp: rules, scaleDown: rules }),
);

/**
 * Writes behavior as Go does a struct without JSON names: capitalized, with null for unset fields.
 *
 *   {"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[…]},"ScaleDown":null}
 */
export const writeBehavior = ({ scaleUp, scaleDown }: v2.HorizontalPodAutoscalerBehavior): string =>
  JSON.stringify({ ScaleUp: toGoRules(scaleUp), ScaleDown: toGoRules(scaleDown) });

function toGoRules(rules: v2.HPAScalingRules | undefined): JsonValue {
  if (rules === undefined) return null;
  const { stabilizationWindowSeconds, selectPolicy, policies, tolerance } = rules;
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds ?? null,
    SelectPolicy: selectPolicy ?? null,
    Policies:
      policies?.map(({ type, value, periodSeconds }) => ({
        Type: type,
        Value: value,
        PeriodSeconds: periodSeconds,
      })) ?? null,
    ...(tolerance === undefined ? {} : { Tolerance: tolerance }),
  };
}
