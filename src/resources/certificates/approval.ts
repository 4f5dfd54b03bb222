import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { part } from '../../object/parts.ts';
import type { ViewSubresource } from '../../registry/definition.ts';
import { has } from '../validation/fields.ts';
import { conditionsToStore, type StatusWriter, validateStatusChange } from './request-status.ts';

/** The two doors to the status of a signing request: one for whoever judges it, one for whoever signs it. */
function statusDoor(name: string, writer: StatusWriter): ViewSubresource {
  return {
    access: 'view',
    name,
    served: { group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest' },
    type: 'certificates/v1.CertificateSigningRequest',
    verbs: ['get', 'patch', 'update'],
    resetFields: [['spec'], ['status', writer === 'signer' ? 'conditions' : 'certificate']],
    read: (request) => request,
    write: (view, old) => {
      const conditions = conditionsToStore(view, old, writer);
      const status = {
        ...(conditions.length === 0 ? {} : { conditions }),
        ...certificateOf(writer === 'signer' ? view : old),
      };
      return { ...old, metadata: view.metadata, status };
    },
    validate: (request, old) => validateStatusChange(request, old, writer),
  };
}

function certificateOf(request: ApiObject): JsonObject {
  const status = part(request, 'status');
  return has(status, 'certificate') ? { certificate: status.certificate } : {};
}

export const approval = statusDoor('approval', 'approver');
export const signing = statusDoor('status', 'signer');
