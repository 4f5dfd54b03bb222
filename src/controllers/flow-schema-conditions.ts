import type { ResourceOf } from '../api/names.ts';
import type { FlowSchema, FlowSchemaCondition } from '../api/types/flowcontrol/v1.ts';
import { parseFlowSchema } from '../flow-control/flow-configuration.ts';
import { FLOW_CONTROL_GROUP } from '../flow-control/shipped-configuration.ts';
import { toTimestamp } from '../object/timestamps.ts';
import { keepDoing, pause } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';

const SCHEMAS: ResourceOf<FlowSchema> = { group: FLOW_CONTROL_GROUP, resource: 'flowschemas' };
const LEVELS = { group: FLOW_CONTROL_GROUP, resource: 'prioritylevelconfigurations' };
const PERIOD_MS = 60_000;
const RETRY_MS = 1000;

/**
 * Writes into the status of each flow schema whether its priority level exists (condition Dangling). A schema without a level
 * is not used.
 */
export class FlowSchemaConditions {
  readonly #client: Client;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;
  #changed = new AbortController();

  constructor(options: { client: Client; now: () => Date; onError: (error: unknown) => void }) {
    this.#client = options.client.as('api-priority-and-fairness-config-consumer-v1');
    this.#now = options.now;
    this.#onError = options.onError;
  }

  /** To be called when a schema or level has changed. */
  wake(): void {
    this.#changed.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    await keepDoing(() => this.#round(signal), signal, { retryMs: RETRY_MS, onError: this.#onError });
  }

  async #round(signal: AbortSignal): Promise<void> {
    this.#changed = new AbortController();
    const changed = this.#changed.signal;
    await this.#updateAll();
    await pause(PERIOD_MS, AbortSignal.any([signal, changed]));
  }

  async #updateAll(): Promise<void> {
    const levels = await this.#client.entries(LEVELS, {}, 'cached');
    const names = new Set(levels.map(({ name }) => name));
    for (const schema of await this.#client.list(SCHEMAS, {}, 'cached')) {
      const wanted = conditionOf(schema, names);
      if (!hasCondition(schema, wanted)) await this.#update(schema.metadata.name ?? '', wanted);
    }
  }

  async #update(name: string, wanted: FlowSchemaCondition): Promise<void> {
    const condition = { ...wanted, lastTransitionTime: toTimestamp(this.#now()) };
    const place = { name, subresource: 'status' };
    await this.#client.apply(SCHEMAS, place, { status: { conditions: [condition] } });
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

const hasCondition = (schema: FlowSchema, wanted: FlowSchemaCondition): boolean =>
  conditionsOf(schema).some(
    ({ type, status, reason, message }) =>
      type === wanted.type &&
      status === wanted.status &&
      reason === wanted.reason &&
      message === wanted.message,
  );
