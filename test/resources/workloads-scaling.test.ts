import { expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { horizontalpodautoscalers } from '../../src/resources/autoscaling/horizontal-pod-autoscaler/definition.ts';
import { autoscalerV1 } from '../../src/resources/autoscaling/horizontal-pod-autoscaler/v1.ts';
import { poddisruptionbudgets } from '../../src/resources/policy/pod-disruption-budget.ts';
import { created, problemsOnCreate } from '../kit/manifests.ts';
import { problemsOnStatus, selector } from './workload-manifests.ts';

const scaleTargetRef = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };
const base = { scaleTargetRef, maxReplicas: 5 };
const cpu = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
};
const metrics = [
  cpu,
  {
    type: 'Pods',
    pods: { metric: { name: 'requests' }, target: { type: 'AverageValue', averageValue: '100' } },
  },
  {
    type: 'Object',
    object: {
      describedObject: { kind: 'Ingress', name: 'web' },
      target: { type: 'Value', value: '10k' },
      metric: { name: 'hits', selector },
    },
  },
  {
    type: 'External',
    external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '30' } },
  },
  {
    type: 'ContainerResource',
    containerResource: {
      name: 'memory',
      target: { type: 'AverageValue', averageValue: '1Gi' },
      container: 'main',
    },
  },
];
const FULL = { spec: { ...base, minReplicas: 2, metrics, behavior: { scaleDown: { selectPolicy: 'Min' } } } };
const metric = (...some: JsonObject[]): JsonObject => ({ metrics: some });
const first = 'spec.metrics[0]';

test('a good autoscaler has no problems', () => {
  expect(problemsOnCreate(horizontalpodautoscalers, { spec: base })).toEqual([]);
  expect(problemsOnCreate(horizontalpodautoscalers, FULL)).toEqual([]);
});

test('by default an autoscaler follows CPU and scales in usual steps', () => {
  expect(created(horizontalpodautoscalers, { spec: base }).spec).toEqual({
    ...base,
    minReplicas: 1,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
      },
    ],
  });
  expect(created(horizontalpodautoscalers, FULL).spec).toMatchObject({
    behavior: {
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Max',
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      },
      scaleDown: { selectPolicy: 'Min', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
    },
  });
});

test.each<[string, JsonObject, string[]]>([
  [
    'no target',
    { scaleTargetRef: { kind: 'a/b' } },
    [
      'spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain \'/\'',
      'spec.scaleTargetRef.name: Required value',
    ],
  ],
  [
    'fewer than none',
    { minReplicas: -1 },
    ['spec.minReplicas: Invalid value: -1: must be greater than or equal to 1'],
  ],
  [
    'nothing at all',
    { minReplicas: 0 },
    [
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
    ],
  ],
  [
    'a range upside down',
    { minReplicas: 6 },
    ['spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`'],
  ],
  [
    'no maximum',
    { maxReplicas: 0 },
    [
      'spec.maxReplicas: Invalid value: 0: must be greater than 0',
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
    ],
  ],
  [
    'a metric of no type',
    metric({ type: 'Guess' }),
    [
      `${first}.type: Unsupported value: "Guess": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
    ],
  ],
  [
    'a metric of a type that is no word of the API',
    metric({ type: 'constructor' }),
    [
      `${first}.type: Unsupported value: "constructor": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
    ],
  ],
  [
    'a metric without its source',
    metric({ type: 'Pods' }),
    [`${first}.pods: Required value: must populate information for the given metric source`],
  ],
  [
    'a metric with two sources',
    metric({
      ...cpu,
      type: 'Resource',
      pods: { metric: { name: 'x' }, target: { type: 'AverageValue', averageValue: '1' } },
    }),
    [`${first}.pods: Forbidden: must populate the given metric source only`],
  ],
  [
    'two targets',
    metric({
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0, averageValue: '0' } },
    }),
    [
      `${first}.resource.target.averageUtilization: Invalid value: 0: must be greater than 0`,
      `${first}.resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization`,
      `${first}.resource.target.averageValue: Invalid value: "0": must be positive`,
    ],
  ],
  [
    'no target of a container',
    metric({
      type: 'ContainerResource',
      containerResource: { name: 'coffee', container: 'A', target: { type: 'Much' } },
    }),
    [
      expect.stringMatching(/container: Invalid value: "A": a lowercase RFC 1123 label/),
      `${first}.containerResource.name: Invalid value: "coffee": must be a standard resource for containers`,
      `${first}.containerResource.name: Invalid value: "coffee": must be a standard resource type or fully qualified`,
      `${first}.containerResource.target.averageUtilization: Required value: must set either a target raw value or a target utilization`,
      `${first}.containerResource.target.type: Invalid value: "Much": must be either Utilization, Value, or AverageValue`,
    ],
  ],
  [
    'rules out of bounds',
    {
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 3601,
          selectPolicy: 'Any',
          policies: [{ type: 'Half', value: 0, periodSeconds: 1801 }],
        },
      },
    },
    [
      'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
      'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Half": supported values: "Percent", "Pods"',
      'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Any": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
    ],
  ],
  [
    'rules with an empty list of policies, for which there is no default',
    { behavior: { scaleUp: { policies: [] } } },
    ['spec.behavior.scaleUp.policies: Required value: must specify at least one Policy'],
  ],
])('an autoscaler with %s is refused', (_, change, lines) => {
  expect(problemsOnCreate(horizontalpodautoscalers, { spec: { ...base, ...change } })).toEqual(lines);
});

