/** The place of a group and version in clients' preference; higher comes first. */
interface Priority {
  readonly group: number;
  readonly version: number;
}

/** The group of API services, which has no API service itself. */
export const API_SERVICE_GROUP = 'apiregistration.k8s.io';

/** Kubernetes' priorities of groups. */
const GROUPS: Readonly<Record<string, number>> = {
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
  'internal.apiserver.k8s.io': 16_000,
  'resource.k8s.io': 15_900,
  'storagemigration.k8s.io': 15_800,
};

/** Priorities of versions that do not follow from their maturity. */
const VERSIONS: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'admissionregistration.k8s.io/v1beta1': 12,
  'admissionregistration.k8s.io/v1alpha1': 9,
  'coordination.k8s.io/v1alpha1': 9,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'flowcontrol.apiserver.k8s.io/v1beta3': 18,
  'internal.apiserver.k8s.io/v1alpha1': 9,
  'resource.k8s.io/v1': 20,
  'resource.k8s.io/v1beta2': 15,
  'resource.k8s.io/v1alpha3': 9,
  'storagemigration.k8s.io/v1alpha1': 9,
};

/** The priority of this server's groups that Kubernetes lacks. */
const OWN_GROUP = 15_700;

/** The priority of a built-in group version; the group is canonical. */
export function builtInPriority(group: string, version: string): Priority {
  const byMaturity = version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15;
  return { group: GROUPS[group] ?? OWN_GROUP, version: VERSIONS[`${group}/${version}`] ?? byMaturity };
}

export const CUSTOM_PRIORITY: Priority = { group: 1000, version: 100 };
