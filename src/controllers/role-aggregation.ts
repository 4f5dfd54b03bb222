import type { ResourceOf } from '../api/names.ts';
import type { ClusterRole } from '../api/types/rbac/v1.ts';
import { aggregatedRules } from '../authz/rbac/aggregation.ts';
import { RBAC_GROUP } from '../authz/rbac/policy.ts';
import { parseStored } from '../codec/stored-object.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { observe } from '../storage/observe.ts';
import type { Store } from '../storage/store.ts';
import { pause } from '../util/pause.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import type { ControllerIdentity } from './identity.ts';

const ROLES: ResourceOf<ClusterRole> = { group: RBAC_GROUP, resource: 'clusterroles' };
const RETRY_MS = 1000;

/**
 * Fills ClusterRoles that aggregate the rules of others (admin, edit, view). Without a controller manager they would stay empty;
 * with one, both compute the same rules.
 */
export class RoleAggregation {
  readonly #store: Store;
  readonly #writer: ObjectWriter;
  readonly #definition: ResourceDefinition;
  readonly #identity: ControllerIdentity;
  readonly #onError: (error: unknown) => void;

  constructor(options: {
    store: Store;
    writer: ObjectWriter;
    definition: ResourceDefinition;
    identity: ControllerIdentity;
    onError: (error: unknown) => void;
  }) {
    this.#store = options.store;
    this.#writer = options.writer;
    this.#definition = options.definition;
    this.#identity = options.identity;
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const _ of observe(this.#store, ROLES, signal)) {
          await this.aggregate();
        }
      } catch (error) {
        this.#onError(error);
        await pause(RETRY_MS, signal);
      }
    }
  }

  /** Repeats until nothing changes, because aggregated roles may be aggregated again. */
  async aggregate(): Promise<void> {
    const roles = await this.#roles();
    for (const role of roles) {
      const rules = aggregatedRules(role, roles);
      if (rules === undefined) continue;
      const { name = '' } = role.metadata;
      await this.#writer.update(this.#identity.context(this.#definition, ''), name, {
        apply: (copy) => ({ ...copy, rules: structuredClone(rules) }),
      });
    }
  }

  async #roles(): Promise<ClusterRole[]> {
    const { entries } = await this.#store.list({
      resource: ROLES,
      scope: {},
      freshness: { kind: 'any' },
      limit: 0,
    });
    return entries.map(({ json }) => parseStored<ClusterRole>(json));
  }
}
