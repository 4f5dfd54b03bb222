import { DEFINITIONS } from '../../api/known-resources.ts';
import type { GroupResource } from '../../api/names.ts';
import type { ObjectViews } from '../../storage/object-views.ts';
import type { Entry } from '../../storage/store.ts';
import { aborted, keepDoing, pause } from '../../util/pause.ts';
import { AS_SERVER, type Client } from '../../verbs/client/client.ts';
import { isConditionTrue } from './definition-conditions.ts';
import { toViewColumns } from './view-columns.ts';

const RETRY_MS = 5000;
/** All servers see a change at the same moment. Each waits for a random time, so that most find it done. */
const SPREAD_MS = 50;

/**
 * Maintains an SQL view for each established definition, and drops it with the definition. Several servers may do so at the
 * same time; the database skips finished work under a lock.
 */
export class CustomResourceViews {
  readonly #client: Client;
  readonly #views: ObjectViews;
  readonly #onError: (error: unknown) => void;
  /** Changed definitions. */
  readonly #due = new Set<string>();
  #wake = Promise.withResolvers<void>();

  constructor(options: { client: Client; views: ObjectViews; onError: (error: unknown) => void }) {
    this.#client = options.client.as('custom-resource-views', AS_SERVER);
    this.#views = options.views;
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#onError };
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    await Promise.all([
      keepDoing(() => this.#follow(signal), signal, retry),
      keepDoing(() => this.#lookForLeft(signal), signal, retry),
      keepDoing(() => this.#keepDue(signal), signal, retry),
    ]);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const { type, entry } of this.#client.watch(DEFINITIONS, signal)) {
      this.#lookAt(entry.name);
      // Another definition with the same plural may now take the short name.
      if (type === 'DELETED') for (const name of await this.#namesakes(entry)) this.#lookAt(name);
    }
  }

  async #namesakes({ name }: Entry): Promise<string[]> {
    const plural = name.slice(0, name.indexOf('.') + 1);
    const entries = await this.#client.entries(DEFINITIONS, {}, 'cached');
    return entries.map((entry) => entry.name).filter((other) => other.startsWith(plural));
  }

  /** Checks views whose definitions ended while no server was running. */
  async #lookForLeft(signal: AbortSignal): Promise<void> {
    for (const name of await this.#views.list()) this.#lookAt(name);
    await aborted(signal);
  }

  #lookAt(name: string): void {
    this.#due.add(name);
    this.#wake.resolve();
  }

  async #keepDue(signal: AbortSignal): Promise<void> {
    await this.#wake.promise;
    this.#wake = Promise.withResolvers();
    await pause(Math.random() * SPREAD_MS, signal);
    for (const name of this.#due) {
      if (signal.aborted) return;
      try {
        this.#due.delete(name);
        await this.#keep(name);
      } catch (error) {
        this.#lookAt(name);
        throw error;
      }
    }
  }

  async #keep(name: string): Promise<void> {
    const definition = await this.#client.get(DEFINITIONS, { name }, 'cached');
    if (definition === undefined) {
      // The cache lacks the definition. A new one will cause another check.
      await this.#views.drop(toResource(name));
      return;
    }
    if (isConditionTrue(definition, 'Established'))
      await this.#views.put({ ...toResource(name), columns: toViewColumns(definition) });
  }
}

/** A definition's name is plural and group. */
function toResource(name: string): GroupResource {
  const dot = name.indexOf('.');
  return { resource: name.slice(0, dot), group: name.slice(dot + 1) };
}
