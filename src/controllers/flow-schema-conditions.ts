import type { ResourceOf } from '../api/names.ts';
import { StatusError } from '../api/status.ts';
import type { FlowSchema, FlowSchemaCondition } from '../api/types/flowcontrol/v1.ts';
import { parseStored } from '../codec/stored-object.ts';
import { FLOW_CONTROL_GROUP } from '../flow-control/bootstrap.ts';
import { parseFlowSchema } from '../flow-control/config/flow-schema.ts';
import type { Registry } from '../registry/registry.ts';
import type { Store } from '../storage/store.ts';
import { pause } from '../util/pause.ts';
import type { WriteContext } from '../verbs/writing/change.ts';
import { toTimestamp } from '../verbs/writing/object-metadata.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { ControllerIdentity } from './identity.ts';

const SCHEMAS: ResourceOf<FlowSchema> = { group: FLOW_CONTROL_GROUP, resource: 'flowschemas' };
const LEVELS = { group: FLOW_CONTROL_GROUP, resource: 'prioritylevelconfigurations' };
const PERIOD_MS = 60_000;
const RETRY_MS = 1000;

/**
 * Writes into the status of each flow schema whether its priority level exists (condition Dangling). A schema without a level is
 * not used, and the condition tells why.
 */
export class FlowSchemaConditions {
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #writer: ObjectWriter;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;
  readonly #identity = new ControllerIdentity('api-priority-and-fairness-config-consumer-v1');
  #changed = new AbortController();

  constructor(options: {
    store: Store;
    registry: Registry;
    writer: ObjectWriter;
    now: () => Date;
    onError: (error: unknown) => void;
  }) {
    this.#store = options.store;
    this.#registry = options.registry;
    this.#writer = options.writer;
    this.#now = options.now;
    this.#onError = options.onError;
  }

  /** To be called when a schema or level has changed. */
  wake(): void {
    this.#changed.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#changed = new AbortController();
      const changed = this.#changed.signal;
      try {
        await this.#updateAll();
        await pause(PERIOD_MS, AbortSignal.any([signal, changed]));
      } catch (error) {
        this.#onError(error);
        await pause(RETRY_MS, signal);
      }
    }
  }

  async #updateAll(): Promise<void> {
    const all = { scope: {}, limit: 0, freshness: { kind: 'any' } } as const;
    const levels = await this.#store.list({ ...all, resource: LEVELS });
    const names = new Set(levels.entries.map(({ name }) => name));
    const { entries } = await this.#store.list({ ...all, resource: SCHEMAS });
    for (const { name, json } of entries) {
      const schema = parseStored<FlowSchema>(json);
      const wanted = conditionOf(schema, names);
      if (!isSaid(schema, wanted)) await this.#update(name, wanted);
    }
  }

  async #update(name: string, wanted: FlowSchemaCondition): Promise<void> {
    const definition = this.#registry.findStorage(SCHEMAS);
    if (definition === undefined) return;
    const context: WriteContext = { ...this.#identity.context(definition, '', 'status'), ownership: 'track' };
    const lastTransitionTime = toTimestamp(this.#now());
    const apply = (schema: FlowSchema): FlowSchema =>
      isSaid(schema, wanted) ? schema : withCondition(schema, { ...wanted, lastTransitionTime });
    try {
      await this.#writer.update(context, name, { apply, validate: () => [] });
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.reason !== 'NotFound') throw error;
    }
  }
}

/** The condition without its time. */
function conditionOf(schema: FlowSchema, levels: ReadonlySet<string>): FlowSchemaCondition {
  const { level } = parseFlowSchema(schema);
  const what = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  return levels.has(level)
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${what} and it exists` }
    : {
        type: 'Dangling',
        status: 'True',
        reason: 'NotFound',
        message: `${what} but there is no such object`,
      };
}

const conditionsOf = ({ status }: FlowSchema): FlowSchemaCondition[] => status?.conditions ?? [];

const isSaid = (schema: FlowSchema, wanted: FlowSchemaCondition): boolean =>
  conditionsOf(schema).some(
    ({ type, status, reason, message }) =>
      type === wanted.type &&
      status === wanted.status &&
      reason === wanted.reason &&
      message === wanted.message,
  );

function withCondition(schema: FlowSchema, condition: FlowSchemaCondition): FlowSchema {
  const others = conditionsOf(schema).filter(({ type }) => type !== condition.type);
  return { ...schema, status: { ...schema.status, conditions: [...others, condition] } };
}
