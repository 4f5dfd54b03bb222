import { SERVICES } from '../../api/known-resources.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin, isWriteOf, refusal } from '../plugin.ts';

/** Refuses new external addresses of services (Kubernetes: network/denyserviceexternalips). */
const denyExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  operations: ['CREATE', 'UPDATE'],
  validate: (attributes) => {
    if (!isWriteOf(attributes, SERVICES)) return;
    const { object, old } = attributes;
    const held = new Set(old?.spec?.externalIPs);
    if ((object?.spec?.externalIPs ?? []).every((ip) => held.has(ip))) return;
    throw refusal(attributes, 'Use of external IPs is denied by admission control');
  },
};

export const denyServiceExternalIps = describePlugin({
  name: 'DenyServiceExternalIPs',
  isDefault: false,
  create: () => denyExternalIps,
});
