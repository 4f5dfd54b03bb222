import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import type { PodSpec } from '../api/types/core/v1.ts';
import type { LabelSelector } from '../api/types/meta/v1.ts';
import { durationSince } from '../object/ages.ts';
import { formatLabelRequirements, fromLabelSelector } from '../object/selectors.ts';

export { humanDuration } from '../object/ages.ts';

/** Cells that the tables of several resources share. */

export const NONE = '<none>';

/** Since a time, as kubectl shows ages: `45s`, `3m12s`, `5h`, `2d3h`, `1y20d`. */
export function since(time: JsonValue | undefined, now: number): string {
  if (typeof time !== 'string' || time === '') return '<unknown>';
  return durationSince(Date.parse(time), now);
}

export const age = (object: ApiObject, now: number): string => since(object.metadata.creationTimestamp, now);

/** `a=b,c in (d)`: labels, and expressions as sets. */
export const formatLabelSelector = (selector: LabelSelector): string =>
  formatLabelRequirements(fromLabelSelector(selector), Object.keys(selector.matchLabels ?? {}).length);

/** `a=b,c in (d,e)`: formats a LabelSelector object. */
export function selectorText(selector: JsonObject): string {
  return formatLabelSelector(selector) || NONE;
}

export function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(',') || NONE;
}

/** Names and images of the containers of a pod spec. */
export function containerCells(spec: PodSpec): [names: string, images: string] {
  const containers = spec.containers ?? [];
  return [
    containers.map(({ name = '' }) => name).join(','),
    containers.map(({ image = '' }) => image).join(','),
  ];
}
