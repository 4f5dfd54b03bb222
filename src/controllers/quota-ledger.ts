import type { QuotaLedger } from '../admission/plugins/resource-quota.ts';
import type { ResourceOf } from '../api/names.ts';
import type { ResourceQuota, ResourceQuotaStatus } from '../api/types/core/v1.ts';
import type { Client } from '../verbs/client/client.ts';

const QUOTAS: ResourceOf<ResourceQuota> = { group: '', resource: 'resourcequotas' };

/** Writes the status of quotas: what admission charges, and what a recount finds. */
export class StoredQuotas implements QuotaLedger {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client.as('resource-quota');
  }

  write(
    namespace: string,
    name: string,
    used: (quota: ResourceQuota) => Record<string, string>,
  ): Promise<ResourceQuota | 'not-found'> {
    return this.change(namespace, name, (quota) => ({ ...quota.status, used: used(quota) }));
  }

  /** `status` may answer what is there already; then nothing is written. */
  change(
    namespace: string,
    name: string,
    status: (quota: ResourceQuota) => ResourceQuotaStatus,
  ): Promise<ResourceQuota | 'not-found'> {
    return this.#client.updateState(QUOTAS, { namespace, name, subresource: 'status' }, (quota) => ({
      ...quota,
      status: status(quota),
    }));
  }
}
