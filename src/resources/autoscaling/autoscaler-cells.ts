import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, count, part, parts, text } from '../cells.ts';

const UNKNOWN = '<unknown>';
const SHOWN = 2;
/** Where each kind of metric keeps its name and target. */
const SOURCES: Readonly<Record<string, string>> = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
};

/** From the v2 form, which is stored. */
export function autoscalerCells(autoscaler: ApiObject, now: number): readonly Cell[] {
  const spec = part(autoscaler, 'spec');
  const target = part(spec, 'scaleTargetRef');
  return [
    autoscaler.metadata.name ?? '',
    `${text(target.kind)}/${text(target.name)}`,
    metricsText(parts(spec, 'metrics'), parts(part(autoscaler, 'status'), 'currentMetrics')),
    text(spec.minReplicas, '<unset>'),
    count(spec.maxReplicas),
    count(part(autoscaler, 'status').currentReplicas),
    age(autoscaler, now),
  ];
}

function metricsText(metrics: readonly JsonObject[], current: readonly JsonObject[]): string {
  if (metrics.length === 0) return '<none>';
  const texts = metrics.map((metric, at) => metricText(metric, current[at] ?? {}));
  const more = texts.length > SHOWN ? ` + ${texts.length - SHOWN} more...` : '';
  return texts.slice(0, SHOWN).join(', ') + more;
}

function metricText(metric: JsonObject, observed: JsonObject): string {
  const type = text(metric.type);
  const source = SOURCES[type] ?? '';
  const target = part(metric, source, 'target');
  const current = part(observed, source, 'current');
  const name = type.endsWith('Resource') ? `${text(part(metric, source).name)}: ` : '';
  if (target.averageUtilization !== undefined) {
    const now = current.averageUtilization === undefined ? UNKNOWN : `${count(current.averageUtilization)}%`;
    return `${name}${now}/${count(target.averageUtilization)}%`;
  }
  if (target.averageValue !== undefined)
    return `${name}${text(current.averageValue, UNKNOWN)}/${text(target.averageValue)}${type === 'Pods' ? '' : ' (avg)'}`;
  return `${name}${text(current.value, UNKNOWN)}/${text(target.value)}`;
}

/** Without metrics, CPU at 80% of what is requested. */
export function defaultAutoscaler(autoscaler: ApiObject): void {
  const spec = part(autoscaler, 'spec');
  if (parts(spec, 'metrics').length > 0) return;
  const target = { type: 'Utilization', averageUtilization: 80 };
  spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
}
