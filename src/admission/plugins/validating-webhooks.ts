import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';
import { Dispatch, toWebhookParts, type WebhookNeeds, type WebhookParts } from '../webhooks/dispatch.ts';
import type { Candidate } from '../webhooks/hook-list.ts';

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io/round_0_index_';

/**
 * Programs of the cluster's users that may refuse a write, all asked at the same time; the first refusal is the answer, once
 * all have answered (Kubernetes: apiserver/pkg/admission/plugin/webhook/validating).
 */
export function createValidatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const dispatch = new Dispatch(parts, 'validating');
  return {
    name: 'ValidatingAdmissionWebhook',
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    validate: (attributes) => {
      const candidates = dispatch.candidates(attributes);
      return candidates.length === 0 ? undefined : ask(dispatch, candidates, attributes);
    },
  };
}

async function ask(
  dispatch: Dispatch,
  candidates: readonly Candidate[],
  attributes: AdmissionAttributes,
): Promise<void> {
  const called: Candidate[] = [];
  for (const candidate of candidates)
    if (await dispatch.isCalled(candidate, attributes)) called.push(candidate);
  const failures: unknown[] = [];
  const calls = called.map((candidate, index) =>
    dispatch.call(candidate, attributes, `${FAILED_OPEN}${index}`).catch((error: unknown) => {
      failures.push(error);
    }),
  );
  await Promise.all(calls);
  if (failures.length > 0) throw failures[0];
}

export const validatingWebhooks = describePlugin({
  name: 'ValidatingAdmissionWebhook',
  isDefault: true,
  create: (parts: WebhookNeeds) => createValidatingWebhooks(toWebhookParts(parts)),
});
