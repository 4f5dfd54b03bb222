import type * as v1 from '../../../api/types/autoscaling/v1.ts';
import type * as v2 from '../../../api/types/autoscaling/v2.ts';

/**
 * Metrics in the annotations of autoscaling/v1, whose form differs from v2 (Kubernetes: pkg/apis/autoscaling/v1,
 * conversion.go). A spec has targets, a status measurements.
 */

/** v1 has some amounts that cannot be absent. */
const NO_AMOUNT = '0';

/** All fields of a message, those without a value among them. */
type Spread<T> = { [Name in keyof T]-?: T[Name] | undefined };

/** A message of the fields that have a value. */
const messageOf = <T extends object>(fields: Spread<T>): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

export function toV1Spec(metric: v2.MetricSpec): v1.MetricSpec {
  const { type, object, pods, resource, containerResource, external } = metric;
  return messageOf<v1.MetricSpec>({
    type,
    object:
      object &&
      messageOf<v1.ObjectMetricSource>({
        target: object.describedObject,
        metricName: object.metric?.name,
        targetValue: object.target?.value ?? NO_AMOUNT,
        selector: object.metric?.selector,
        averageValue: object.target?.averageValue,
      }),
    pods:
      pods &&
      messageOf<v1.PodsMetricSource>({
        metricName: pods.metric?.name,
        targetAverageValue: pods.target?.averageValue ?? NO_AMOUNT,
        selector: pods.metric?.selector,
      }),
    resource: resource && messageOf<v1.ResourceMetricSource>(toV1Resource(resource)),
    containerResource:
      containerResource &&
      messageOf<v1.ContainerResourceMetricSource>({
        ...toV1Resource(containerResource),
        container: containerResource.container,
      }),
    external:
      external &&
      messageOf<v1.ExternalMetricSource>({
        metricName: external.metric?.name,
        metricSelector: external.metric?.selector,
        targetValue: external.target?.value,
        targetAverageValue: external.target?.averageValue,
      }),
  });
}

const toV1Resource = ({ name, target }: v2.ResourceMetricSource): Spread<v1.ResourceMetricSource> => ({
  name,
  targetAverageUtilization: target?.averageUtilization,
  targetAverageValue: target?.averageValue,
});

export function toV1Status(metric: v2.MetricStatus): v1.MetricStatus {
  const { type, object, pods, resource, containerResource, external } = metric;
  return messageOf<v1.MetricStatus>({
    type,
    object:
      object &&
      messageOf<v1.ObjectMetricStatus>({
        target: object.describedObject,
        metricName: object.metric?.name,
        currentValue: object.current?.value ?? NO_AMOUNT,
        selector: object.metric?.selector,
        averageValue: object.current?.averageValue,
      }),
    pods:
      pods &&
      messageOf<v1.PodsMetricStatus>({
        metricName: pods.metric?.name,
        currentAverageValue: pods.current?.averageValue ?? NO_AMOUNT,
        selector: pods.metric?.selector,
      }),
    resource: resource && messageOf<v1.ResourceMetricStatus>(toV1ResourceStatus(resource)),
    containerResource:
      containerResource &&
      messageOf<v1.ContainerResourceMetricStatus>({
        ...toV1ResourceStatus(containerResource),
        container: containerResource.container,
      }),
    external:
      external &&
      messageOf<v1.ExternalMetricStatus>({
        metricName: external.metric?.name,
        metricSelector: external.metric?.selector,
        currentValue: external.current?.value ?? NO_AMOUNT,
        currentAverageValue: external.current?.averageValue,
      }),
  });
}

const toV1ResourceStatus = ({ name, current }: v2.ResourceMetricStatus): Spread<v1.ResourceMetricStatus> => ({
  name,
  currentAverageUtilization: current?.averageUtilization,
  currentAverageValue: current?.averageValue ?? NO_AMOUNT,
});

export function fromV1Spec(metric: v1.MetricSpec): v2.MetricSpec {
  const { type, object, pods, resource, containerResource, external } = metric;
  return messageOf<v2.MetricSpec>({
    type,
    object:
      object &&
      messageOf<v2.ObjectMetricSource>({
        describedObject: object.target,
        target: targetOf(object.averageValue === undefined ? 'Value' : 'AverageValue', {
          value: object.targetValue,
          averageValue: object.averageValue,
        }),
        metric: identifierOf(object.metricName, object.selector),
      }),
    pods: pods && {
      metric: identifierOf(pods.metricName, pods.selector),
      target: targetOf('AverageValue', { averageValue: pods.targetAverageValue }),
    },
    resource: resource && messageOf<v2.ResourceMetricSource>(fromV1Resource(resource)),
    containerResource:
      containerResource &&
      messageOf<v2.ContainerResourceMetricSource>({
        ...fromV1Resource(containerResource),
        container: containerResource.container,
      }),
    external: external && {
      metric: identifierOf(external.metricName, external.metricSelector),
      target: targetOf(external.targetValue === undefined ? 'AverageValue' : 'Value', {
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      }),
    },
  });
}

function fromV1Resource(resource: v1.ResourceMetricSource): Spread<v2.ResourceMetricSource> {
  const { name, targetAverageUtilization: averageUtilization, targetAverageValue: averageValue } = resource;
  const type = averageUtilization === undefined ? 'AverageValue' : 'Utilization';
  return { name, target: targetOf(type, { averageValue, averageUtilization }) };
}

export function fromV1Status(metric: v1.MetricStatus): v2.MetricStatus {
  const { type, object, pods, resource, containerResource, external } = metric;
  return messageOf<v2.MetricStatus>({
    type,
    object:
      object &&
      messageOf<v2.ObjectMetricStatus>({
        metric: identifierOf(object.metricName, object.selector),
        current: valuesOf({ value: object.currentValue, averageValue: object.averageValue }),
        describedObject: object.target,
      }),
    pods: pods && {
      metric: identifierOf(pods.metricName, pods.selector),
      current: valuesOf({ averageValue: pods.currentAverageValue }),
    },
    resource: resource && messageOf<v2.ResourceMetricStatus>(fromV1ResourceStatus(resource)),
    containerResource:
      containerResource &&
      messageOf<v2.ContainerResourceMetricStatus>({
        ...fromV1ResourceStatus(containerResource),
        container: containerResource.container,
      }),
    external: external && {
      metric: identifierOf(external.metricName, external.metricSelector),
      current: valuesOf({ value: external.currentValue, averageValue: external.currentAverageValue }),
    },
  });
}

function fromV1ResourceStatus(resource: v1.ResourceMetricStatus): Spread<v2.ResourceMetricStatus> {
  const { name, currentAverageUtilization: averageUtilization, currentAverageValue: averageValue } = resource;
  return { name, current: valuesOf({ averageValue, averageUtilization }) };
}

const identifierOf = (
  name: string | undefined,
  selector: v2.MetricIdentifier['selector'],
): v2.MetricIdentifier => messageOf<v2.MetricIdentifier>({ name, selector });

type Values = Partial<Spread<v2.MetricValueStatus>>;

const valuesOf = ({ value, averageValue, averageUtilization }: Values): v2.MetricValueStatus =>
  messageOf<v2.MetricValueStatus>({ value, averageValue, averageUtilization });

const targetOf = (type: string, values: Values): v2.MetricTarget => ({ type, ...valuesOf(values) });
