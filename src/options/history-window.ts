import { parseDuration } from '../util/duration.ts';
import { UsageError } from './flag.ts';

/** How far back history is kept, in milliseconds. */
interface HistoryWindows {
  readonly windowMs: number;
  /** The windows of resources that have one of their own, by `resource` or `resource.group`. One that is longer than `windowMs` has no effect. */
  readonly shorter: ReadonlyMap<string, number>;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Renewed and made all the time, and of no interest a day later. */
const SHORTER: readonly (readonly [resource: string, windowMs: number])[] = [
  ['leases.coordination.k8s.io', HOUR_MS],
  ['events', HOUR_MS],
];
/** What the resources above are called besides. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['leases', 'leases.coordination.k8s.io'],
  ['events.events.k8s.io', 'events'],
]);
const RESOURCE = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

export const DEFAULT_WINDOW = ['1d', 'leases=1h', 'events=1h'];

/** Reads `30d,leases=1h,pods=7d`. Leases and events have an hour unless they are named. @throws UsageError */
export function parseHistoryWindow(items: readonly string[], flag: string): HistoryWindows {
  const shorter = new Map(SHORTER);
  let windowMs: number | undefined;
  for (const item of items) {
    const [, resource, text = ''] = /^(?:([^=]*)=)?(.*)$/s.exec(item) ?? [];
    const itemMs = parseDuration(text);
    if (itemMs === undefined)
      throw new UsageError(`${flag}: ${JSON.stringify(text)} must be a duration such as 30s, 1h or 30d`);
    if (resource === undefined) {
      if (windowMs !== undefined)
        throw new UsageError(
          `${flag}: ${JSON.stringify(item)} is the second window for all resources; name the resource: leases=${item}`,
        );
      windowMs = itemMs;
    } else if (RESOURCE.test(resource)) {
      shorter.set(ALIASES.get(resource) ?? resource, itemMs);
    } else {
      throw new UsageError(
        `${flag}: ${JSON.stringify(resource)} must be a resource, such as pods or leases.coordination.k8s.io`,
      );
    }
  }
  return { windowMs: windowMs ?? DAY_MS, shorter };
}
