import type { ApiObject } from '../api/object-meta.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { UserInfo } from '../request/api-request.ts';

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
  warn(text: string): void;
  /** Adds to the audit event of the request, if there is one. */
  annotate?(key: string, value: string): void;
}

/** @see --enable-admission-plugins. A plugin refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  readonly operations: readonly AdmissionOperation[];
  mutate?(attributes: AdmissionAttributes): Promise<void> | void;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

/** Runs the plugins in their fixed order. Plugins that have nothing to do cost one array entry less: they are left out here. */
export class AdmissionChain {
  readonly #mutating: ReadonlyMap<AdmissionOperation, readonly AdmissionPlugin[]>;
  readonly #validating: ReadonlyMap<AdmissionOperation, readonly AdmissionPlugin[]>;

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#mutating = byOperation(plugins.filter((plugin) => plugin.mutate !== undefined));
    this.#validating = byOperation(plugins.filter((plugin) => plugin.validate !== undefined));
  }

  async mutate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#mutating.get(attributes.operation) ?? []) await plugin.mutate?.(attributes);
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#validating.get(attributes.operation) ?? [])
      await plugin.validate?.(attributes);
  }
}

function byOperation(plugins: readonly AdmissionPlugin[]): Map<AdmissionOperation, AdmissionPlugin[]> {
  const operations: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
  return new Map(
    operations.map((operation) => [operation, plugins.filter((p) => p.operations.includes(operation))]),
  );
}
