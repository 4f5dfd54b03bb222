import type { ApiObject } from '../api/object-meta.ts';
import { StatusError } from '../api/status.ts';
import { parseStored } from '../codec/stored-object.ts';
import {
  type BootstrapObjects,
  FLOW_CONTROL_GROUP,
  isAbandoned,
  MANDATORY,
  revise,
  SUGGESTED,
} from '../flow-control/bootstrap.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { Registry } from '../registry/registry.ts';
import { toResourceVersion } from '../storage/revision.ts';
import type { Store } from '../storage/store.ts';
import { pause } from '../util/pause.ts';
import type { WriteContext } from '../verbs/writing/change.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { DELETE_NOW } from './delete-now.ts';
import { ControllerIdentity } from './identity.ts';

/** The field manager under which Kubernetes' servers write these objects. */
const MANAGER = 'api-priority-and-fairness-config-producer-v1';
const PERIOD_MS = 60_000;

/**
 * Creates the flow schemas and priority levels of a fresh cluster, and maintains them: once a minute it creates the missing ones
 * and updates those that no operator has taken over. Several servers may do so at once.
 */
export class FlowControlBootstrap {
  readonly #store: Store;
  readonly #writer: ObjectWriter;
  readonly #onError: (error: unknown) => void;
  readonly #identity = new ControllerIdentity(MANAGER);
  readonly #levels: ResourceDefinition;
  readonly #schemas: ResourceDefinition;

  constructor(options: {
    store: Store;
    registry: Registry;
    writer: ObjectWriter;
    onError: (error: unknown) => void;
  }) {
    this.#store = options.store;
    this.#writer = options.writer;
    this.#onError = options.onError;
    this.#levels = find(options.registry, 'prioritylevelconfigurations');
    this.#schemas = find(options.registry, 'flowschemas');
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(PERIOD_MS, signal);
      if (!signal.aborted) await this.ensure().catch(this.#onError);
    }
  }

  /** Levels before the schemas that name them. @throws StatusError, StorageError */
  async ensure(): Promise<void> {
    await this.#ensureAll(SUGGESTED, false);
    await this.#ensureAll(MANDATORY, true);
    await this.#removeAbandoned(this.#schemas, [...SUGGESTED.schemas, ...MANDATORY.schemas]);
    await this.#removeAbandoned(this.#levels, [...SUGGESTED.levels, ...MANDATORY.levels]);
  }

  async #ensureAll({ levels, schemas }: BootstrapObjects, mandatory: boolean): Promise<void> {
    await Promise.all(levels.map((object) => this.#ensureOne(this.#levels, object, mandatory)));
    await Promise.all(schemas.map((object) => this.#ensureOne(this.#schemas, object, mandatory)));
  }

  async #ensureOne(definition: ResourceDefinition, shipped: ApiObject, mandatory: boolean): Promise<void> {
    const { name = '' } = shipped.metadata;
    const key = { ...definition.storage, namespace: '', name };
    const entry = await this.#store.get(key, { kind: 'latest' });
    await settle(async () => {
      if (entry === undefined)
        return this.#writer.create(this.#context(definition), structuredClone(shipped));
      const current = parseStored(entry.json, toResourceVersion(entry.revision));
      const revised = revise(current, shipped, mandatory);
      if (revised === undefined) return undefined;
      return this.#writer.update(this.#context(definition), name, { apply: () => revised });
    });
  }

  async #removeAbandoned(definition: ResourceDefinition, shipped: readonly ApiObject[]): Promise<void> {
    const names = new Set(shipped.map(({ metadata }) => metadata.name ?? ''));
    const query = { resource: definition.storage, scope: {}, limit: 0 };
    const { entries } = await this.#store.list({ ...query, freshness: { kind: 'latest' } });
    for (const { name, json } of entries) {
      if (!isAbandoned(parseStored(json), names)) continue;
      await settle(() => this.#writer.remove(this.#context(definition), name, DELETE_NOW));
    }
  }

  #context(definition: ResourceDefinition): WriteContext {
    return { ...this.#identity.context(definition, ''), ownership: 'track' };
  }
}

function find(registry: Registry, resource: string): ResourceDefinition {
  const definition = registry.findStorage({ group: FLOW_CONTROL_GROUP, resource });
  if (definition === undefined) throw new Error(`the registry has no ${resource}`);
  return definition;
}

const OTHERS_CAME_FIRST: ReadonlySet<string | undefined> = new Set(['AlreadyExists', 'Conflict', 'NotFound']);

/** Ignores conflicts with other writers; the next round sees their result. */
async function settle(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof StatusError) || !OTHERS_CAME_FIRST.has(error.status.reason)) throw error;
  }
}
