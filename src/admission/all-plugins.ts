import { isAlive, type Minor } from '../api/emulation.ts';
import { alwaysAdmitPlugin, alwaysDenyPlugin } from './plugins/always.ts';
import { denyServiceExternalIps } from './plugins/deny-external-ips.ts';
import { eventRateLimit } from './plugins/event-rate-limit.ts';
import { imagePolicy } from './plugins/image-policy.ts';
import { limitRanger } from './plugins/limit-ranger.ts';
import { mutatingAdmissionPolicy } from './plugins/mutating-admission-policy.ts';
import { namespaceAutoProvision, namespaceExists, namespaceLifecycle } from './plugins/namespaces.ts';
import { nodeDeclaredFeatures } from './plugins/node-declared-features.ts';
import { nodeRestriction } from './plugins/node-restriction/node-restriction.ts';
import { ownerReferencesPermission } from './plugins/owner-references.ts';
import { podGroupWorkload } from './plugins/pod-group-workload.ts';
import { jobValidation, podGroupProtection } from './plugins/pod-groups.ts';
import { podNodeSelector } from './plugins/pod-node-selector.ts';
import { podResizeLimits } from './plugins/pod-resize-limits.ts';
import { alwaysPullImagesPlugin, limitAntiAffinityPlugin } from './plugins/pod-rules.ts';
import { podSecurity } from './plugins/pod-security.ts';
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.ts';
import { podTopologyLabels } from './plugins/pod-topology-labels.ts';
import { priority } from './plugins/priority.ts';
import { resourceQuota } from './plugins/resource-quota.ts';
import { runtimeClass } from './plugins/runtime-class.ts';
import { serviceAccounts } from './plugins/service-account.ts';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  trustBundleAttest,
} from './plugins/signer-rights.ts';
import {
  claimResize,
  defaultIngressClass,
  defaultStorageClass,
  storageProtectionPlugin,
} from './plugins/storage-plugins.ts';
import {
  defaultTolerationSeconds,
  extendedResourceToleration,
  taintNodesByCondition,
} from './plugins/tolerations.ts';
import { validatingAdmissionPolicy } from './plugins/validating-admission-policy.ts';
import { mutatingWebhooks, validatingWebhooks } from './plugins/webhooks.ts';

/**
 * All plugins in the order in which they run, regardless of the order of the flags (Kubernetes 1.36:
 * pkg/kubeapiserver/options/plugins.go). Plugins that change objects come before those that count them, and quota comes last, so
 * that no write is counted that another plugin refuses.
 */
const ADMISSION_PLUGINS = [
  alwaysAdmitPlugin,
  namespaceAutoProvision,
  namespaceLifecycle,
  namespaceExists,
  limitAntiAffinityPlugin,
  limitRanger,
  serviceAccounts,
  nodeRestriction,
  taintNodesByCondition,
  alwaysPullImagesPlugin,
  imagePolicy,
  podSecurity,
  podNodeSelector,
  priority,
  defaultTolerationSeconds,
  podTolerationRestriction,
  eventRateLimit,
  extendedResourceToleration,
  defaultStorageClass,
  storageProtectionPlugin,
  podGroupProtection,
  ownerReferencesPermission,
  claimResize,
  runtimeClass,
  certificateApproval,
  certificateSigning,
  trustBundleAttest,
  certificateSubjectRestriction,
  defaultIngressClass,
  denyServiceExternalIps,
  podTopologyLabels,
  podGroupWorkload,
  nodeDeclaredFeatures,
  jobValidation,
  podResizeLimits,
  mutatingAdmissionPolicy,
  mutatingWebhooks,
  validatingAdmissionPolicy,
  validatingWebhooks,
  resourceQuota,
  alwaysDenyPlugin,
] as const;

type DescribedPlugin = (typeof ADMISSION_PLUGINS)[number];
export type AdmissionPluginName = DescribedPlugin['name'];

export const PLUGIN_NAMES: readonly AdmissionPluginName[] = ADMISSION_PLUGINS.map(({ name }) => name);

const BY_NAME: ReadonlyMap<string, DescribedPlugin> = new Map(
  ADMISSION_PLUGINS.map((plugin) => [plugin.name, plugin]),
);

/** The plugins that a version of Kubernetes has. */
export const pluginsOf = (minor: Minor): readonly DescribedPlugin[] =>
  ADMISSION_PLUGINS.filter((plugin) => isAlive(plugin, minor));

export const findPlugin = (name: string): DescribedPlugin | undefined => BY_NAME.get(name);
