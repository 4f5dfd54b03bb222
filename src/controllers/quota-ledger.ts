import type { QuotaLedger } from '../admission/plugins/resource-quota.ts';
import type { ResourceQuota, ResourceQuotaStatus } from '../api/types/core/v1.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { ControllerIdentity } from './identity.ts';

/** Writes the status of quotas, for admission, which charges, and for the controller, which counts. */
export class StoredQuotas implements QuotaLedger {
  readonly #writer: ObjectWriter;
  readonly #definition: ResourceDefinition;
  readonly #identity = new ControllerIdentity('resource-quota');

  constructor(definition: ResourceDefinition, writer: ObjectWriter) {
    this.#definition = definition;
    this.#writer = writer;
  }

  write(
    namespace: string,
    name: string,
    used: (quota: ResourceQuota) => Record<string, string>,
  ): Promise<void> {
    return this.change(namespace, name, (quota) => ({ ...quota.status, used: used(quota) }));
  }

  /** `status` may return the current status; then nothing is written. */
  async change(
    namespace: string,
    name: string,
    status: (quota: ResourceQuota) => ResourceQuotaStatus,
  ): Promise<void> {
    await this.#writer.update(this.#identity.context(this.#definition, namespace, 'status'), name, {
      apply: (quota) => ({ ...quota, status: status(quota) }),
      validate: () => [],
    });
  }
}
