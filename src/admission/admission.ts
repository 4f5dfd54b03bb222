import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { Caller, UserInfo } from '../request/api-request.ts';

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
  readonly dryRun: boolean;
  readonly user: UserInfo;
  /** The client that waits for the write, if there is one. Webhooks are not waited for any longer when it has gone. */
  readonly caller?: Pick<Caller, 'signal'>;
  warn(text: string): void;
  /** What the caller asked of the operation: CreateOptions, UpdateOptions, DeleteOptions. Made when somebody wants to see them. */
  options?(): JsonObject;
  /** Adds to the request's audit event, if one is recorded. The first value of a key stays. */
  annotate(key: string, value: string): void;
}

/** Asks for all plugins once more: one that comes late has changed what earlier ones looked at. */
export type Reinvocation = 'reinvoke' | undefined;

/** @see --enable-admission-plugins. A plugin refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  readonly operations: readonly AdmissionOperation[];
  mutate?(attributes: AdmissionAttributes): Promise<void> | Promise<Reinvocation> | void;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

/** Runs the plugins in their fixed order. Plugins that have nothing to do cost one array entry less: they are left out here. */
export class AdmissionChain {
  #mutating: ReadonlyMap<AdmissionOperation, readonly AdmissionPlugin[]> | undefined;
  #validating: ReadonlyMap<AdmissionOperation, readonly AdmissionPlugin[]> | undefined;

  /** Without plugins, the chain lets nothing through until it is given some. */
  constructor(plugins?: readonly AdmissionPlugin[]) {
    if (plugins !== undefined) this.use(plugins);
  }

  /** For plugins that need what the chain is a part of. */
  use(plugins: readonly AdmissionPlugin[]): void {
    this.#mutating = byOperation(plugins.filter((plugin) => plugin.mutate !== undefined));
    this.#validating = byOperation(plugins.filter((plugin) => plugin.validate !== undefined));
  }

  /** Twice, if a plugin asks for it, and never more often (Kubernetes: apiserver/pkg/admission/reinvocation.go). */
  async mutate(attributes: AdmissionAttributes): Promise<void> {
    const plugins = pluginsFor(this.#mutating, attributes.operation);
    if (await mutateOnce(plugins, attributes)) await mutateOnce(plugins, attributes);
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of pluginsFor(this.#validating, attributes.operation)) {
      const waiting = plugin.validate?.(attributes);
      if (waiting !== undefined) await waiting;
    }
  }
}

/**
 * Whether a plugin asks for another round. Most have nothing to wait for, and a turn of the queue for each would cost more than
 * what they do.
 */
async function mutateOnce(
  plugins: readonly AdmissionPlugin[],
  attributes: AdmissionAttributes,
): Promise<boolean> {
  let again = false;
  for (const plugin of plugins) {
    const answer = plugin.mutate?.(attributes);
    if ((answer instanceof Promise ? await answer : answer) === 'reinvoke') again = true;
  }
  return again;
}

function pluginsFor(
  plugins: ReadonlyMap<AdmissionOperation, readonly AdmissionPlugin[]> | undefined,
  operation: AdmissionOperation,
): readonly AdmissionPlugin[] {
  if (plugins === undefined) throw new Error('the admission chain has no plugins yet');
  return plugins.get(operation) ?? [];
}

function byOperation(plugins: readonly AdmissionPlugin[]): Map<AdmissionOperation, AdmissionPlugin[]> {
  const operations: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
  return new Map(
    operations.map((operation) => [operation, plugins.filter((p) => p.operations.includes(operation))]),
  );
}
