import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { describePlugin, refusal } from '../plugin.ts';

/** For command lines that name it: it lets everything pass (Kubernetes: plugin/pkg/admission/admit). */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit', operations: [] };

export const alwaysAdmitPlugin = describePlugin({
  name: 'AlwaysAdmit',
  isDefault: false,
  create: () => alwaysAdmit,
});

/** The server's own writes; without them it could not start. */
const SERVER = 'system:apiserver';

/** Nothing is written, for tests of clients (Kubernetes: plugin/pkg/admission/deny). */
export const alwaysDeny: AdmissionPlugin = {
  name: 'AlwaysDeny',
  operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
  mutate: deny,
  validate: deny,
};

function deny(attributes: AdmissionAttributes): void {
  if (attributes.user.username === SERVER) return;
  throw refusal(attributes, 'admission control is denying all modifications');
}

export const alwaysDenyPlugin = describePlugin({
  name: 'AlwaysDeny',
  isDefault: false,
  create: () => alwaysDeny,
});
