import { defaultGates, type Gates } from '../api/feature-gates.ts';
import type { StartupCheck } from '../diagnostics/health-pages.ts';
import type { LimitOptions } from '../options/limits.ts';

/** The steps between opening the port and being ready. */
export type StartupStep =
  /** The objects of every kind are in memory, and the log is followed. */
  | 'watch-cache'
  | 'namespaces'
  | 'roles'
  | 'priorities'
  /** The records of assigned addresses and ports agree with the services. */
  | 'allocations'
  /** The resources of all definitions are served. */
  | 'custom-resources'
  | 'admission'
  /** Group versions of other servers are known, and each of our own has an API service. */
  | 'api-services'
  /** Authorities of client certificates are published in kube-system. */
  | 'authentication'
  | 'token-tracking'
  | 'flow-control'
  /** Every version of every group is found, described and served. */
  | 'serving'
  /** Service default/kubernetes exists, and the lease of this server was renewed once. */
  | 'kubernetes-service';

type Check = StartupCheck<StartupStep>;

const hook = (name: string, step: StartupStep): Check => ({ name: `poststarthook/${name}`, step });

/**
 * The startup checks of kube-apiserver 1.31, in its order, each with the corresponding step here. One watch cache replaces
 * several sets of informers.
 */
export function startupChecks(
  { priorityAndFairness }: Pick<LimitOptions, 'priorityAndFairness'>,
  isOn: Gates = defaultGates,
): readonly Check[] {
  const behind = (gate: string, ...checks: Check[]): Check[] => (isOn(gate) ? checks : []);
  const turns = priorityAndFairness
    ? [
        hook('priority-and-fairness-config-consumer', 'flow-control'),
        hook('priority-and-fairness-filter', 'flow-control'),
      ]
    : [hook('max-in-flight-filter', 'flow-control')];
  const producer = priorityAndFairness ? [hook('priority-and-fairness-config-producer', 'flow-control')] : [];
  return [
    hook('start-apiserver-admission-initializer', 'admission'),
    hook('generic-apiserver-start-informers', 'watch-cache'),
    ...turns,
    hook('storage-object-count-tracker-hook', 'watch-cache'),
    ...behind('WatchCacheInitializationPostStartHook', hook('storage-readiness', 'watch-cache')),
    hook('start-apiextensions-informers', 'watch-cache'),
    hook('start-apiextensions-controllers', 'serving'),
    hook('crd-informer-synced', 'custom-resources'),
    hook('start-system-namespaces-controller', 'namespaces'),
    ...behind(
      'UnknownVersionInteroperabilityProxy',
      hook('peer-endpoint-reconciler-controller', 'kubernetes-service'),
    ),
    hook('start-cluster-authentication-info-controller', 'authentication'),
    ...behind(
      'APIServerIdentity',
      hook('start-kube-apiserver-identity-lease-controller', 'kubernetes-service'),
      hook('start-kube-apiserver-identity-lease-garbage-collector', 'kubernetes-service'),
    ),
    hook('start-legacy-token-tracking-controller', 'token-tracking'),
    hook('start-service-ip-repair-controllers', 'allocations'),
    hook('rbac/bootstrap-roles', 'roles'),
    hook('scheduling/bootstrap-system-priority-classes', 'priorities'),
    ...producer,
    hook('bootstrap-controller', 'kubernetes-service'),
    ...behind('MultiCIDRServiceAllocator', hook('start-kubernetes-service-cidr-controller', 'allocations')),
    hook('start-kube-aggregator-informers', 'api-services'),
    hook('apiservice-status-local-available-controller', 'api-services'),
    hook('apiservice-status-remote-available-controller', 'api-services'),
    hook('apiservice-registration-controller', 'api-services'),
    hook('apiservice-discovery-controller', 'api-services'),
    hook('kube-apiserver-autoregistration', 'api-services'),
    { name: 'autoregister-completion', step: 'api-services' },
    hook('apiservice-openapi-controller', 'api-services'),
    hook('apiservice-openapiv3-controller', 'api-services'),
    // Probes written for earlier versions ask for these names.
    hook('start-kube-apiserver-admission-initializer', 'admission'),
    hook('apiservice-status-available-controller', 'api-services'),
  ];
}
