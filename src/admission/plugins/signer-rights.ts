import { SIGNING_REQUESTS } from '../../api/known-resources.ts';
import type { ResourceOf } from '../../api/names.ts';
import type { ClusterTrustBundle } from '../../api/types/certificates/v1alpha1.ts';
import { equal, equalExcept } from '../../object/equality.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { readCertificationRequest } from '../../x509/certification-request.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type Access, describePlugin, isWriteOf, type PluginParts, refusal } from '../plugin.ts';

const TRUST_BUNDLES: ResourceOf<ClusterTrustBundle> = {
  group: 'certificates.k8s.io',
  resource: 'clustertrustbundles',
};

/** Plugins that ask for rights on `signers`, by name or by `domain/*` (Kubernetes: plugin/pkg/admission/certificates). */

/** To approve or deny a request, a user needs the right to `approve` for its signer. */
function createCertificateApproval(access: Access): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    operations: ['UPDATE'],
    validate: (attributes) => {
      if (!isWriteOf(attributes, SIGNING_REQUESTS, 'approval')) return undefined;
      // The stored signer: the caller cannot choose another one in the same write.
      const signer = attributes.old?.spec?.signerName ?? '';
      const why = `user not permitted to approve requests with signerName "${signer}"`;
      return refuseUnless(access, attributes, { verb: 'approve', signer, why });
    },
  };
}

/** To issue a certificate, a user needs the right to `sign` for the signer. */
function createCertificateSigning(access: Access): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    operations: ['UPDATE'],
    validate: (attributes) => {
      if (!isWriteOf(attributes, SIGNING_REQUESTS, 'status')) return undefined;
      const [status, before] = [attributes.object?.status, attributes.old?.status];
      if (status?.certificate === before?.certificate && equal(status?.conditions, before?.conditions))
        return undefined;
      const signer = attributes.old?.spec?.signerName ?? '';
      const why = `user not permitted to sign requests with signerName "${signer}"`;
      return refuseUnless(access, attributes, { verb: 'sign', signer, why });
    },
  };
}

/** To write the trust bundle of a signer, a user needs the right to `attest` for it. */
function createTrustBundleAttest(access: Access): AdmissionPlugin {
  return {
    name: 'ClusterTrustBundleAttest',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      if (!isWriteOf(attributes, TRUST_BUNDLES)) return undefined;
      const { object, old } = attributes;
      const signer = object?.spec?.signerName ?? '';
      if (object === undefined || signer === '' || isHousekeeping(object, old)) return undefined;
      const why = `user not permitted to attest for signerName "${signer}"`;
      return refuseUnless(access, attributes, { verb: 'attest', signer, why });
    },
  };
}

/** Changes of the garbage collector, and writes without a change. */
const isHousekeeping = (object: ClusterTrustBundle, old: ClusterTrustBundle | undefined): boolean =>
  old !== undefined &&
  equalExcept(object, old, ['metadata']) &&
  equalExcept(object.metadata, old.metadata, ['finalizers', 'ownerReferences', 'managedFields']);

async function refuseUnless(
  access: Access,
  attributes: AdmissionAttributes,
  { verb, signer, why }: { readonly verb: string; readonly signer: string; readonly why: string },
): Promise<void> {
  if (await hasRight(access, attributes.user, verb, signer)) return;
  throw refusal(attributes, why);
}

/** Whether a user may `sign` for a signer, by its name or by `domain/*`. */
export const maySign = (access: Access, user: UserInfo, signer: string): Promise<boolean> =>
  hasRight(access, user, 'sign', signer);

async function hasRight(access: Access, user: UserInfo, verb: string, signer: string): Promise<boolean> {
  const [domain = ''] = signer.split('/');
  for (const name of [signer, `${domain}/*`]) if (await isSigner(access, user, verb, name)) return true;
  return false;
}

async function isSigner(access: Access, user: UserInfo, verb: string, name: string): Promise<boolean> {
  const right = { verb, group: 'certificates.k8s.io', version: '*', resource: 'signers', name };
  return (await access.whyNot(user, right)) === undefined;
}

export const certificateApproval = describePlugin({
  name: 'CertificateApproval',
  isDefault: true,
  create: ({ access }: Pick<PluginParts, 'access'>) => createCertificateApproval(access),
});

export const certificateSigning = describePlugin({
  name: 'CertificateSigning',
  isDefault: true,
  create: ({ access }: Pick<PluginParts, 'access'>) => createCertificateSigning(access),
});

export const trustBundleAttest = describePlugin({
  name: 'ClusterTrustBundleAttest',
  isDefault: true,
  create: ({ access }: Pick<PluginParts, 'access'>) => createTrustBundleAttest(access),
});

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
const MASTERS = 'system:masters';

/** Refuses certificate requests for the group system:masters (Kubernetes: certificates/subjectrestriction). */
const certificateSubject: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  operations: ['CREATE'],
  validate: (attributes) => {
    if (!isWriteOf(attributes, SIGNING_REQUESTS)) return;
    const { signerName, request = '' } = attributes.object?.spec ?? {};
    if (signerName !== CLIENT_SIGNER) return;
    // Validation has parsed the request already.
    const { subject } = readCertificationRequest(request ?? '');
    if (!subject.organizations.includes(MASTERS)) return;
    throw refusal(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
  },
};

export const certificateSubjectRestriction = describePlugin({
  name: 'CertificateSubjectRestriction',
  isDefault: true,
  create: () => certificateSubject,
});
