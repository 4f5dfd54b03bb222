import { defineFlags } from '../flag.ts';

/** Flags under the heading Authorization. */
export const authorizationFlags = defineFlags('Authorization', [
  {
    name: 'authorization-mode',
    type: 'strings',
    default: [],
    meaning:
      'ordered plug-ins: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node; AlwaysAllow when there is no --authorization-config, which only a loopback --bind-address may be left to',
  },
  {
    name: 'authorization-config',
    type: 'string',
    default: '',
    meaning:
      'authorizer chain file; needs StructuredAuthorizationConfiguration; exclusive with the other authorization-mode and authorization-webhook flags',
  },
  {
    name: 'authorization-policy-file',
    type: 'string',
    default: '',
    meaning: 'line-by-line JSON policy for the ABAC mode',
  },
  {
    name: 'authorization-webhook-config-file',
    type: 'string',
    default: '',
    meaning: 'client configuration format file for the Webhook mode',
  },
  {
    name: 'authorization-webhook-version',
    type: 'string',
    default: 'v1beta1',
    meaning: 'SubjectAccessReview version sent and expected',
  },
  {
    name: 'authorization-webhook-cache-authorized-ttl',
    type: 'duration',
    default: '5m0s',
    meaning: 'cache time of allow answers',
  },
  {
    name: 'authorization-webhook-cache-unauthorized-ttl',
    type: 'duration',
    default: '30s',
    meaning: 'cache time of deny answers',
  },
]);
