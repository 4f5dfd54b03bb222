import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { part } from '../../object/parts.ts';

/**
 * Metrics as autoscaling/v1 writes them into annotations, which is not how v2 has them
 * (Kubernetes: pkg/apis/autoscaling/v1, conversion.go). `spec` is what is wanted, `status` what was measured.
 */
interface Shape {
  to(source: JsonObject): JsonObject;
  from(source: JsonObject): JsonObject;
}

export function toV1Metric(metric: JsonObject, of: 'spec' | 'status'): JsonObject {
  return reshape(metric, of, 'to');
}

export function fromV1Metric(metric: JsonObject, of: 'spec' | 'status'): JsonObject {
  return reshape(metric, of, 'from');
}

function reshape(metric: JsonObject, of: 'spec' | 'status', direction: keyof Shape): JsonObject {
  const out: JsonObject = { type: metric.type };
  for (const [field, shapes] of Object.entries(SHAPES)) {
    if (metric[field] !== undefined && metric[field] !== null)
      out[field] = defined(shapes[of][direction](part(metric, field)));
  }
  return out;
}

/** Without the fields that have no value. */
function defined(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && value !== null),
  );
}

/** v1 has some amounts that cannot be absent. */
const amount = (value: JsonValue | undefined): JsonValue => value ?? '0';

const identifier = (source: JsonObject, selector = 'selector'): JsonObject =>
  defined({ name: source.metricName, selector: source[selector] });

const object: { spec: Shape; status: Shape } = {
  spec: {
    to: (source) => ({
      target: source.describedObject,
      metricName: part(source, 'metric').name,
      targetValue: amount(part(source, 'target').value),
      selector: part(source, 'metric').selector,
      averageValue: part(source, 'target').averageValue,
    }),
    from: (source) => ({
      describedObject: source.target,
      target: defined({
        type: source.averageValue === undefined ? 'Value' : 'AverageValue',
        value: source.targetValue,
        averageValue: source.averageValue,
      }),
      metric: identifier(source),
    }),
  },
  status: {
    to: (source) => ({
      target: source.describedObject,
      metricName: part(source, 'metric').name,
      currentValue: amount(part(source, 'current').value),
      selector: part(source, 'metric').selector,
      averageValue: part(source, 'current').averageValue,
    }),
    from: (source) => ({
      metric: identifier(source),
      current: defined({ value: source.currentValue, averageValue: source.averageValue }),
      describedObject: source.target,
    }),
  },
};

const pods: { spec: Shape; status: Shape } = {
  spec: {
    to: (source) => ({
      metricName: part(source, 'metric').name,
      targetAverageValue: amount(part(source, 'target').averageValue),
      selector: part(source, 'metric').selector,
    }),
    from: (source) => ({
      metric: identifier(source),
      target: defined({ type: 'AverageValue', averageValue: source.targetAverageValue }),
    }),
  },
  status: {
    to: (source) => ({
      metricName: part(source, 'metric').name,
      currentAverageValue: amount(part(source, 'current').averageValue),
      selector: part(source, 'metric').selector,
    }),
    from: (source) => ({
      metric: identifier(source),
      current: defined({ averageValue: source.currentAverageValue }),
    }),
  },
};

/** Of pods or of one container in each of them, which then has a name. */
const resource: { spec: Shape; status: Shape } = {
  spec: {
    to: (source) => ({
      name: source.name,
      targetAverageUtilization: part(source, 'target').averageUtilization,
      targetAverageValue: part(source, 'target').averageValue,
      container: source.container,
    }),
    from: (source) => ({
      name: source.name,
      target: defined({
        type: source.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
        averageValue: source.targetAverageValue,
        averageUtilization: source.targetAverageUtilization,
      }),
      container: source.container,
    }),
  },
  status: {
    to: (source) => ({
      name: source.name,
      currentAverageUtilization: part(source, 'current').averageUtilization,
      currentAverageValue: amount(part(source, 'current').averageValue),
      container: source.container,
    }),
    from: (source) => ({
      name: source.name,
      current: defined({
        averageValue: source.currentAverageValue,
        averageUtilization: source.currentAverageUtilization,
      }),
      container: source.container,
    }),
  },
};

const external: { spec: Shape; status: Shape } = {
  spec: {
    to: (source) => ({
      metricName: part(source, 'metric').name,
      metricSelector: part(source, 'metric').selector,
      targetValue: part(source, 'target').value,
      targetAverageValue: part(source, 'target').averageValue,
    }),
    from: (source) => ({
      metric: identifier(source, 'metricSelector'),
      target: defined({
        type: source.targetValue === undefined ? 'AverageValue' : 'Value',
        value: source.targetValue,
        averageValue: source.targetAverageValue,
      }),
    }),
  },
  status: {
    to: (source) => ({
      metricName: part(source, 'metric').name,
      metricSelector: part(source, 'metric').selector,
      currentValue: amount(part(source, 'current').value),
      currentAverageValue: part(source, 'current').averageValue,
    }),
    from: (source) => ({
      metric: identifier(source, 'metricSelector'),
      current: defined({ value: source.currentValue, averageValue: source.currentAverageValue }),
    }),
  },
};

const SHAPES = { object, pods, resource, containerResource: resource, external };
