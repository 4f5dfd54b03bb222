import { hostname } from 'node:os';
import type { AdmissionPlugin } from '../admission/admission.ts';
import type { Minor } from '../api/emulation.ts';
import { type Gates, minorOf } from '../api/feature-gates.ts';
import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { readPolicyFile } from '../authz/abac.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import {
  buildChain,
  type Engines,
  fromModes,
  ReloadingAuthorizer,
} from '../authz/config/authorization-config.ts';
import { allMatch, compileMatchCondition, type WebhookConfig } from '../authz/config/webhook-config.ts';
import { createNodeAuthorizer } from '../authz/node-authorizer.ts';
import { NodeGraph } from '../authz/node-graph.ts';
import { nodeRules } from '../authz/rbac/bootstrap/bootstrap-policy.ts';
import { EscalationGuard, type RbacWrite } from '../authz/rbac/escalation.ts';
import { RbacAuthorizer } from '../authz/rbac/rbac.ts';
import { RBAC_GROUP } from '../authz/rbac/role-rules.ts';
import { WebhookAuthorizer } from '../authz/webhook-authorizer.ts';
import { DecisionMetrics } from '../observability/access-metrics.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type AuthorizationOptions, authorizationFlags } from '../options/authorization.ts';
import { explainFlag } from '../options/flag.ts';
import { readClientConfig } from '../outbound/client-config.ts';
import type { Dial } from '../outbound/egress/dial.ts';
import { createJsonPost, isTransient } from '../outbound/http-client.ts';
import { Follower } from '../storage/follower.ts';
import type { Store } from '../storage/store.ts';
import { runTogether } from '../util/concurrency.ts';
import { ConfigMetrics } from './config-metrics.ts';
import type { Egress } from './egress.ts';
import type { ServiceRun } from './services.ts';

/** Authorization of a running server. */
interface Authorization {
  readonly authorizer: Authorizer;
  /** Refuses roles and bindings that give more than their writer has. */
  readonly guard: AdmissionPlugin;
  /** One for each configuration: its answers are cached. @throws Error about the file of the webhook */
  readonly webhookOf: WebhookOf;
  /** Resolves when decisions follow the objects in the database. */
  ready(): Promise<void>;
  run: ServiceRun;
}

export type WebhookOf = (config: WebhookConfig) => Authorizer;

interface AuthorizationParts {
  readonly store: Store;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly emulated: Minor;
  readonly now: () => Date;
  readonly egress: Egress;
  /** Asks the webhooks of another thread; undefined: this thread asks them. */
  readonly webhookElsewhere?: WebhookOf;
  readonly isFeatureOn: Gates;
}

/** @throws Error that names the flag or file that is wrong */
export async function createAuthorization(
  { modes, policyFile, configFile, webhook }: AuthorizationOptions,
  parts: AuthorizationParts,
): Promise<Authorization> {
  const { store, egress, isFeatureOn, webhookElsewhere } = parts;
  const rbac = new RbacAuthorizer();
  const graph = new NodeGraph({ hasPodCertificates: isFeatureOn('PodCertificateRequest') });
  const webhookOf = webhookElsewhere ?? once((config) => createWebhook(config, egress.dials.controlplane));
  const engines: Engines = {
    rbac,
    node: createNodeAuthorizer(graph, nodeRules(isFeatureOn), isFeatureOn),
    ...(policyFile === '' ? {} : { abac: readPolicies(policyFile) }),
    webhook: (_, config) => webhookOf(config),
  };
  const decisions = new DecisionMetrics(parts.metrics);
  const configured =
    configFile === '' ? undefined : readConfigured(configFile, engines, { ...parts, decisions });
  const authorizer =
    configured ??
    explainFlag(authorizationFlags.webhookConfigFile.shown, () =>
      buildChain(fromModes(modes, toWebhookConfig(webhook)), engines, decisions),
    );
  // Escalation is checked in every mode, so roles are followed in every mode.
  const sources = [
    ...rbac.sources,
    ...(configured !== undefined || modes.includes('Node') ? graph.sources : []),
  ];
  const follower = new Follower({ store, sources });
  return {
    authorizer,
    guard: toPlugin(new EscalationGuard(authorizer, rbac, minorOf(isFeatureOn))),
    webhookOf,
    ready: () => follower.ready(),
    run: (signal, works) =>
      runTogether(
        [
          (either) => follower.run(either, works),
          ...(configured === undefined ? [] : [(either: AbortSignal) => configured.run(either)]),
        ],
        signal,
      ),
  };
}

