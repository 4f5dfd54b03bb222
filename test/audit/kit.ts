import { type AuditEvent, AuditRecord, type EventBodies } from '../../src/audit/audit-event.ts';
import type { AuditSink, LossReport } from '../../src/audit/sink.ts';
import type { UserInfo } from '../../src/request/api-request.ts';

export const ALICE: UserInfo = {
  username: 'alice',
  uid: 'u1',
  groups: ['developers', 'system:authenticated'],
  extra: {},
};

export function makeRecord(
  id: string,
  event: Partial<AuditEvent> = {},
  bodies: EventBodies = {},
): AuditRecord {
  return new AuditRecord(
    {
      level: 'RequestResponse',
      auditID: id,
      stage: 'ResponseComplete',
      requestURI: '/api/v1/pods',
      verb: 'list',
      user: { username: 'alice' },
      requestReceivedTimestamp: '2026-11-21T08:00:00.000000Z',
      stageTimestamp: '2026-11-21T08:00:00.001000Z',
      ...event,
    },
    bodies,
  );
}

/** Keeps the ids of what it gets, a list a batch. */
export class MemorySink implements AuditSink {
  readonly batches: string[][] = [];
  closed = false;
  /** What each batch waits for. */
  gate: Promise<boolean> | boolean = true;

  process(records: readonly AuditRecord[]): Promise<boolean> | boolean {
    this.batches.push(records.map(({ event }) => event.auditID));
    return this.gate;
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

export class Losses {
  readonly lost: { part: string; ids: string[]; error: string }[] = [];
  readonly report: LossReport = (part, error, records) => {
    this.lost.push({ part, ids: records.map(({ event }) => event.auditID), error: String(error) });
  };
}

/** A clock that stands still until a test moves it. */
export class ManualClock {
  #now = 0;
  #timers: { at: number; call: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#now + ms, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#now = next.at;
      this.#timers = this.#timers.filter((one) => one !== next);
      next.call();
      await settle();
    }
    this.#now = end;
  }
}

/** Lets everything that waits for nothing happen. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
