import type { ViewSubresource } from '../../registry/definition.ts';
import { part } from '../cells.ts';

/** Where a signing request is approved or denied: conditions, and nothing else of the status. */
export const approval: ViewSubresource = {
  access: 'view',
  name: 'approval',
  served: { group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest' },
  type: 'certificates/v1.CertificateSigningRequest',
  verbs: ['get', 'patch', 'update'],
  resetFields: [['spec'], ['status', 'certificate']],
  read: (request) => request,
  write: (view, old) => {
    const { conditions } = part(view, 'status');
    const { conditions: _, ...status } = part(old, 'status');
    return {
      ...old,
      metadata: view.metadata,
      status: { ...status, ...(conditions === undefined ? {} : { conditions }) },
    };
  },
};
