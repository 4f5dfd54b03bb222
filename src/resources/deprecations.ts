import type { Minor } from '../api/emulation.ts';
import { toApiVersion } from '../api/names.ts';
import type { ServedVersion, VersionDeprecation } from '../registry/resource-definition.ts';

/** When Kubernetes deprecated versions of types, which are named as in the IDL (Kubernetes: the lifecycles in k8s.io/api). */

interface End {
  readonly since: number;
  /** The version without it. */
  readonly until?: number;
  /** What takes its place: its version and kind, as messages have them. */
  readonly by?: string;
}

const toV1 = (group: string, kind: string): string => `${group}/v1 ${kind}`;

const ENDS: Readonly<Record<string, End>> = {
  'core/v1.ComponentStatus': { since: 19 },
  'core/v1.Endpoints': { since: 33, by: toV1('discovery.k8s.io', 'EndpointSlice') },
  'admissionregistration/v1alpha1.MutatingAdmissionPolicy': { since: 35, until: 38 },
  'admissionregistration/v1alpha1.MutatingAdmissionPolicyBinding': { since: 35, until: 38 },
  'admissionregistration/v1alpha1.ValidatingAdmissionPolicy': { since: 29, until: 32 },
  'admissionregistration/v1alpha1.ValidatingAdmissionPolicyBinding': { since: 29, until: 32 },
  'admissionregistration/v1beta1.ValidatingAdmissionPolicy': { since: 31, until: 34 },
  'admissionregistration/v1beta1.ValidatingAdmissionPolicyBinding': { since: 31, until: 34 },
  'authentication/v1alpha1.SelfSubjectReview': { since: 29, until: 32 },
  'authentication/v1beta1.SelfSubjectReview': { since: 30, until: 33 },
  'certificates/v1alpha1.ClusterTrustBundle': { since: 34, until: 37 },
  'coordination/v1alpha2.LeaseCandidate': { since: 35, until: 38 },
  'coordination/v1beta1.LeaseCandidate': { since: 36, until: 39 },
  'flowcontrol/v1beta3.FlowSchema': {
    since: 29,
    until: 32,
    by: toV1('flowcontrol.apiserver.k8s.io', 'FlowSchema'),
  },
  'flowcontrol/v1beta3.PriorityLevelConfiguration': {
    since: 29,
    until: 32,
    by: toV1('flowcontrol.apiserver.k8s.io', 'PriorityLevelConfiguration'),
  },
  'networking/v1beta1.IPAddress': { since: 34, until: 37 },
  'networking/v1beta1.ServiceCIDR': { since: 34, until: 37 },
  'resource/v1alpha3.DeviceTaintRule': { since: 36, until: 39 },
  'resource/v1beta1.DeviceClass': { since: 35, until: 38 },
  'resource/v1beta1.ResourceClaim': { since: 35, until: 38 },
  'resource/v1beta1.ResourceClaimTemplate': { since: 35, until: 38 },
  'resource/v1beta1.ResourceSlice': { since: 35, until: 38 },
  'resource/v1beta2.DeviceClass': { since: 36, until: 39 },
  'resource/v1beta2.ResourceClaim': { since: 36, until: 39 },
  'resource/v1beta2.ResourceClaimTemplate': { since: 36, until: 39 },
  'resource/v1beta2.ResourceSlice': { since: 36, until: 39 },
  'storage/v1alpha1.VolumeAttributesClass': { since: 32, until: 35 },
  'storage/v1beta1.VolumeAttributesClass': {
    since: 34,
    until: 37,
    by: toV1('storage.k8s.io', 'VolumeAttributesClass'),
  },
};

/** How this version of Kubernetes warns clients of the type; undefined: it does not. */
export function deprecationOf(
  { group, kind }: { readonly group: string; readonly kind: string },
  { version, type }: ServedVersion,
  minor: Minor,
): VersionDeprecation | undefined {
  const end = ENDS[type];
  if (end === undefined || end.since > minor) return undefined;
  const { since, until, by } = end;
  const name = toApiVersion({ group, version });
  const gone = until === undefined ? '' : `, unavailable in v1.${until}+`;
  const instead = by === undefined ? '' : `; use ${by}`;
  return {
    warning: `${name} ${kind} is deprecated in v1.${since}+${gone}${instead}`,
    ...(until === undefined ? {} : { removedRelease: `1.${until}` }),
  };
}
