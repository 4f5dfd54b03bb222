import type { Pod } from '../../../api/types/core/v1.ts';
import { podSecretNames } from '../../../object/pod-spec.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { refusal } from '../../refusal.ts';

/** The kubelet must not come by secrets through pods that it makes up itself. @throws StatusError 403 */
export function refuseMirrorPod(attributes: AdmissionAttributes, { spec = {} }: Pod): void {
  if (spec.serviceAccountName) throw refusal(attributes, 'a mirror pod may not reference service accounts');
  if (podSecretNames(spec).length > 0) throw refusal(attributes, 'a mirror pod may not reference secrets');
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined))
    throw refusal(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}
