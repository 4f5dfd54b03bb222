import { CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS } from '../../api/known-resources.ts';
import type { Secret } from '../../api/types/core/v1.ts';
import { INVALID_SINCE, LAST_USED } from '../../authn/service-account/legacy-tokens.ts';
import { podSecretNames } from '../../object/pod-spec.ts';
import { toDay } from '../../object/timestamps.ts';
import { repeat } from '../../util/pause.ts';
import { Pace } from '../../util/turns.ts';
import type { Client } from '../../verbs/client/client.ts';
import { TRACKING_NAME, TRACKING_NAMESPACE } from '../bootstrap-objects.ts';

const TYPE = 'kubernetes.io/service-account-token';
const DAY_MS = 24 * 60 * 60 * 1000;
/** Kubernetes' --legacy-service-account-token-clean-up-period. */
const UNUSED_MS = 365 * DAY_MS;
const RETRY_MS = 60_000;

const isDay = (text: string | undefined): text is string => /^\d{4}-\d{2}-\d{2}$/.test(text ?? '');

/** Limits of one pass: it deletes tokens that were neither made nor used since. */
interface Bounds {
  readonly today: string;
  readonly sinceMs: number;
  readonly sinceDay: string;
}

/**
 * Cleans up unlimited tokens of service accounts from clusters before 1.24, after a year without use: marks them as invalid,
 * and deletes them a year later (Kubernetes: pkg/controller/serviceaccount, legacy_serviceaccount_token_cleaner.go). Tokens
 * that users made stay: their service account does not name them.
 */
export class LegacyTokenCleaning {
  readonly #client: Client;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;

  constructor(options: {
    readonly client: Client;
    readonly now: () => Date;
    readonly onError: (error: unknown) => void;
  }) {
    this.#client = options.client.as('legacy-service-account-token-cleaner');
    this.#now = options.now;
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    const rhythm = { everyMs: DAY_MS, retryMs: RETRY_MS, onError: this.#onError };
    await repeat(() => this.clean(signal), signal, rhythm);
  }

  /** One pass. @throws StatusError, StorageError */
  async clean(signal: AbortSignal): Promise<void> {
    const bounds = await this.#bounds();
    if (bounds === undefined) return;
    const pace = new Pace();
    for (const { namespace, name, json } of await this.#client.entries(SECRETS, {}, 'cached')) {
      if (signal.aborted) return;
      if (pace.isOver()) await pace.rest();
      if (!json.includes(TYPE)) continue;
      const secret = await this.#client.get(SECRETS, { namespace, name });
      if (secret !== undefined && isForgotten(secret, bounds) && (await this.#isOrphaned(secret)))
        await this.#end(secret, bounds);
    }
  }

  /** Undefined: uses have been recorded for too short a time. */
  async #bounds(): Promise<Bounds | undefined> {
    const name = { namespace: TRACKING_NAMESPACE, name: TRACKING_NAME };
    const since = (await this.#client.get(CONFIG_MAPS, name))?.data?.since ?? undefined;
    const nowMs = this.#now().getTime();
    // The first day of recording is incomplete.
    if (!isDay(since) || nowMs < Date.parse(since) + DAY_MS + UNUSED_MS) return undefined;
    return { today: toDay(nowMs), sinceMs: nowMs - UNUSED_MS, sinceDay: toDay(nowMs - UNUSED_MS) };
  }

  /** Whether the service account names the token as its own, and no pod uses it. */
  async #isOrphaned({ metadata: { namespace = '', name = '', annotations } }: Secret): Promise<boolean> {
    const owner = annotations?.['kubernetes.io/service-account.name'] ?? '';
    const uid = annotations?.['kubernetes.io/service-account.uid'] ?? '';
    const account =
      owner === ''
        ? undefined
        : await this.#client.get(SERVICE_ACCOUNTS, { namespace, name: owner }, 'cached');
    if (account === undefined || (uid !== '' && uid !== account.metadata.uid)) return false;
    if (!(account.secrets ?? []).some((one) => one.name === name)) return false;
    for await (const pod of this.#client.each(PODS, { namespace }, 'cached')) {
      if (podSecretNames(pod.spec ?? {}).includes(name)) return false;
    }
    return true;
  }

  async #end({ metadata }: Secret, { today, sinceDay }: Bounds): Promise<void> {
    const { namespace = '', name = '', uid = '', resourceVersion = '', labels } = metadata;
    const invalidSince = labels?.[INVALID_SINCE];
    if (isDay(invalidSince)) {
      if (invalidSince < sinceDay)
        await this.#client.remove(SECRETS, { namespace, name }, { uid, resourceVersion });
      return;
    }
    await this.#client.update(SECRETS, { namespace, name }, (copy) => {
      if (copy.metadata.resourceVersion !== resourceVersion) return copy;
      const marked = { ...copy.metadata.labels, [INVALID_SINCE]: today };
      return { ...copy, metadata: { ...copy.metadata, labels: marked } };
    });
  }
}

/** Whether the token was unused for the period. One with an unreadable day stays. */
function isForgotten({ type, metadata }: Secret, { sinceMs, sinceDay }: Bounds): boolean {
  if (type !== TYPE || metadata.deletionTimestamp !== undefined) return false;
  if (!(Date.parse(metadata.creationTimestamp ?? '') < sinceMs)) return false;
  const used = metadata.labels?.[LAST_USED];
  return used === undefined || (isDay(used) && used < sinceDay);
}
