import { define } from '../define.ts';
import { WEBHOOK_RATCHETS } from './ratchets.ts';
import { webhookStrategy, webhookTable } from './webhooks.ts';

export const mutatingwebhookconfigurations = define({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
  namespaced: false,
  categories: ['api-extensions'],
  versions: [{ version: 'v1', type: 'admissionregistration/v1.MutatingWebhookConfiguration' }],
  table: webhookTable,
  ratchets: WEBHOOK_RATCHETS,
  strategy: webhookStrategy,
});