function readConfigured(
  path: string,
  engines: Engines,
  parts: AuthorizationParts & { readonly decisions: DecisionMetrics },
): ReloadingAuthorizer {
  const { logger, decisions } = parts;
  const reloads = new ConfigMetrics({ ...parts, what: 'authorization', server: hostname() });
  const create = (): ReloadingAuthorizer => {
    const authorizer = new ReloadingAuthorizer({
      path,
      build: (configs) => buildChain(configs, engines, decisions),
      onReload: (text) => {
        reloads.reloaded(text);
        logger.info(1, 'authorization', { message: `${path} was read again` });
      },
      onError: (error) => {
        reloads.failed();
        logger.error(`${path} stays as it was`, error);
      },
    });
    reloads.loaded(authorizer.text);
    return authorizer;
  };
  return explainFlag(`${authorizationFlags.configFile.shown}: ${path}`, create);
}

const readPolicies = (path: string): Authorizer =>
  explainFlag(authorizationFlags.policyFile.shown, () => readPolicyFile(path));

function toWebhookConfig(webhook: AuthorizationOptions['webhook']): WebhookConfig | undefined {
  if (webhook.configFile === '') return undefined;
  return {
    authorizedTtlMs: webhook.authorizedTtlMs,
    unauthorizedTtlMs: webhook.unauthorizedTtlMs,
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    version: webhook.version,
    onFailure: 'no-opinion',
    kubeConfigFile: webhook.configFile,
    matchConditions: [],
  };
}

/** Makes one authorizer of all equal configurations. */
function once(create: WebhookOf): WebhookOf {
  const made = new Map<string, Authorizer>();
  return (config) => {
    const key = JSON.stringify(config);
    const authorizer = made.get(key) ?? create(config);
    made.set(key, authorizer);
    return authorizer;
  };
}

/** The timeout of a webhook that flags configure (Kubernetes: authorizer/config.go). */
const WEBHOOK_TIMEOUT_MS = 30_000;

function createWebhook(
  { kubeConfigFile, matchConditions, ...config }: WebhookConfig,
  dial: Dial | undefined,
): Authorizer {
  if (kubeConfigFile === undefined) {
    throw new Error('connectionInfo InClusterConfig: this server does not run in a pod of its own cluster');
  }
  return new WebhookAuthorizer({
    ...config,
    post: createJsonPost(readClientConfig(kubeConfigFile, dial)),
    matches: allMatch(matchConditions.map(compileMatchCondition)),
    isTransient,
  });
}

const RBAC_RESOURCES: ReadonlySet<string> = new Set([
  'roles',
  'clusterroles',
  'rolebindings',
  'clusterrolebindings',
]);
const isRbacResource = (resource: string): resource is RbacWrite['resource'] => RBAC_RESOURCES.has(resource);

const ROLES: ResourceOf<ApiObject> = { group: RBAC_GROUP, resource: 'roles' };

function toPlugin(guard: EscalationGuard): AdmissionPlugin {
  return {
    name: 'RoleEscalation',
    operations: ['CREATE', 'UPDATE'],
    guard: async ({ definition, object, old, user, namespace, name, operation, foreseen }) => {
      const { group, resource } = definition;
      if (group !== RBAC_GROUP || !isRbacResource(resource) || object === undefined) return;
      const requestName = operation === 'CREATE' ? '' : name;
      const foreseenRole = (role: string): ApiObject | undefined => foreseen?.find(ROLES, namespace, role);
      await guard.check({ user, resource, namespace, name, requestName, object, old, foreseenRole });
    },
  };
}
