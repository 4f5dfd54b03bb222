import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../../../api/types/autoscaling/v2.ts';
import { age, NONE } from '../../cells.ts';
import { column, nameColumn, type Table } from '../../define.ts';
import { SOURCE_FIELDS } from './validate-metrics.ts';

export const table: Table<HorizontalPodAutoscaler> = {
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
