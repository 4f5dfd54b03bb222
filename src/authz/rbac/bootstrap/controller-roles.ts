import { allow, EVENTS, type Gated, READ, type RuleData } from './role-notation.ts';

/**
 * The rights of each controller of kube-controller-manager, by its service account in kube-system. Each becomes a ClusterRole
 * `system:controller:<name>` and a binding of that name.
 */
interface ControllerData extends Gated {
  readonly name: string;
  readonly rules: readonly RuleData[];
}

const controller = (name: string, rules: readonly RuleData[], gated: Gated = {}): ControllerData => ({
  name,
  rules,
  ...gated,
});

/** Informers stream their lists since Kubernetes 1.32, for which they need the right to watch. */
const streamed = (verbs: string, groups: string, resources: string): RuleData[] => [
  allow(verbs, groups, resources, { until: 32 }),
  allow(`${verbs} watch`, groups, resources, { since: 32 }),
];

const ALL = 'create delete get list patch update watch';

const WORKLOADS: readonly ControllerData[] = [
  controller('cronjob-controller', [
    allow(`${READ} update`, 'batch', 'cronjobs'),
    allow(ALL, 'batch', 'jobs'),
    allow('update', 'batch', 'cronjobs/status'),
    allow('update', 'batch', 'cronjobs/finalizers'),
    ...streamed('list delete', 'core', 'pods'),
    EVENTS,
  ]),
  controller('daemon-set-controller', [
    allow(READ, 'extensions apps', 'daemonsets'),
    allow('update', 'extensions apps', 'daemonsets/status'),
    allow('update', 'extensions apps', 'daemonsets/finalizers'),
    allow('list watch', 'core', 'nodes'),
    allow('list watch create delete patch', 'core', 'pods'),
    allow('create', 'core', 'pods/binding'),
    allow(ALL, 'apps', 'controllerrevisions'),
    EVENTS,
  ]),
  controller('deployment-controller', [
    allow(`${READ} update`, 'extensions apps', 'deployments'),
    allow('update', 'extensions apps', 'deployments/status'),
    allow('update', 'extensions apps', 'deployments/finalizers'),
    allow(ALL, 'apps extensions', 'replicasets'),
    allow(`${READ} update`, 'core', 'pods'),
    EVENTS,
  ]),
  controller('disruption-controller', [
    allow(READ, 'extensions apps', 'deployments'),
    allow(READ, 'apps extensions', 'replicasets'),
    allow(READ, 'core', 'replicationcontrollers'),
    allow(READ, 'policy', 'poddisruptionbudgets'),
    allow(READ, 'apps', 'statefulsets'),
    allow('update', 'policy', 'poddisruptionbudgets/status'),
    allow('patch update', 'core', 'pods/status'),
    allow('get', '*', '*/scale'),
    EVENTS,
  ]),
  controller('horizontal-pod-autoscaler', [
    allow(READ, 'autoscaling', 'horizontalpodautoscalers'),
    allow('update', 'autoscaling', 'horizontalpodautoscalers/status'),
    allow('get update', '*', '*/scale'),
    ...streamed('list', 'core', 'pods'),
    ...streamed('list', 'metrics.k8s.io', 'pods'),
    ...streamed('get list', 'custom.metrics.k8s.io', '*'),
    ...streamed('get list', 'external.metrics.k8s.io', '*'),
    EVENTS,
  ]),
  controller('job-controller', [
    allow(`${READ} update patch`, 'batch', 'jobs'),
    allow('update', 'batch', 'jobs/status'),
    allow('update', 'batch', 'jobs/finalizers'),
    allow('list watch create delete patch', 'core', 'pods'),
    EVENTS,
    allow(`${READ} create`, 'scheduling.k8s.io', 'workloads podgroups', { gate: 'WorkloadWithJob' }),
  ]),
  controller('replicaset-controller', [
    allow(`${READ} update`, 'apps extensions', 'replicasets'),
    allow('update', 'apps extensions', 'replicasets/status'),
    allow('update', 'apps extensions', 'replicasets/finalizers'),
    allow('list watch patch create delete', 'core', 'pods'),
    EVENTS,
  ]),
  controller('replication-controller', [
    allow(`${READ} update`, 'core', 'replicationcontrollers'),
    allow('update', 'core', 'replicationcontrollers/status'),
    allow('update', 'core', 'replicationcontrollers/finalizers'),
    allow('list watch patch create delete', 'core', 'pods'),
    EVENTS,
  ]),
  controller('statefulset-controller', [
    allow('list watch', 'core', 'pods'),
    allow(READ, 'apps', 'statefulsets'),
    allow('update', 'apps', 'statefulsets/status'),
    allow('update', 'apps', 'statefulsets/finalizers'),
    allow('get create delete update patch', 'core', 'pods'),
    allow(ALL, 'apps', 'controllerrevisions'),
    allow('get create list watch', 'core', 'persistentvolumeclaims'),
    allow('update delete', 'core', 'persistentvolumeclaims', { since: 35 }),
    allow('update', 'core', 'pods/finalizers', { since: 35 }),
    EVENTS,
    allow('update delete', 'core', 'persistentvolumeclaims', { gate: 'StatefulSetAutoDeletePVC', until: 35 }),
    allow('update', 'core', 'pods/finalizers', { gate: 'StatefulSetAutoDeletePVC', until: 35 }),
  ]),
  controller('ttl-after-finished-controller', [allow(`${READ} delete`, 'batch', 'jobs'), EVENTS]),
  controller(
    'podgroup-protection-controller',
    [allow(`${READ} update`, 'scheduling.k8s.io', 'podgroups'), allow(READ, 'core', 'pods')],
    { gate: 'GenericWorkload', since: 36 },
  ),
];

