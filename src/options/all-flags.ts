import type { Flag } from './flag.ts';
import { admissionFlags } from './flags/admission.ts';
import { agentFlags } from './flags/agent.ts';
import { apiFlags } from './flags/api.ts';
import { auditLogFlags } from './flags/audit-log.ts';
import { auditWebhookFlags } from './flags/audit-webhook.ts';
import { authenticationFlags } from './flags/authentication.ts';
import { authorizationFlags } from './flags/authorization.ts';
import { frontProxyFlags } from './flags/front-proxy.ts';
import { limitsFlags } from './flags/limits.ts';
import { loggingFlags } from './flags/logging.ts';
import { oidcFlags } from './flags/oidc.ts';
import { ownFlags } from './flags/own.ts';
import { serviceAccountFlags } from './flags/service-account.ts';
import { servingFlags } from './flags/serving.ts';
import { storageFlags } from './flags/storage.ts';
import { tlsFlags } from './flags/tls.ts';

/** In the order of --help. */
export const ALL_FLAGS: readonly Flag[] = [
  ...ownFlags,
  ...servingFlags,
  ...storageFlags,
  ...tlsFlags,
  ...authenticationFlags,
  ...oidcFlags,
  ...frontProxyFlags,
  ...serviceAccountFlags,
  ...authorizationFlags,
  ...admissionFlags,
  ...apiFlags,
  ...auditLogFlags,
  ...auditWebhookFlags,
  ...limitsFlags,
  ...agentFlags,
  ...loggingFlags,
];
