import type { ServiceAccount } from '../../../api/types/core/v1.ts';
import type { ClusterObjects, FollowedObjects } from '../../cluster-objects.ts';
import { SERVICE_ACCOUNTS } from '../../resources.ts';

/** The account of pods that name none. Every namespace gets it soon after it was made. */
export const DEFAULT_ACCOUNT = 'default';
const ATTEMPTS_FOR_DEFAULT = 10;

/** How a lookup passes time; tests pass it faster. */
export interface Waiting {
  pause(ms: number): Promise<void>;
}

const IN_TIME: Waiting = { pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };
/** How often the accounts that are known are looked at while waiting: cheap, and most accounts come in the first moment. */
const LOOK_MS = 10;

/** Finds service accounts, also those of namespaces so new that their account is still being made. */
export class AccountLookup {
  readonly #objects: ClusterObjects;
  readonly #accounts: FollowedObjects<ServiceAccount>;
  readonly #waiting: Waiting;

  constructor(objects: ClusterObjects, waiting: Waiting = IN_TIME) {
    this.#objects = objects;
    this.#accounts = objects.follow(SERVICE_ACCOUNTS);
    this.#waiting = waiting;
  }

  known(namespace: string, name: string): ServiceAccount | undefined {
    return this.#accounts.get(namespace, name);
  }

  /** Asks the store once; for the default account, for as long as Kubernetes does: nine pauses of 100 to 200 ms. */
  async seek(namespace: string, name: string): Promise<ServiceAccount | undefined> {
    const attempts = name === DEFAULT_ACCOUNT ? ATTEMPTS_FOR_DEFAULT : 1;
    const intervalMs = 100 + Math.floor(Math.random() * 100);
    for (let attempt = 1; ; attempt += 1) {
      const account = await this.#objects.find(SERVICE_ACCOUNTS, namespace, name);
      if (account !== undefined || attempt === attempts) return account;
      const appeared = await this.#appears(namespace, name, intervalMs);
      if (appeared !== undefined) return appeared;
    }
  }

  async #appears(namespace: string, name: string, withinMs: number): Promise<ServiceAccount | undefined> {
    for (let waitedMs = 0; waitedMs < withinMs; waitedMs += LOOK_MS) {
      await this.#waiting.pause(LOOK_MS);
      const account = this.known(namespace, name);
      if (account !== undefined) return account;
    }
    return undefined;
  }
}
