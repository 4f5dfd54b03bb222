import type { Minor } from '../api/emulation.ts';
import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import {
  type BootstrapObjects,
  FLOW_CONTROL_GROUP,
  isAbandoned,
  MANDATORY,
  revise,
  suggestedIn,
} from '../flow-control/shipped-configuration.ts';
import { pause, repeat } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';

const LEVELS: ResourceOf<ApiObject> = { group: FLOW_CONTROL_GROUP, resource: 'prioritylevelconfigurations' };
const SCHEMAS: ResourceOf<ApiObject> = { group: FLOW_CONTROL_GROUP, resource: 'flowschemas' };
/** The field manager under which Kubernetes' servers write these objects. */
const MANAGER = 'api-priority-and-fairness-config-producer-v1';
const PERIOD_MS = 60_000;

/**
 * Creates the flow schemas and priority levels of a fresh cluster, and maintains them: once a minute it creates the missing ones
 * and updates those that no operator has taken over. Several servers may do so at once.
 */
export class FlowControlBootstrap {
  readonly #client: Client;
  readonly #suggested: BootstrapObjects;
  readonly #onError: (error: unknown) => void;

  constructor(options: { client: Client; emulated: Minor; onError: (error: unknown) => void }) {
    this.#suggested = suggestedIn(options.emulated);
    this.#client = options.client.as(MANAGER);
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    await pause(PERIOD_MS, signal);
    await repeat(() => this.ensure(), signal, { everyMs: PERIOD_MS, onError: this.#onError });
  }

  /** Levels before the schemas that name them. @throws StatusError, StorageError */
  async ensure(): Promise<void> {
    const suggested = this.#suggested;
    await this.#ensureAll(suggested, false);
    await this.#ensureAll(MANDATORY, true);
    await this.#removeAbandoned(SCHEMAS, [...suggested.schemas, ...MANDATORY.schemas]);
    await this.#removeAbandoned(LEVELS, [...suggested.levels, ...MANDATORY.levels]);
  }

  async #ensureAll({ levels, schemas }: BootstrapObjects, mandatory: boolean): Promise<void> {
    await Promise.all(levels.map((object) => this.#ensureOne(LEVELS, object, mandatory)));
    await Promise.all(schemas.map((object) => this.#ensureOne(SCHEMAS, object, mandatory)));
  }

  async #ensureOne(resource: ResourceOf<ApiObject>, shipped: ApiObject, mandatory: boolean): Promise<void> {
    await this.#client.ensure(resource, shipped, {
      mend: (current) => revise(current, shipped, mandatory),
    });
  }

  async #removeAbandoned(resource: ResourceOf<ApiObject>, shipped: readonly ApiObject[]): Promise<void> {
    const names = new Set(shipped.map(({ metadata }) => metadata.name ?? ''));
    for (const object of await this.#client.list(resource)) {
      const { name = '' } = object.metadata;
      if (isAbandoned(object, names)) await this.#client.remove(resource, { name });
    }
  }
}
