import { percentile } from '../measure/percentile.ts';

/**
 * How long requests took, by verb, resource and scope, as the service level objectives of Kubernetes group them
 * (https://github.com/kubernetes/community/blob/master/sig-scalability/slos/api_call_latency.md).
 */

export type Scope = 'resource' | 'namespace' | 'cluster';

export interface Asked {
  /** As in metrics: LIST is not GET. */
  readonly verb: 'GET' | 'LIST' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its subresource: `pods/status`. */
  readonly resource: string;
  readonly scope: Scope;
}

/** Plain data: it travels between processes. */
export interface Timed {
  readonly asked: Asked;
  readonly tookMs: readonly number[];
  /** By status, or `connection`. */
  readonly failures: Readonly<Record<string, number>>;
}

export interface Verdict {
  readonly asked: Asked;
  readonly count: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly allowedMs: number;
  readonly isHeld: boolean;
}

/** A 99th percentile of a second for writes and for reads of one object, of 30 for lists. */
export const allowedMsOf = ({ verb, scope }: Asked): number =>
  verb === 'LIST' && scope !== 'resource' ? 30_000 : 1000;

const keyOf = ({ verb, resource, scope }: Asked): string => `${verb} ${resource} ${scope}`;

/** Collects times of one process. */
export class Times {
  #timed = new Map<string, { asked: Asked; tookMs: number[]; failures: Record<string, number> }>();

  took(asked: Asked, ms: number): void {
    this.#of(asked).tookMs.push(ms);
  }

  failed(asked: Asked, how: string): void {
    const { failures } = this.#of(asked);
    failures[how] = (failures[how] ?? 0) + 1;
  }

  /** All since the last time. */
  take(): Timed[] {
    const taken = [...this.#timed.values()];
    this.#timed = new Map();
    return taken;
  }

  #of(asked: Asked): { tookMs: number[]; failures: Record<string, number> } {
    const known = this.#timed.get(keyOf(asked)) ?? { asked, tookMs: [], failures: {} };
    this.#timed.set(keyOf(asked), known);
    return known;
  }
}

/** Puts the times of all processes together. */
export function judge(timed: readonly Timed[]): Verdict[] {
  const grouped = Map.groupBy(timed, ({ asked }) => keyOf(asked));
  return [...grouped.keys()].sort().flatMap((key) => {
    const same = grouped.get(key) ?? [];
    const [first] = same;
    if (first === undefined) return [];
    const tookMs = Float64Array.from(same.flatMap((one) => one.tookMs)).sort();
    const failed = same.flatMap((one) => Object.values(one.failures)).reduce((sum, times) => sum + times, 0);
    const allowedMs = allowedMsOf(first.asked);
    const p99Ms = percentile(tookMs, 0.99);
    return [
      {
        asked: first.asked,
        count: tookMs.length,
        failed,
        p50Ms: percentile(tookMs, 0.5),
        p99Ms,
        allowedMs,
        isHeld: !(p99Ms > allowedMs) && failed * 100 <= tookMs.length,
      },
    ];
  });
}