test('nothing is lost on the way through autoscaling/v1', () => {
  const conditions = [{ type: 'AbleToScale', status: 'True', lastTransitionTime: null }];
  const status = {
    desiredReplicas: 3,
    currentReplicas: 2,
    currentMetrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', current: { averageValue: '50m', averageUtilization: 40 } },
      },
      { type: 'Pods', pods: { metric: { name: 'requests' }, current: { averageValue: '90' } } },
    ],
    conditions,
  };
  const stored: ApiObject = {
    ...created(horizontalpodautoscalers, FULL),
    apiVersion: 'autoscaling/v2',
    status,
  };
  const v1 = autoscalerV1.fromStorage(stored);
  expect(v1.spec).toEqual({ ...base, minReplicas: 2, targetCPUUtilizationPercentage: 60 });
  expect(v1.status).toEqual({ desiredReplicas: 3, currentReplicas: 2, currentCPUUtilizationPercentage: 40 });
  const back = autoscalerV1.toStorage(v1);
  const spec = stored.spec as JsonObject;
  // CPU comes last: v1 has it apart from the others.
  expect(back).toEqual({ ...stored, spec: { ...spec, metrics: [...metrics.slice(1), cpu] } });
});

test('autoscaling/v1 writes annotations as it always has', () => {
  const v1 = autoscalerV1.fromStorage({
    ...created(horizontalpodautoscalers, FULL),
    apiVersion: 'autoscaling/v2',
  });
  const annotations = v1.metadata.annotations ?? {};
  expect(JSON.parse(annotations['autoscaling.alpha.kubernetes.io/metrics'] ?? '')).toEqual([
    { type: 'Pods', pods: { metricName: 'requests', targetAverageValue: '100' } },
    {
      type: 'Object',
      object: { target: { kind: 'Ingress', name: 'web' }, metricName: 'hits', targetValue: '10k', selector },
    },
    { type: 'External', external: { metricName: 'queue', targetAverageValue: '30' } },
    {
      type: 'ContainerResource',
      containerResource: { name: 'memory', targetAverageValue: '1Gi', container: 'main' },
    },
  ]);
  expect(JSON.parse(annotations['autoscaling.alpha.kubernetes.io/behavior'] ?? '').ScaleDown).toEqual({
    StabilizationWindowSeconds: null,
    SelectPolicy: 'Min',
    Policies: [{ Type: 'Percent', Value: 100, PeriodSeconds: 15 }],
  });
  const spoiled = {
    ...v1,
    metadata: { ...v1.metadata, annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '{' } },
  };
  expect(autoscalerV1.toStorage(spoiled).spec).toMatchObject({ metrics: [cpu] });
});

