import type { ApiObject } from '../../../api/object-meta.ts';
import { objectsOf, part, text } from '../../../object/parts.ts';
import { podSecretNames } from '../../../object/pod-secrets.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { refusal } from '../../refusal.ts';

/** The kubelet must not come by secrets through pods that it makes up itself. @throws StatusError 403 */
export function refuseMirrorPod(attributes: AdmissionAttributes, pod: ApiObject): void {
  const spec = part(pod, 'spec');
  if (text(spec.serviceAccountName) !== '')
    throw refusal(attributes, 'a mirror pod may not reference service accounts');
  if (podSecretNames(spec).some((name) => name !== ''))
    throw refusal(attributes, 'a mirror pod may not reference secrets');
  const sources = objectsOf(spec.volumes).flatMap((volume) => objectsOf(part(volume, 'projected').sources));
  if (sources.some((source) => source.serviceAccountToken !== undefined))
    throw refusal(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}
