import { goDuration } from '../util/go-duration.ts';

/** The times that a request spent waiting for others, in milliseconds (Kubernetes: endpoints/request, LatencyTrackers). */
export class Waits {
  /** They are called one after the other. */
  mutatingWebhooks = 0;
  /** They are called at the same time, so the longest call counts. */
  validatingWebhooks = 0;
  /** For its turn. */
  queue = 0;
  /** For the database, or for the cache to be as new as the database. */
  storage = 0;

  /** The time that the server itself is not answerable for. */
  get forOthers(): number {
    return this.mutatingWebhooks + this.validatingWebhooks + this.queue;
  }

  /** For the audit event of a slow request. The name of the storage is the one that clients know. */
  annotations(): Record<string, string> {
    const found: Record<string, string> = {};
    for (const [name, ms] of [
      ['etcd', this.storage],
      ['mutating-webhook', this.mutatingWebhooks],
      ['validating-webhook', this.validatingWebhooks],
      ['apf-queue-wait', this.queue],
    ] as const)
      if (ms > 0) found[`${PREFIX}${name}`] = goDuration(ms);
    return found;
  }
}

const PREFIX = 'apiserver.latency.k8s.io/';
export const TOTAL_LATENCY = `${PREFIX}total`;

/** Adds the time until `work` ends to one of the waits. */
export async function timeWait<Result>(
  waits: Waits | undefined,
  what: 'storage' | 'queue',
  work: Promise<Result>,
): Promise<Result> {
  if (waits === undefined) return work;
  const begun = performance.now();
  try {
    return await work;
  } finally {
    waits[what] += performance.now() - begun;
  }
}
