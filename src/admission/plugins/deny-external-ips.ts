import type { ApiObject, JsonValue } from '../../api/object-meta.ts';
import { part } from '../../object/parts.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { refusal } from '../refusal.ts';

/** No service gets external addresses that it does not have already (Kubernetes: network/denyserviceexternalips). */
export const denyExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  operations: ['CREATE', 'UPDATE'],
  validate: (attributes) => {
    const { definition, subresource, object, old } = attributes;
    if (definition.resource !== 'services' || definition.group !== '' || subresource !== '') return;
    const held = new Set(externalIpsOf(old));
    if (externalIpsOf(object).every((ip) => held.has(ip))) return;
    throw refusal(attributes, 'Use of external IPs is denied by admission control');
  },
};

function externalIpsOf(service: ApiObject | undefined): readonly JsonValue[] {
  const { externalIPs } = part(service, 'spec');
  return Array.isArray(externalIPs) ? externalIPs : [];
}
