import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import type { Caller, UserInfo } from '../request/api-request.ts';
import type { Waits } from '../request/waits.ts';
import type { AdmissionMetrics, Phase as PhaseName, Times } from './admission-metrics.ts';
import type { ForeseenObjects } from './foreseen.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One write as admission sees it: after defaults, before the strategy's validation (mutating) or after it (validating). */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly definition: ResourceDefinition;
  readonly version: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The object as it is to be stored; undefined for a delete. Mutating plugins may change it in place. */
  readonly object: ApiObject | undefined;
  /** The stored object; undefined for a create. Never to be changed. */
  readonly old: ApiObject | undefined;
  /**
   * For mutating plugins, in writes of a subresource that shows the whole object, such as status: the sent body, of which
   * `object` has only the fields that the subresource may change.
   */
  readonly sent?: ApiObject;
  readonly dryRun: boolean;
  /** For dry runs: objects that earlier writes of the same request would have made. */
  readonly foreseen?: ForeseenObjects;
  readonly user: UserInfo;
  /** Of the request: `patch` for an update that is sent as a patch. Absent in the server's own writes. */
  readonly verb?: string;
  /** The client that waits for the write, if there is one. When it has gone, webhooks are no longer awaited. */
  readonly caller?: Pick<Caller, 'signal' | 'deadlineMs'>;
  warn(text: string): void;
  /** The caller's CreateOptions, UpdateOptions or DeleteOptions, made on demand. */
  options?(): JsonObject;
  /** The times that the request waits for others, if it is a request. */
  readonly waits?: Waits | undefined;
  /**
   * Adds to the request's audit event, if one is recorded at this level or above (Metadata when none is given). The first value of
   * a key stays.
   */
  annotate(key: string, value: string, level?: 'Request'): void;
}

/** Asks for a second run of all plugins, because a late plugin has changed the object after earlier ones saw it. */
export type Reinvocation = 'reinvoke' | undefined;

/** @see --enable-admission-plugins. A plugin refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  readonly operations: readonly AdmissionOperation[];
  mutate?(attributes: AdmissionAttributes): Promise<void> | Promise<Reinvocation> | void;
  /** Refuses what the author and plugins have made, once after all plugins and before the object is validated. */
  guard?(attributes: AdmissionAttributes): Promise<void> | void;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

/** A plugin and the times it takes, for one operation. */
interface Step {
  readonly plugin: AdmissionPlugin;
  /** Undefined: a part of the server that is no plugin for the operator. */
  readonly times: Times | undefined;
}

/** The plugins of one phase for one operation. */
interface Phase {
  readonly steps: readonly Step[];
  readonly times: Times | undefined;
}

type Phases = ReadonlyMap<AdmissionOperation, Phase>;

/** Times of the chain's steps. */
export interface ChainMetrics extends Pick<AdmissionMetrics, 'step'> {
  /** Undefined: the plugin has no times. */
  plugin(name: string, phase: PhaseName, operation: string): Times | undefined;
}

/** Runs the plugins in their fixed order. Plugins without work for an operation are left out beforehand. */
export class AdmissionChain {
  #mutating: Phases | undefined;
  #validating: Phases | undefined;
  #guards: readonly AdmissionPlugin[] = [];

  /** Without plugins, the chain lets nothing through until it is given some. */
  constructor(plugins?: readonly AdmissionPlugin[]) {
    if (plugins !== undefined) this.use(plugins);
  }

  /** Sets the plugins, for those that depend on parts containing the chain. */
  use(plugins: readonly AdmissionPlugin[], metrics?: ChainMetrics): void {
    const mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
    const validating = plugins.filter((plugin) => plugin.validate !== undefined);
    this.#guards = plugins.filter((plugin) => plugin.guard !== undefined);
    this.#mutating = byOperation(mutating, 'admit', metrics);
    this.#validating = byOperation(validating, 'validate', metrics);
  }

  /** Twice, if a plugin asks for it, and never more often (Kubernetes: apiserver/pkg/admission/reinvocation.go). */
  async mutate(attributes: AdmissionAttributes): Promise<void> {
    const { steps, times } = phaseFor(this.#mutating, attributes.operation);
    await timed(times, async () => {
      if (await mutateOnce(steps, attributes)) await mutateOnce(steps, attributes);
    });
    for (const plugin of this.#guards)
      if (plugin.operations.includes(attributes.operation)) await plugin.guard?.(attributes);
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const { steps, times } = phaseFor(this.#validating, attributes.operation);
    await timed(times, () => runSteps(steps, (plugin) => plugin.validate?.(attributes)));
  }
}

/** Returns whether a plugin asks for another round. */
async function mutateOnce(steps: readonly Step[], attributes: AdmissionAttributes): Promise<boolean> {
  let again = false;
  await runSteps(steps, (plugin) => {
    const answer = plugin.mutate?.(attributes);
    if (!(answer instanceof Promise)) return undefined;
    return answer.then((said) => {
      if (said === 'reinvoke') again = true;
    });
  });
  return again;
}

/**
 * Awaits only asynchronous plugins, because most are synchronous and awaiting each would cost more than its work. The end of
 * one is the beginning of the next, so that the clock is read once for each.
 */
async function runSteps(
  steps: readonly Step[],
  run: (plugin: AdmissionPlugin) => Promise<void> | void,
): Promise<void> {
  let begun = performance.now();
  let at: Step | undefined;
  try {
    for (const step of steps) {
      at = step;
      const waiting = run(step.plugin);
      if (waiting !== undefined) await waiting;
      const now = performance.now();
      step.times?.passed(now - begun);
      begun = now;
    }
  } catch (error) {
    at?.times?.rejected(performance.now() - begun);
    throw error;
  }
}

async function timed(times: Times | undefined, work: () => Promise<void>): Promise<void> {
  const begun = performance.now();
  try {
    await work();
    times?.passed(performance.now() - begun);
  } catch (error) {
    times?.rejected(performance.now() - begun);
    throw error;
  }
}

function phaseFor(phases: Phases | undefined, operation: AdmissionOperation): Phase {
  if (phases === undefined) throw new Error('the admission chain has no plugins yet');
  return phases.get(operation) ?? { steps: [], times: undefined };
}

function byOperation(
  plugins: readonly AdmissionPlugin[],
  phase: PhaseName,
  metrics: ChainMetrics | undefined,
): Phases {
  const operations: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
  const stepsOf = (operation: AdmissionOperation): Step[] =>
    plugins
      .filter((plugin) => plugin.operations.includes(operation))
      .map((plugin) => ({ plugin, times: metrics?.plugin(plugin.name, phase, operation) }));
  return new Map(
    operations.map((operation) => [
      operation,
      { steps: stepsOf(operation), times: metrics?.step(phase, operation) },
    ]),
  );
}
