import type { ResourceOf } from '../api/names.ts';
import { invalid } from '../api/status.ts';
import type { PodCertificateRequest } from '../api/types/certificates/v1alpha1.ts';
import { equal } from '../object/equality.ts';
import { forbiddenField } from '../object/field-errors.ts';
import { goQuote } from '../object/go-value.ts';
import type { AdmissionPlugin } from './admission.ts';
import { type Access, isWriteOf } from './plugin.ts';
import { maySign } from './plugins/signer-rights.ts';

export const POD_REQUESTS: ResourceOf<PodCertificateRequest> = {
  group: 'certificates.k8s.io',
  resource: 'podcertificaterequests',
};

/**
 * Refuses answers to requests of pods for certificates from users without the right to `sign` for their signer (Kubernetes:
 * pkg/registry/certificates/podcertificaterequest). Whether the feature is on is asked beforehand.
 */
export function guardPodCertificates(access: Access): AdmissionPlugin {
  return {
    name: 'PodCertificateSigning',
    operations: ['UPDATE'],
    validate: async (attributes) => {
      if (!isWriteOf(attributes, POD_REQUESTS, 'status')) return;
      const { object, old, user, definition, name } = attributes;
      if (equal(object?.status, old?.status)) return;
      const signer = old?.spec?.signerName ?? '';
      if (await maySign(access, user, signer)) return;
      const why = `User ${goQuote(user.username)} is not permitted to "sign" for signer ${goQuote(signer)}`;
      throw invalid(definition, name, [forbiddenField('spec.signerName', why)]);
    },
  };
}
