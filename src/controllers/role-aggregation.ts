import type { ResourceOf } from '../api/names.ts';
import type { ClusterRole } from '../api/types/rbac/v1.ts';
import { aggregatedRules } from '../authz/rbac/aggregation.ts';
import { RBAC_GROUP } from '../authz/rbac/policy.ts';
import { pause } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';

const ROLES: ResourceOf<ClusterRole> = { group: RBAC_GROUP, resource: 'clusterroles' };
const RETRY_MS = 1000;

/**
 * Fills ClusterRoles that gather the rules of others (admin, edit, view). Without it a cluster that has no controller manager
 * would have them empty; with one, both come to the same rules.
 */
export class RoleAggregation {
  readonly #client: Client;
  readonly #onError: (error: unknown) => void;

  constructor(options: { client: Client; onError: (error: unknown) => void }) {
    this.#client = options.client.as('clusterrole-aggregation-controller');
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const _ of this.#client.watch(ROLES, signal)) {
          await this.aggregate();
        }
      } catch (error) {
        this.#onError(error);
        await pause(RETRY_MS, signal);
      }
    }
  }

  /** Until nothing changes any more: a role that gathers may itself be gathered. */
  async aggregate(): Promise<void> {
    const roles = await this.#client.list(ROLES, {}, 'cached');
    for (const role of roles) {
      const rules = aggregatedRules(role, roles);
      if (rules === undefined) continue;
      const { name = '' } = role.metadata;
      await this.#client.update(ROLES, { name }, (copy) => ({ ...copy, rules: structuredClone(rules) }));
    }
  }
}