const NETWORK: readonly ControllerData[] = [
  controller('endpoint-controller', [
    allow(READ, 'core', 'pods services'),
    ...streamed('get list create update delete', 'core', 'endpoints'),
    allow('create', 'core', 'endpoints/restricted'),
    EVENTS,
  ]),
  controller('endpointslice-controller', [
    allow(READ, 'core', 'nodes pods services'),
    // Owning a slice with blockOwnerDeletion needs the right to set the owner's finalizers.
    allow('update', 'core', 'services/finalizers'),
    ...streamed('get list create update delete', 'discovery.k8s.io', 'endpointslices'),
    EVENTS,
  ]),
  controller('endpointslicemirroring-controller', [
    allow(READ, 'core', 'endpoints services'),
    allow('update', 'core', 'services/finalizers'),
    allow('update', 'core', 'endpoints/finalizers'),
    ...streamed('get list create update delete', 'discovery.k8s.io', 'endpointslices'),
    EVENTS,
  ]),
  controller('route-controller', [
    allow('list watch', 'core', 'nodes'),
    allow('patch', 'core', 'nodes/status'),
    EVENTS,
  ]),
  controller('service-controller', [
    allow(READ, 'core', 'services'),
    allow('patch update', 'core', 'services/status'),
    allow('list watch', 'core', 'nodes'),
    EVENTS,
  ]),
  controller(
    'service-cidrs-controller',
    [
      allow(`${READ} patch update`, 'networking.k8s.io', 'servicecidrs'),
      allow('patch update', 'networking.k8s.io', 'servicecidrs/finalizers'),
      allow('patch update', 'networking.k8s.io', 'servicecidrs/status'),
      allow(READ, 'networking.k8s.io', 'ipaddresses'),
      EVENTS,
    ],
    { gate: 'MultiCIDRServiceAllocator' },
  ),
];

/** Rights of the volume plugins that were part of Kubernetes. */
const GLUSTER = { until: 32 } as const;
const PORTWORX = { since: 32, until: 36 } as const;