test.each<[string, string, string]>([
  ['metrics', 'a name that is a number', '[{"type":"Pods","pods":{"metricName":5}}]'],
  ['metrics', 'a target that is a text', '[{"type":"Resource","resource":{"targetAverageUtilization":"x"}}]'],
  ['metrics', 'a selector that is a list', '[{"type":"External","external":{"metricSelector":[]}}]'],
  ['metrics', 'metrics that are a map', '{}'],
  ['current-metrics', 'a source that is a text', '[{"type":"Object","object":"x"}]'],
  ['metrics', 'an amount that is none', '[{"type":"Pods","pods":{"targetAverageValue":"much"}}]'],
  ['conditions', 'a condition that is a number', '[1]'],
  ['conditions', 'a time that is none', '[{"type":"A","lastTransitionTime":"yesterday"}]'],
  [
    'behavior',
    'more seconds than there is room for',
    '{"ScaleUp":{"StabilizationWindowSeconds":4294967296}}',
  ],
  ['behavior', 'policies that are a map', '{"ScaleUp":{"Policies":{}}}'],
])('an annotation %s of autoscaling/v1 with %s is as good as none', (name, _, text) => {
  const v1: ApiObject = {
    ...created(horizontalpodautoscalers, { spec: base }),
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'it', annotations: { [`autoscaling.alpha.kubernetes.io/${name}`]: text } },
    spec: base,
  };
  const { spec, status } = autoscalerV1.toStorage(v1);
  expect(spec).toEqual(base);
  expect(status).toEqual({ desiredReplicas: 0, currentMetrics: null });
});

test('an annotation of autoscaling/v1 may say null for what is absent, and amounts as numbers', () => {
  const source = { metricName: 'hits', targetValue: 5, averageValue: null, selector: null, unknown: 1 };
  const annotations = {
    'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify([{ type: 'Object', object: source }]),
  };
  const v1: ApiObject = {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v1',
    metadata: { annotations },
  };
  expect(autoscalerV1.toStorage(v1).spec).toEqual({
    metrics: [
      { type: 'Object', object: { metric: { name: 'hits' }, target: { type: 'Value', value: '5' } } },
    ],
  });
});

test('targets of an autoscaler are shown as kubectl shows them', () => {
  const shown = (some: JsonObject[], currentMetrics: JsonObject[]): unknown => {
    const object = created(horizontalpodautoscalers, { spec: { ...base, metrics: some } });
    return horizontalpodautoscalers.cells({ ...object, status: { currentMetrics } }, 0)[2];
  };
  const [, pods = {}, object = {}, external = {}, container = {}] = metrics as JsonObject[];
  expect(
    shown(
      [cpu, pods, object],
      [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 7 } } }],
    ),
  ).toBe('cpu: 7%/60%, <unknown>/100 + 1 more...');
  expect(shown([object, external], [])).toBe('<unknown>/10k, <unknown>/30 (avg)');
  expect(shown([container], [])).toBe('memory: <unknown>/1Gi');
  expect(shown([{ type: 'constructor' }], [])).toBe('<unknown type>');
});

test('a disruption budget says how many stay or how many go', () => {
  expect(problemsOnCreate(poddisruptionbudgets, { spec: { minAvailable: '50%', selector } })).toEqual([]);
  expect(problemsOnCreate(poddisruptionbudgets, { spec: {} })).toEqual([]);
  const both = { minAvailable: 1, maxUnavailable: '101%', unhealthyPodEvictionPolicy: 'Never' };
  expect(problemsOnCreate(poddisruptionbudgets, { spec: both })).toEqual([
    'spec.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
    'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"',
    'spec: Invalid value: {"minAvailable":1,"maxUnavailable":"101%","unhealthyPodEvictionPolicy":"Never"}: minAvailable and maxUnavailable cannot be both set',
  ]);
  const wrong = { minAvailable: -1, selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } };
  expect(problemsOnCreate(poddisruptionbudgets, { spec: wrong })).toEqual([
    'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0',
    'spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
  ]);
});

test('a status with negative counts or half a condition is refused', () => {
  const conditions = [
    { type: 'DisruptionAllowed', status: 'Maybe', lastTransitionTime: null, reason: '', message: '' },
    {
      type: 'DisruptionAllowed',
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'a b',
      message: '',
    },
  ];
  expect(problemsOnStatus(poddisruptionbudgets, { spec: {} }, { currentHealthy: -1, conditions })).toEqual([
    'status.conditions[0].lastTransitionTime: Required value: must be set',
    'status.conditions[0].reason: Required value: must be set',
    'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
    expect.stringMatching(
      /^status\.conditions\[1\]\.reason: Invalid value: "a b": a condition reason must start/,
    ),
    'status.conditions[1].type: Duplicate value: "DisruptionAllowed"',
    'status.currentHealthy: Invalid value: -1: must be greater than or equal to 0',
  ]);
  expect(
    problemsOnStatus(horizontalpodautoscalers, { spec: base }, { currentReplicas: -1, desiredReplicas: -1 }),
  ).toEqual([
    'status.currentReplicas: Invalid value: -1: must be greater than or equal to 0',
    'status.desiredReplicas: Invalid value: -1: must be greater than or equal to 0',
  ]);
});
