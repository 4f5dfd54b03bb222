import type {
  HorizontalPodAutoscaler,
  HPAScalingRules,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../../../api/types/autoscaling/v2.ts';
import { age, NONE } from '../../cells.ts';
import { column, define, nameColumn, type Table } from '../../define.ts';
import { checked } from '../../rules/checked.ts';
import { autoscalerV1 } from './v1.ts';
import { SCALED_TO_NOTHING, SOURCE_FIELDS, VERSIONS, validate, validateStatus } from './validate.ts';

/** Without metrics, scales by CPU at 80% of requests. */
function setDefaults({ spec = {} }: HorizontalPodAutoscaler): void {
  const { metrics = [], behavior } = spec;
  if (metrics.length === 0) {
    const target = { type: 'Utilization', averageUtilization: 80 };
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
  }
  if (behavior === undefined) return;
  spec.behavior = {
    scaleUp: { ...scaleUpRules(), ...behavior.scaleUp },
    scaleDown: { ...scaleDownRules(), ...behavior.scaleDown },
  };
}

const PERIOD_SECONDS = 15;

/** Up fast: by 100%, or four pods, whichever is more. */
const scaleUpRules = (): HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: PERIOD_SECONDS },
    { type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS },
  ],
});

/** Down all at once, after the time that the controller is configured to wait. */
const scaleDownRules = (): HPAScalingRules => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS }],
});

const table: Table<HorizontalPodAutoscaler> = {
  columns: [
    nameColumn(),
    column('Reference'),
    column('Targets'),
    column('MinPods'),
    column('MaxPods'),
    column('Replicas'),
    column('Age'),
  ],
  cells: (autoscaler, now) => {
    const { metadata, spec = {}, status = {} } = autoscaler;
    const { kind = '', name = '' } = spec.scaleTargetRef ?? {};
    return [
      metadata.name ?? '',
      `${kind}/${name}`,
      metricsText(spec.metrics ?? [], status.currentMetrics ?? []),
      String(spec.minReplicas ?? '<unset>'),
      spec.maxReplicas ?? 0,
      status.currentReplicas ?? 0,
      age(autoscaler, now),
    ];
  },
};

export const horizontalpodautoscalers = define<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  resource: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  namespaced: true,
  shortNames: ['hpa'],
  categories: ['all'],
  versions: [
    { version: 'v2', type: 'autoscaling/v2.HorizontalPodAutoscaler' },
    { version: 'v1', type: 'autoscaling/v1.HorizontalPodAutoscaler', conversion: autoscalerV1 },
  ],
  emptyStatus: { desiredReplicas: 0, currentMetrics: null },
  validateStatus: checked(validateStatus),
  table,
  ratchets: [SCALED_TO_NOTHING, VERSIONS],
  strategy: {
    defaults: setDefaults,
    validate: checked(validate),
  },
});

const UNKNOWN = '<unknown>';
const MAX_SHOWN = 2;

function metricsText(metrics: readonly MetricSpec[], current: readonly MetricStatus[]): string {
  if (metrics.length === 0) return NONE;
  const texts = metrics.map((metric, at) => metricText(metric, current[at] ?? {}));
  const more = texts.length > MAX_SHOWN ? ` + ${texts.length - MAX_SHOWN} more...` : '';
  return texts.slice(0, MAX_SHOWN).join(', ') + more;
}

function metricText(metric: MetricSpec, observed: MetricStatus): string {
  const field = SOURCE_FIELDS.get(metric.type ?? '');
  if (field === undefined) return '<unknown type>';
  const target = metric[field]?.target ?? {};
  const current = observed[field]?.current ?? {};
  if (field === 'resource' || field === 'containerResource')
    return `${metric[field]?.name ?? ''}: ${resourceText(target, current)}`;
  if (target.averageValue === undefined) return `${current.value || UNKNOWN}/${target.value ?? ''}`;
  const average = averageText(target.averageValue, current);
  return field === 'pods' ? average : `${average} (avg)`;
}

function resourceText(target: MetricTarget, current: MetricValueStatus): string {
  if (target.averageValue !== undefined) return averageText(target.averageValue, current);
  return `${percentText(current, UNKNOWN)}/${percentText(target, '<auto>')}`;
}

const averageText = (target: string, { averageValue }: MetricValueStatus): string =>
  `${averageValue || UNKNOWN}/${target}`;

const percentText = ({ averageUtilization }: MetricTarget, fallback: string): string =>
  averageUtilization === undefined ? fallback : `${averageUtilization}%`;
