import type { AdmissionPlugin } from '../admission/admission.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { AuthorizationOptions } from '../options/authorization.ts';
import type { Store } from '../storage/store.ts';
import { createAuthorization, type WebhookOf } from './authorization.ts';
import type { Foundation } from './foundation.ts';
import { createPhase, type Phase } from './phase.ts';

/** The second phase: the rights of callers. */
export interface PolicyPhase extends Phase {
  readonly authorizer: Authorizer;
  /** Refuses roles and bindings that give more than their writer has. */
  readonly guard: AdmissionPlugin;
  /** The webhooks that authorization asks. */
  readonly webhookOf: WebhookOf;
}

/** @throws Error that names the flag or file that is wrong */
export async function createPolicy(
  foundation: Foundation,
  { store, ...elsewhere }: { readonly store: Store; readonly webhookElsewhere?: WebhookOf },
  options: AuthorizationOptions,
): Promise<PolicyPhase> {
  const services = foundation.services.branch();
  const parts = { ...foundation, store, ...elsewhere };
  const { authorizer, guard, webhookOf, run, ready } = await createAuthorization(options, parts);
  const phase = createPhase({
    services,
    begin: async () => {
      services.start('authorization', 'essential', run);
      await services.until(ready());
    },
  });
  return { ...phase, authorizer, guard, webhookOf };
}
