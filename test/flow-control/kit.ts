import type { ApiObject } from '../../src/api/object-meta.ts';
import {
  type FlowSchema,
  type PriorityLevel,
  parseFlowSchema,
  parsePriorityLevel,
} from '../../src/flow-control/flow-configuration.ts';
import type { AdmittedTurn, FlowClock, FlowRequest, Turn } from '../../src/flow-control/flow-control.ts';
import {
  allocateFlowMemory,
  type FlowCounters,
  type FlowMemory,
} from '../../src/flow-control/priority-and-fairness.ts';
import { SeatCounters } from '../../src/flow-control/queueing/seats.ts';
import { MANDATORY, suggestedIn } from '../../src/flow-control/shipped-configuration.ts';
import { WatchCounts } from '../../src/flow-control/watch-counts.ts';
import type { ResourceTarget } from '../../src/request/api-request.ts';

const SUGGESTED = suggestedIn(31);

/** Time that passes when a test says so. */
export class TurnedClock implements FlowClock {
  #now = 0;
  #timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  toDate(now: number): Date {
    return new Date(Date.UTC(2024, 0, 1) + now);
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  soon(callback: () => void): void {
    this.after(0, callback);
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = end;
  }
}

export interface RequestInit {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly verb?: string;
  readonly path?: string;
  readonly query?: string;
  readonly signal?: AbortSignal;
}

/** A request for a resource, or for a path when one is given. */
export function toRequest(init: RequestInit, target: Partial<ResourceTarget> = {}): FlowRequest {
  const whole = {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    namespace: 'default',
    name: '',
    subresource: '',
    subpath: '',
  };
  return {
    user: {
      username: init.user ?? 'alice',
      uid: '',
      groups: init.groups ?? ['system:authenticated'],
      extra: {},
    },
    verb: init.verb ?? 'get',
    path: init.path ?? '/api/v1/namespaces/default/configmaps',
    target: init.path === undefined ? { ...whole, ...target } : undefined,
    query: new URLSearchParams(init.query ?? ''),
    signal: init.signal ?? new AbortController().signal,
  };
}

/** The objects of a fresh cluster, with uids as if they were stored: `uid of probes`. */
export function freshSchemas(): FlowSchema[] {
  return [...SUGGESTED.schemas, ...MANDATORY.schemas].map((object) => parseFlowSchema(withUid(object)));
}

export function freshLevels(): PriorityLevel[] {
  return [...SUGGESTED.levels, ...MANDATORY.levels].flatMap(
    (object) => parsePriorityLevel(withUid(object)) ?? [],
  );
}

const withUid = (object: ApiObject): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, uid: `uid of ${object.metadata.name}` },
});

/** The counters of one thread in memory that others see. */
export const countersIn = (
  { seats, watches }: FlowMemory,
  row: number,
  onFreed?: (slot: number) => void,
): FlowCounters => ({
  seats: new SeatCounters(seats, row, onFreed),
  watches: new WatchCounts(watches, row),
});

/** The counters of a server of one thread. */
export const ownCounters = (): FlowCounters => countersIn(allocateFlowMemory(0), 0);

/** A turn that was given at once. */
export function admitted(turn: Turn | Promise<Turn> | undefined): AdmittedTurn {
  if (turn === undefined || turn instanceof Promise || !turn.admitted)
    throw new Error('not admitted at once');
  return turn;
}
