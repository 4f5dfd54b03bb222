import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { table } from '../../util/table.ts';
import { age } from '../cells.ts';

const UNKNOWN = '<unknown>';
const SHOWN = 2;
/** Where each kind of metric keeps its name and target. */
const SOURCES: Readonly<Record<string, string>> = table({
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
});

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
  const source = SOURCES[type];
  if (source === undefined) return '<unknown type>';
  const target = part(metric, source, 'target');
  const current = part(observed, source, 'current');
  if (source === 'resource' || source === 'containerResource')
    return `${text(part(metric, source).name)}: ${resourceText(target, current)}`;
  if (target.averageValue === undefined) return `${text(current.value, UNKNOWN)}/${text(target.value)}`;
  const average = `${text(current.averageValue, UNKNOWN)}/${text(target.averageValue)}`;
  return source === 'pods' ? average : `${average} (avg)`;
}

function resourceText(target: JsonObject, current: JsonObject): string {
  if (target.averageValue !== undefined)
    return `${text(current.averageValue, UNKNOWN)}/${text(target.averageValue)}`;
  const percent = ({ averageUtilization }: JsonObject, fallback: string): string =>
    averageUtilization === undefined ? fallback : `${count(averageUtilization)}%`;
  return `${percent(current, UNKNOWN)}/${percent(target, '<auto>')}`;
}
