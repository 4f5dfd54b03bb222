import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { describePlugin, refusal } from '../plugin.ts';

/** Does nothing, for command lines that name it (Kubernetes: plugin/pkg/admission/admit). */
const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit', operations: [] };

export const alwaysAdmitPlugin = describePlugin({
  name: 'AlwaysAdmit',
  isDefault: false,
  create: () => alwaysAdmit,
});

/** The server's own writes pass, because it could not start without them. */
const SERVER = 'system:apiserver';

/** Refuses all other writes, for tests of clients (Kubernetes: plugin/pkg/admission/deny). */
const alwaysDeny: AdmissionPlugin = {
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
