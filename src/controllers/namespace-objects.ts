import { X509Certificate } from 'node:crypto';
import type { ConfigMap, ServiceAccount } from '../api/types/core/v1.ts';
import { part } from '../object/parts.ts';
import type { NamespaceObject } from './every-namespace.ts';

/**
 * The objects that a controller manager gives every namespace, without which no pod can run in it (Kubernetes:
 * pkg/controller/serviceaccount and pkg/controller/certificates/rootcacertpublisher).
 */

/** The account of pods that name none. */
export const DEFAULT_ACCOUNT: NamespaceObject<ServiceAccount> = {
  resource: { group: '', resource: 'serviceaccounts' },
  name: 'default',
  create: () => ({ kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default' } }),
  mend: () => undefined,
};

export const CA_MANAGER = 'root-ca-certificate-publisher';
const CA_NAME = 'kube-root-ca.crt';
const CA_KEY = 'ca.crt';
const CA_ANNOTATIONS = {
  'kubernetes.io/description':
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
};

/**
 * The certificate by which pods verify this server. A certificate from a controller manager stays, so that both never overwrite
 * each other: only a value that is no certificate is replaced at once, and an older one of this server at the next start.
 */
export function rootCertificate(certificate: string): NamespaceObject<ConfigMap> {
  const data = { [CA_KEY]: certificate };
  return {
    resource: { group: '', resource: 'configmaps' },
    name: CA_NAME,
    create: () => ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: CA_NAME, annotations: { ...CA_ANNOTATIONS } },
      data: { ...data },
    }),
    mend: (current, fully) => {
      const published = current.data?.[CA_KEY];
      if (published === certificate) return undefined;
      if (isCertificate(published) && !(fully && isOurs(current))) return undefined;
      const annotations = { ...CA_ANNOTATIONS, ...current.metadata.annotations };
      return { ...current, metadata: { ...current.metadata, annotations }, data: { ...data } };
    },
  };
}

function isCertificate(text: string | undefined): boolean {
  if (text === undefined) return false;
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}

/** Whether a server of this cluster wrote the existing certificate. */
function isOurs({ metadata: { managedFields = [] } }: ConfigMap): boolean {
  const owners = managedFields.filter(
    ({ fieldsV1 }) => part(fieldsV1, 'f:data')[`f:${CA_KEY}`] !== undefined,
  );
  return owners.length > 0 && owners.every(({ manager }) => manager === CA_MANAGER);
}
