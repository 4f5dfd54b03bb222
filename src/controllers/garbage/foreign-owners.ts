import { EVENTS } from '../../api/known-resources.ts';
import type { Event } from '../../api/types/core/v1.ts';
import { warningOf } from '../../object/warning-event.ts';
import type { Client } from '../../verbs/client/client.ts';
import type { Place } from './graph.ts';
import type { Reference } from './ownership.ts';

/** Most events that wait to be written; further ones are dropped. */
const MAX_WAITING = 1000;

/** An object with a reference to an owner in another namespace. */
interface ForeignOwner {
  readonly dependent: Place & { readonly uid: string; readonly kind: string; readonly apiVersion: string };
  readonly reference: Reference;
}

/** Writes events about objects with references to owners in other namespaces, one after the other. */
export class ForeignOwners {
  readonly #client: Client;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;
  readonly #waiting: ForeignOwner[] = [];
  #wake: () => void = () => {};

  constructor(options: { client: Client; now: () => Date; onError: (error: unknown) => void }) {
    this.#client = options.client;
    this.#now = options.now;
    this.#onError = options.onError;
  }

  add(foreign: ForeignOwner): void {
    if (this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push(foreign);
    this.#wake();
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#wake();
    signal.addEventListener('abort', onAbort);
    while (!signal.aborted) {
      const next = this.#waiting.shift();
      if (next !== undefined) await this.#write(next);
      else await this.#woken();
    }
    signal.removeEventListener('abort', onAbort);
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #write(foreign: ForeignOwner): Promise<void> {
    try {
      await this.#client.create(EVENTS, toEvent(foreign, this.#now()));
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** The event, in the words of Kubernetes' collector. */
function toEvent({ dependent, reference }: ForeignOwner, now: Date): Event {
  const { namespace, name, kind, apiVersion, uid } = dependent;
  const owner = `[${reference.apiVersion}/${reference.kind}, namespace: ${namespace}, name: ${reference.name}, uid: ${reference.uid}]`;
  return warningOf(
    { kind, apiVersion, name, uid, ...(namespace === '' ? {} : { namespace }) },
    {
      component: 'garbage-collector-controller',
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef ${owner} does not exist in namespace "${namespace}"`,
      time: now,
    },
  );
}