const STORAGE: readonly ControllerData[] = [
  controller('attachdetach-controller', [
    allow('list watch', 'core', 'persistentvolumeclaims persistentvolumes'),
    allow(READ, 'core', 'nodes'),
    allow('patch update', 'core', 'nodes/status'),
    allow('list watch', 'core', 'pods'),
    EVENTS,
    allow('get create delete list watch', 'storage.k8s.io', 'volumeattachments'),
    allow(READ, 'storage.k8s.io', 'csidrivers'),
    allow(READ, 'storage.k8s.io', 'csinodes'),
  ]),
  controller('expand-controller', [
    allow(`${READ} update patch`, 'core', 'persistentvolumes'),
    allow('update patch', 'core', 'persistentvolumeclaims/status'),
    allow(READ, 'core', 'persistentvolumeclaims'),
    allow(READ, 'storage.k8s.io', 'storageclasses', GLUSTER),
    allow('get', 'core', 'endpoints services', GLUSTER),
    allow('get', 'core', 'secrets', GLUSTER),
    EVENTS,
    allow('get', 'core', 'services', PORTWORX),
  ]),
  controller('ephemeral-volume-controller', [
    allow(READ, 'core', 'pods'),
    allow('update', 'core', 'pods/finalizers'),
    allow(`${READ} create`, 'core', 'persistentvolumeclaims'),
    EVENTS,
  ]),
  controller('persistent-volume-binder', [
    allow(`${READ} update create delete`, 'core', 'persistentvolumes'),
    allow('update', 'core', 'persistentvolumes/status'),
    allow(`${READ} update`, 'core', 'persistentvolumeclaims'),
    allow('update', 'core', 'persistentvolumeclaims/status'),
    allow(`${READ} create delete`, 'core', 'pods'),
    allow(READ, 'storage.k8s.io', 'storageclasses'),
    allow('get create update delete', 'core', 'endpoints', GLUSTER),
    allow('get create delete', 'core', 'services', GLUSTER),
    allow('get', 'core', 'secrets', GLUSTER),
    allow('get list', 'core', 'nodes', { until: 32 }),
    allow('watch', 'core', 'events', { until: 32 }),
    allow('list watch', 'core', 'nodes', { since: 32 }),
    EVENTS,
    allow('watch', 'core', 'events', { since: 32 }),
    allow('get', 'core', 'services', PORTWORX),
  ]),
  controller('pv-protection-controller', [allow(`${READ} update`, 'core', 'persistentvolumes'), EVENTS]),
  controller('pvc-protection-controller', [
    allow(`${READ} update`, 'core', 'persistentvolumeclaims'),
    allow('update', 'core', 'persistentvolumeclaims/status', { since: 36 }),
    allow(READ, 'core', 'pods'),
    EVENTS,
  ]),
  controller(
    'resource-claim-controller',
    [
      allow(READ, 'core', 'pods'),
      allow('update', 'core', 'pods/finalizers'),
      allow(`${READ} create delete`, 'resource.k8s.io', 'resourceclaims'),
      allow(`${READ} create update patch`, 'resource.k8s.io', 'podschedulingcontexts', { until: 32 }),
      allow('update patch', 'resource.k8s.io', 'resourceclaims resourceclaims/status'),
      allow('update patch', 'core', 'pods/status'),
      EVENTS,
      allow(READ, 'scheduling.k8s.io', 'podgroups', { gate: 'DRAWorkloadResourceClaims' }),
      allow('patch update', 'scheduling.k8s.io', 'podgroups/status', { gate: 'DRAWorkloadResourceClaims' }),
      allow('patch update', 'resource.k8s.io', 'resourceclaims/binding', {
        ...{ gate: 'DRAResourceClaimGranularStatusAuthorization', since: 36 },
      }),
    ],
    { gate: 'DynamicResourceAllocation' },
  ),
  controller(
    'device-taint-eviction-controller',
    [
      allow(`${READ} delete`, 'core', 'pods'),
      allow('update patch', 'core', 'pods/status'),
      allow(READ, 'resource.k8s.io', 'resourceclaims'),
      allow(READ, 'resource.k8s.io', 'resourceslices'),
      allow(READ, 'resource.k8s.io', 'deviceclasses'),
      allow(READ, 'resource.k8s.io', 'devicetaintrules', { until: 35 }),
      EVENTS,
      allow('update patch', 'resource.k8s.io', 'devicetaintrules/status', { gate: 'DRADeviceTaintRules' }),
      allow(READ, 'resource.k8s.io', 'devicetaintrules', { gate: 'DRADeviceTaintRules' }),
    ],
    { gate: 'DRADeviceTaints', since: 33 },
  ),
  controller(
    'selinux-warning-controller',
    [
      EVENTS,
      allow(READ, 'core', 'persistentvolumes'),
      allow(READ, 'core', 'persistentvolumeclaims'),
      allow(READ, 'core', 'pods'),
      allow(READ, 'storage.k8s.io', 'csidrivers'),
      // A name restricts no creation.
      allow('create', 'core', 'configmaps', { since: 36 }),
      allow('patch', 'core', 'configmaps', { names: 'selinux-conflicts', since: 36 }),
    ],
    { gate: 'SELinuxChangePolicy', since: 32 },
  ),
  controller(
    'volumeattributesclass-protection-controller',
    [
      allow(READ, 'core', 'persistentvolumeclaims'),
      allow(READ, 'core', 'persistentvolumes'),
      allow(`${READ} update`, 'storage.k8s.io', 'volumeattributesclasses'),
      EVENTS,
    ],
    { gate: 'VolumeAttributesClass', since: 32 },
  ),
];

const SIGNERS = [
  'legacy-unknown',
  'kube-apiserver-client',
  'kube-apiserver-client-kubelet',
  'kubelet-serving',
];

const CLUSTER: readonly ControllerData[] = [
  controller('certificate-controller', [
    allow(`${READ} delete`, 'certificates.k8s.io', 'certificatesigningrequests'),
    allow(
      'update',
      'certificates.k8s.io',
      'certificatesigningrequests/approval certificatesigningrequests/status',
    ),
    allow('approve', 'certificates.k8s.io', 'signers', {
      names: 'kubernetes.io/kube-apiserver-client-kubelet',
    }),
    allow('sign', 'certificates.k8s.io', 'signers', {
      names: SIGNERS.map((name) => `kubernetes.io/${name}`).join(' '),
    }),
    allow('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    EVENTS,
  ]),
  controller('clusterrole-aggregation-controller', [
    allow(`escalate ${READ} update patch`, 'rbac.authorization.k8s.io', 'clusterroles'),
  ]),
  controller('generic-garbage-collector', [allow(`${READ} patch update delete`, '*', '*'), EVENTS]),
  controller('legacy-service-account-token-cleaner', [
    allow('get', 'core', 'configmaps', { names: 'kube-apiserver-legacy-service-account-token-tracking' }),
    allow('patch delete', 'core', 'secrets'),
  ]),
  controller('namespace-controller', [
    allow(`${READ} delete`, 'core', 'namespaces'),
    allow('update', 'core', 'namespaces/finalize namespaces/status'),
    ...streamed('get list delete deletecollection', '*', '*'),
  ]),
  controller('node-controller', [
    ...streamed('get list update delete patch', 'core', 'nodes'),
    allow('patch update', 'core', 'nodes/status'),
    allow('patch update', 'core', 'pods/status'),
    ...streamed('list get delete', 'core', 'pods'),
    EVENTS,
  ]),
  controller('pod-garbage-collector', [
    allow('list watch delete', 'core', 'pods'),
    ...streamed('get list', 'core', 'nodes'),
    allow('patch', 'core', 'pods/status'),
  ]),
  controller('resourcequota-controller', [
    allow('list watch', '*', '*'),
    allow('update', 'core', 'resourcequotas/status'),
    EVENTS,
  ]),
  controller('root-ca-cert-publisher', [allow('create update', 'core', 'configmaps'), EVENTS]),
  controller('service-account-controller', [allow('create', 'core', 'serviceaccounts'), EVENTS]),
  controller('ttl-controller', [allow('update patch list watch', 'core', 'nodes'), EVENTS]),
  controller('validatingadmissionpolicy-status-controller', [
    allow(READ, 'admissionregistration.k8s.io', 'validatingadmissionpolicies'),
    allow('get patch update', 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'),
    EVENTS,
  ]),
  controller(
    'storage-version-garbage-collector',
    [
      allow(READ, 'coordination.k8s.io', 'leases'),
      allow(`${READ} patch update delete`, 'internal.apiserver.k8s.io', 'storageversions'),
      allow('get patch update', 'internal.apiserver.k8s.io', 'storageversions/status'),
    ],
    { gate: 'StorageVersionAPI' },
  ),
  controller(
    'storage-version-migrator-controller',
    [
      allow('list create patch', '*', '*', { until: 32 }),
      allow('list watch create patch', '*', '*', { since: 32, until: 35 }),
      allow('list create patch', '*', '*', { since: 35 }),
      allow('get', 'apiextensions.k8s.io', 'customresourcedefinitions', { since: 36 }),
      allow('patch', 'apiextensions.k8s.io', 'customresourcedefinitions/status', { since: 36 }),
      allow('update', 'storagemigration.k8s.io', 'storageversionmigrations/status'),
    ],
    { gate: 'StorageVersionMigrator' },
  ),
  controller(
    'kube-apiserver-serving-clustertrustbundle-publisher',
    [
      allow('attest', 'certificates.k8s.io', 'signers', { names: 'kubernetes.io/kube-apiserver-serving' }),
      allow('create update delete list watch', 'certificates.k8s.io', 'clustertrustbundles'),
      EVENTS,
    ],
    { gate: 'ClusterTrustBundle', since: 32 },
  ),
  controller(
    'podcertificaterequestcleaner',
    [allow(`${READ} delete`, 'certificates.k8s.io', 'podcertificaterequests')],
    { gate: 'PodCertificateRequest', since: 34 },
  ),
  controller(
    'resourcepoolstatusrequest-controller',
    [
      allow(`${READ} delete`, 'resource.k8s.io', 'resourcepoolstatusrequests'),
      allow('update patch', 'resource.k8s.io', 'resourcepoolstatusrequests/status'),
      allow(READ, 'resource.k8s.io', 'resourceslices'),
      allow(READ, 'resource.k8s.io', 'resourceclaims'),
      EVENTS,
    ],
    { gate: 'DRAResourcePoolStatus' },
  ),
];

export const CONTROLLERS: readonly ControllerData[] = [...WORKLOADS, ...NETWORK, ...STORAGE, ...CLUSTER];
